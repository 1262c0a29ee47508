//! Model families: rates for sessions with too little recorded usage, and what counts models whose tokenizer is public.

use tiktoken_rs::tokenizer::{Tokenizer, get_tokenizer};

use super::Spread;
use crate::tokens::meter::{Rates, SizeUnit};
use crate::transcript::conversation::Conversation;

/// A family of models with common rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Family {
    pub name: &'static str,
    /// Text that occurs in the ids of its models.
    pub id_part: &'static str,
    pub rates: Rates,
    /// Measured on sessions that the rates were not fitted to.
    pub spread: Spread,
}

/// All known families.
///
/// The rates are fitted to 2,180 calls of all recorded Claude Code sessions together (Opus 4.5 and 4.6, Sonnet 4.5, a few of
/// Haiku 4.5). The spread applies the rates of all other sessions to each session.
/// `cargo test calibration -- --ignored --nocapture` prints both. Models differ less from each other than sessions do
/// (tool results: 0.348, 0.353, 0.338). Newer models may have different rates.
pub const FAMILIES: &[Family] = &[Family {
    name: "claude",
    id_part: "claude",
    rates: Rates { by_class: [3_570, 3_566, 3_363, 2_281], per_call: 84 },
    spread: Spread { ratio: 1.001, error: 0.103, p10: 0.835, p90: 1.362 },
}];

/// Returns the family of a model id.
pub fn family(model: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| model.to_ascii_lowercase().contains(family.id_part))
}

/// Returns what counts a model's tokens exactly; `None` if its vocabulary is not public, or older than GPT-3.5. OpenAI's `tiktoken`
/// lists the vocabulary of each model (`tiktoken/model.py`), and tiktoken-rs has a copy of that list. The part of a name before a slash
/// is a provider, as `openai.` is in the names of Amazon Bedrock; the part behind a colon is a variant.
pub fn public_tokenizer(model: &str) -> Option<SizeUnit> {
    let model = model.to_ascii_lowercase();
    let name = model.rsplit('/').next()?;
    let name = name.strip_prefix("openai.").unwrap_or(name);
    // The list has `gpt-oss-20b`, which others call `gpt-oss:20b`.
    match get_tokenizer(name).or_else(|| get_tokenizer(&name.replace(':', "-")))? {
        Tokenizer::O200kBase | Tokenizer::O200kHarmony => Some(SizeUnit::O200k),
        Tokenizer::Cl100kBase => Some(SizeUnit::Cl100k),
        Tokenizer::P50kBase | Tokenizer::R50kBase | Tokenizer::P50kEdit | Tokenizer::Gpt2 => None,
    }
}

/// Returns the model that answered the most calls of a conversation; on a tie, the first one. Skips names in angle brackets,
/// which the harness uses for its own messages.
pub fn main_model(conversation: &Conversation) -> Option<&str> {
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
