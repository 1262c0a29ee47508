//! Text and messages → sizes: what harnesses estimate their context with, exactly as their languages do, and real tokens.
//!
//! Every measure is additive: the size of a list of messages follows from the sizes of its blocks and their number, so a
//! replay keeps a running total and pays only for what changes.

use std::fmt;
use std::str::FromStr;

use crate::conversation::{Block, Role};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// The size of one block as it stands in its message; `plain` where the message's content is a bare string.
    pub fn block(self, block: &Block, plain: bool) -> u64 {
        todo!()
    }

    /// The size of a message of `blocks` blocks whose sizes add up to `sum`.
    pub fn message(self, role: Role, plain: bool, blocks: usize, sum: u64) -> u64 {
        todo!()
    }

    /// The size of a list of `messages` messages whose sizes add up to `sum`.
    pub fn list(self, messages: usize, sum: u64) -> u64 {
        todo!()
    }

    /// The size of a text alone: for PyRepr `len(repr(text))`, for the JSON measures that of the JSON string.
    pub fn text(self, text: &str) -> u64 {
        todo!()
    }
}
