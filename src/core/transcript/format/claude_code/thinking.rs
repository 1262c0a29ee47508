//! Whether the provider keeps the thinking of earlier turns in the context, by model.
//!
//! Anthropic's models since Claude Opus 4.5 keep it, and models before drop it when the next turn begins (Anthropic, *Extended
//! thinking*, "Thinking block preservation in Claude Opus 4.5 and later"; LiteLLM's table of 2026-11-23 has the same models under
//! `supports_thinking_cache_preservation`). Models of other makers behind Claude Code are not known; they count as the older ones.

use crate::transcript::conversation::{Call, Thinking};

/// Models that drop it, by the beginning of their names.
const DROPS: [&str; 6] = ["claude-2", "claude-3", "claude-instant", "claude-haiku-4", "claude-sonnet-4-5", "claude-opus-4-1"];

/// Returns how long thinking stays in the requests of a conversation: as the model of most calls does it.
pub fn of_calls(calls: &[Call]) -> Thinking {
    let keeping = calls.iter().filter(|call| call.model.as_deref().is_some_and(keeps)).count();
    if keeping * 2 > calls.len() { Thinking::All } else { Thinking::Turn }
}

/// Whether a model keeps the thinking of earlier turns. A name may have a route before it: `us.anthropic.claude-opus-4-6-v1`.
fn keeps(model: &str) -> bool {
    let Some(at) = model.find("claude-") else { return false };
    let name = &model[at..];
    // `claude-sonnet-4` and `claude-opus-4` have a date or nothing behind the version.
    let is_first_of_4 = ["claude-sonnet-4", "claude-opus-4"].iter().any(|first| {
        let rest = name.strip_prefix(first).map(|rest| rest.trim_start_matches(['-', '@']));
        rest.is_some_and(|rest| rest.is_empty() || rest == "0" || rest.starts_with("20") || rest.starts_with("0-"))
    });
    !is_first_of_4 && !DROPS.iter().any(|old| name.starts_with(old))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_since_opus_4_5_keep_thinking() {
        for model in [
            "claude-opus-4-5-20251101",
            "claude-opus-4-6",
            "claude-sonnet-4-6",
            "claude-opus-5",
            "claude-haiku-5-5",
            "claude-fable-5",
            "us.anthropic.claude-opus-4-6-v1",
        ] {
            assert!(keeps(model), "{model}");
        }
        for model in [
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-4-20250514",
            "claude-sonnet-4@20250514",
            "claude-opus-4-0",
            "claude-opus-4",
            "claude-opus-4-1-20250805",
            "claude-haiku-4-5-20251001",
            "claude-3-7-sonnet-latest",
            "anthropic/claude-sonnet-4-5",
            "glm-4.7",
            "",
        ] {
            assert!(!keeps(model), "{model}");
        }
    }

    #[test]
    fn the_model_of_most_calls_counts() {
        let calls = |models: &[&str]| -> Vec<Call> {
            models.iter().map(|model| Call { model: Some((*model).to_owned()), ..Call::default() }).collect()
        };
        let (new, old) = ("claude-opus-5", "claude-haiku-4-5");
        assert_eq!(of_calls(&calls(&[new, new, old])), Thinking::All);
        assert_eq!(of_calls(&calls(&[new, old])), Thinking::Turn);
        assert_eq!(of_calls(&[]), Thinking::Turn);
    }
}
