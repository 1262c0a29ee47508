//! Text and messages → sizes: what harnesses estimate their context with, exactly as their languages do, and real tokens.
//!
//! Every measure is additive: the size of a list of messages follows from the sizes of its blocks and their number, so a
//! replay keeps a running total and pays only for what changes.

mod harness;
pub mod javascript;
mod json;
pub mod media;
mod notation;
mod number;
mod pieces;
pub mod python;
pub mod python_text;
pub mod tokens;
mod unprintable;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use self::notation::Notation;
use self::tokens::Vocabulary;
use crate::conversation::{Block, Kind, Role};
use crate::text::{has_stand_ins, lone_surrogate};

pub use self::harness::{Divide, METERS, Meter, MeterPage, UnknownMeter};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Measure {
    /// Unicode code points of the text the model reads (Python's `len`).
    Chars,
    /// UTF-8 bytes of that text.
    Bytes,
    /// UTF-16 units of that text (JavaScript's and Java's `length`).
    Utf16,
    /// Characters of Python's `str(messages)`.
    PyRepr,
    /// Characters of Python's `json.dumps(messages, ensure_ascii=False)`.
    Json,
    /// Characters of Python's `json.dumps(messages)`.
    JsonAscii,
    /// UTF-16 units of JavaScript's `JSON.stringify(messages)`.
    JsJson,
    /// Tokens of that text by o200k_base, special tokens read as ordinary text.
    O200k,
    /// Tokens of that text by cl100k_base.
    Cl100k,
}

impl Measure {
    /// Every measure, with its name.
    pub const ALL: [(Measure, &'static str); 9] = [
        (Measure::Chars, "chars"),
        (Measure::Bytes, "bytes"),
        (Measure::Utf16, "utf16"),
        (Measure::PyRepr, "py-repr"),
        (Measure::Json, "json"),
        (Measure::JsonAscii, "json-ascii"),
        (Measure::JsJson, "js-json"),
        (Measure::O200k, "o200k"),
        (Measure::Cl100k, "cl100k"),
    ];

    /// The size of one block as it stands in its message; `plain` where the message's content is a bare string.
    pub fn block(self, block: &Block, plain: bool) -> u64 {
        match self.notation() {
            Some(notation) if plain => (notation.string)(&block.text()),
            Some(notation) => notation.value(&block.wire),
            None if self.is_tokens() => self.block_tokens(block),
            None => self.read(block),
        }
    }

    /// The size of a message of `blocks` blocks whose sizes add up to `sum`.
    pub fn message(self, role: Role, plain: bool, blocks: usize, sum: u64) -> u64 {
        match self.notation() {
            Some(notation) if plain => notation.message(role, sum),
            Some(notation) => notation.message(role, notation.items(blocks, sum)),
            None => sum,
        }
    }

    /// The size of a list of `messages` messages whose sizes add up to `sum`.
    pub fn list(self, messages: usize, sum: u64) -> u64 {
        self.notation().map_or(sum, |notation| notation.items(messages, sum))
    }

    /// The size of a text alone: for PyRepr `len(repr(text))`, for the JSON measures that of the JSON string.
    pub fn text(self, text: &str) -> u64 {
        match self {
            Measure::Chars => text.chars().count() as u64,
            Measure::Bytes => text.len() as u64 - stand_ins(text),
            Measure::Utf16 => text.encode_utf16().count() as u64 - stand_ins(text),
            Measure::O200k => Vocabulary::O200k.count(text),
            Measure::Cl100k => Vocabulary::Cl100k.count(text),
            Measure::PyRepr => (python::REPR.string)(text),
            Measure::Json => (python::DUMPS.string)(text),
            Measure::JsonAscii => (python::DUMPS_ASCII.string)(text),
            Measure::JsJson => (javascript::STRINGIFY.string)(text),
        }
    }

    /// The measures that count messages as a language writes them down, punctuation and all.
    fn notation(self) -> Option<&'static Notation> {
        match self {
            Measure::PyRepr => Some(&python::REPR),
            Measure::Json => Some(&python::DUMPS),
            Measure::JsonAscii => Some(&python::DUMPS_ASCII),
            Measure::JsJson => Some(&javascript::STRINGIFY),
            Measure::Chars | Measure::Bytes | Measure::Utf16 | Measure::O200k | Measure::Cl100k => None,
        }
    }

    fn is_tokens(self) -> bool {
        matches!(self, Measure::O200k | Measure::Cl100k)
    }

    /// What the record says, else what the model reads of the block, images and documents estimated.
    fn block_tokens(self, block: &Block) -> u64 {
        block.recorded_tokens.unwrap_or_else(|| self.read(block) + media::parts(block).map(media::tokens).sum::<u64>())
    }

    /// The text the model reads of a block; of a tool_use the name, and the input as JSON.
    fn read(self, block: &Block) -> u64 {
        let name = match block.kind {
            Kind::ToolUse(_) => block.wire.get("name").and_then(|name| name.as_str()).unwrap_or_default(),
            _ => "",
        };
        self.text(name) + self.text(&block.text())
    }
}

/// How many characters of a text stand for half a surrogate pair. They take one byte (of three) and one UTF-16 unit more here
/// than where they came from.
fn stand_ins(text: &str) -> u64 {
    if has_stand_ins(text) { text.chars().filter(|c| lone_surrogate(*c).is_some()).count() as u64 } else { 0 }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Measure::ALL.iter().find(|(measure, _)| measure == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for Measure {
    type Err = UnknownMeter;

    fn from_str(name: &str) -> Result<Self, UnknownMeter> {
        let known = Measure::ALL.iter().find(|(_, known)| *known == name);
        known.map(|(measure, _)| *measure).ok_or_else(|| UnknownMeter(name.to_owned()))
    }
}

impl TryFrom<String> for Measure {
    type Error = UnknownMeter;

    fn try_from(name: String) -> Result<Self, UnknownMeter> {
        name.parse()
    }
}

impl From<Measure> for String {
    fn from(measure: Measure) -> Self {
        measure.to_string()
    }
}
