//! Tokens of a model whose tokenizer is not public: so many a character, by what the character belongs to. Always an estimate.
//!
//! Everything is whole numbers, in ten-thousandths of a token, so that sums are the same in any order.

use super::{SizeUnit, media};
use crate::transcript::conversation::{Block, Kind};

/// What a token is counted as.
pub const SCALE: u64 = 10_000;

/// Tokens in ten-thousandths. No request has 2^32 of them: a record that says more cannot make a sum run over.
pub fn scaled(tokens: u64) -> u64 {
    tokens.min(u64::from(u32::MAX)) * SCALE
}

/// What characters belong to, as far as their tokens differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// What tools answered.
    Result,
    /// Name and input of a tool call.
    ToolUse,
    /// What agent, person and harness said, and blocks of other types.
    Text,
    Thinking,
}

impl Class {
    pub const ALL: [Class; 4] = [Class::Result, Class::ToolUse, Class::Text, Class::Thinking];

    pub fn of(block: &Block) -> Self {
        match block.kind {
            Kind::ToolResult(_) => Class::Result,
            Kind::ToolUse(_) => Class::ToolUse,
            Kind::Thinking => Class::Thinking,
            Kind::Text | Kind::Media | Kind::Other => Class::Text,
        }
    }
}

/// How many tokens a model makes of a character, and of what is around a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rates {
    /// Ten-thousandths of a token a Unicode character, in the order of [`Class::ALL`].
    pub by_class: [u32; 4],
    /// Tokens that come with every response: its frame, and what the harness adds that the record does not show.
    pub per_call: u32,
}

impl Rates {
    /// Ten-thousandths of a token of so many characters of each class.
    pub fn characters(&self, characters: [u64; 4]) -> u64 {
        characters.into_iter().zip(self.by_class).map(|(count, rate)| count * u64::from(rate)).sum()
    }

    /// Ten-thousandths of a token that come with every response.
    pub fn call(&self) -> u64 {
        scaled(u64::from(self.per_call))
    }

    /// Ten-thousandths of a token of a text by itself.
    pub(super) fn text(&self, text: &str) -> u64 {
        SizeUnit::Chars.text(text) * u64::from(self.by_class[Class::Text as usize])
    }

    /// Ten-thousandths of a token of a block: what the record says, else its characters, images and documents estimated.
    pub(super) fn block(&self, block: &Block) -> u64 {
        if let Some(tokens) = block.recorded_tokens {
            return scaled(tokens);
        }
        let rate = u64::from(self.by_class[Class::of(block) as usize]);
        SizeUnit::Chars.block(block, false) * rate + scaled(media::parts(block).map(media::tokens).sum())
    }
}
