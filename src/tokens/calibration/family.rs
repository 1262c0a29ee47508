//! Models and their families: whose tokenizer is public, and what stands in where a session tells too little of itself.

use super::Spread;
use crate::tokens::meter::Rates;
use crate::transcript::conversation::Conversation;

/// Models that share rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Family {
    pub name: &'static str,
    /// What its models' ids hold.
    pub mark: &'static str,
    pub rates: Rates,
    /// On sessions that the rates were not fitted to.
    pub spread: Spread,
}

/// Fitted to 1,957 calls of recorded Claude Code sessions together (Opus 4.5 and 4.6, Sonnet 4.5, a few of Haiku 4.5), the
/// spread to each session by the rates of all others: `RECOMPACT_LONG=1 cargo test calibration -- --nocapture` prints both.
/// Single models differ by less than single sessions (tool results: 0.348, 0.353, 0.338). Newer ones may count otherwise.
pub const FAMILIES: &[Family] = &[Family {
    name: "claude",
    mark: "claude",
    rates: Rates { by_class: [3_491, 3_349, 3_728, 2_538], per_call: 92 },
    spread: Spread { ratio: 0.981, error: 0.086, p10: 0.859, p90: 1.349 },
}];

/// The family a model is of, by its id.
pub fn family(model: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| model.to_ascii_lowercase().contains(family.mark))
}

/// Whether a model's tokens can be counted exactly: OpenAI publishes its vocabularies, and o200k_base is that of GPT-4o and later.
pub fn has_public_tokenizer(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    let name = model.rsplit('/').next().unwrap_or_default();
    ["gpt-", "chatgpt-", "o1", "o3", "o4", "codex"].iter().any(|begin| name.starts_with(begin))
}

/// The model that answered the most calls of a conversation, of as many the first; names in angle brackets are the harness's own.
pub fn model(conversation: &Conversation) -> Option<&str> {
    let named = || conversation.calls.iter().filter_map(|call| call.model.as_deref()).filter(|model| !model.starts_with('<'));
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for model in named() {
        match counts.iter_mut().find(|(known, _)| *known == model) {
            Some((_, count)) => *count += 1,
            None => counts.push((model, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(model, _)| model)
}
