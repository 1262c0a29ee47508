//! Units that count the text that the model reads, without keys, quotes and braces: characters, bytes, and tokens of a vocabulary.

use super::media;
use super::rules::UnitRules;
use crate::text::surrogates::{has_stand_ins, lone_surrogate};
use crate::text::tokens::Vocabulary;
use crate::transcript::conversation::{Block, BlockKind, Role};

/// A unit of text.
pub struct TextUnit {
    count: fn(&str) -> u64,
}

pub const CHARS: TextUnit = TextUnit { count: chars };
pub const BYTES: TextUnit = TextUnit { count: bytes };
pub const UTF16: TextUnit = TextUnit { count: utf16_units };

impl UnitRules for TextUnit {
    fn counts_tokens(&self) -> bool {
        false
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn text(&self, text: &str) -> u64 {
        (self.count)(text)
    }

    fn block(&self, block: &Block, _plain: bool) -> u64 {
        text_size(block, self.count)
    }

    fn message(&self, _role: Role, _plain: bool, _blocks: usize, sum: u64) -> u64 {
        sum
    }

    fn list(&self, _messages: usize, sum: u64) -> u64 {
        sum
    }
}

impl UnitRules for Vocabulary {
    fn counts_tokens(&self) -> bool {
        true
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn text(&self, text: &str) -> u64 {
        self.count(text)
    }

    /// The recorded tokens of the block, or else those of its text, plus an estimate for images and documents.
    fn block(&self, block: &Block, _plain: bool) -> u64 {
        let counted = || text_size(block, |text| self.count(text)) + media::parts(block).map(media::tokens).sum::<u64>();
        block.recorded_tokens.unwrap_or_else(counted)
    }

    fn message(&self, _role: Role, _plain: bool, _blocks: usize, sum: u64) -> u64 {
        sum
    }

    fn list(&self, _messages: usize, sum: u64) -> u64 {
        sum
    }
}

/// Returns the size of the text that the model reads of a block; for a tool_use, that is its name and its input as JSON.
pub fn text_size(block: &Block, count: impl Fn(&str) -> u64) -> u64 {
    let name = match block.kind {
        BlockKind::ToolUse(_) => block.wire.get("name").and_then(|name| name.as_str()).unwrap_or_default(),
        _ => "",
    };
    count(name) + count(&block.text())
}

/// Counts Unicode code points.
pub fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

/// Counts the UTF-8 bytes of the original text.
fn bytes(text: &str) -> u64 {
    text.len() as u64 - count_lone_surrogates(text)
}

/// Counts the UTF-16 units of the original text. A character takes two where it takes four bytes, which begin with F0 or more.
pub fn utf16_units(text: &str) -> u64 {
    chars(text) + text.bytes().filter(|byte| *byte >= 0xF0).count() as u64 - count_lone_surrogates(text)
}

/// Counts the characters of a text that represent a lone surrogate. Each takes four bytes here and three in the original text, and
/// two UTF-16 units instead of one.
fn count_lone_surrogates(text: &str) -> u64 {
    if has_stand_ins(text) { text.chars().filter(|c| lone_surrogate(*c).is_some()).count() as u64 } else { 0 }
}
