//! Estimated tokens for models whose tokenizer is not public: tokens per character, by the class of the text.
//!
//! All sizes are integers in ten-thousandths of a token, so that sums do not depend on their order.

use super::media;
use super::model_text::{chars, text_size};
use super::rules::UnitRules;
use crate::transcript::conversation::{Block, BlockKind, Role};

/// Units per token: sizes are in ten-thousandths of a token.
pub const SCALE: u64 = 10_000;

/// Converts tokens to ten-thousandths. No request has 2^32 tokens, so the number is capped there: a wrong record cannot overflow
/// a sum.
pub fn scaled(tokens: u64) -> u64 {
    tokens.min(u64::from(u32::MAX)) * SCALE
}

/// Classes of text with different tokens per character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextClass {
    /// Tool results.
    Result,
    /// Name and input of a tool call.
    ToolUse,
    /// Text of agent, user and harness, and blocks of other types.
    Text,
    Thinking,
}

impl TextClass {
    /// All classes, in the order of the rates.
    pub const ALL: [TextClass; 4] = [TextClass::Result, TextClass::ToolUse, TextClass::Text, TextClass::Thinking];

    /// Returns the class of a block's text.
    pub fn from_block(block: &Block) -> Self {
        match block.kind {
            BlockKind::ToolResult(_) => TextClass::Result,
            BlockKind::ToolUse(_) => TextClass::ToolUse,
            BlockKind::Thinking => TextClass::Thinking,
            BlockKind::Text | BlockKind::Media | BlockKind::Other => TextClass::Text,
        }
    }
}

/// Tokens per character and per response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rates {
    /// Ten-thousandths of a token per Unicode character, in the order of [`TextClass::ALL`].
    pub by_class: [u32; 4],
    /// Tokens per response: its frame, and content that the harness adds and the transcript does not show.
    pub per_call: u32,
}

impl Rates {
    /// Returns the size of this many characters of each class in ten-thousandths of a token.
    pub fn characters_size(&self, characters: [u64; 4]) -> u64 {
        characters.into_iter().zip(self.by_class).map(|(count, rate)| count * u64::from(rate)).sum()
    }

    /// Returns the constant size per response in ten-thousandths of a token.
    pub fn call_size(&self) -> u64 {
        scaled(u64::from(self.per_call))
    }
}

/// Sizes in ten-thousandths of a token.
impl UnitRules for Rates {
    fn counts_tokens(&self) -> bool {
        true
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn text(&self, text: &str) -> u64 {
        chars(text) * u64::from(self.by_class[TextClass::Text as usize])
    }

    /// The recorded tokens, or else an estimate from the block's characters, images and documents.
    fn block(&self, block: &Block, _plain: bool) -> u64 {
        if let Some(tokens) = block.recorded_tokens {
            return scaled(tokens);
        }
        let rate = u64::from(self.by_class[TextClass::from_block(block) as usize]);
        text_size(block, chars) * rate + scaled(media::parts(block).map(media::tokens).sum())
    }

    fn message(&self, _role: Role, _plain: bool, _blocks: usize, sum: u64) -> u64 {
        sum
    }

    fn list(&self, _messages: usize, sum: u64) -> u64 {
        sum
    }
}
