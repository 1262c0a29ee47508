//! The facts of a text: what an agent must have word for word to use it again. Paths, file names, identifiers, hashes, URLs,
//! lines; quoted strings and numbers, which count only beside a path or an identifier.
//!
//! | kind | rule | canonical form |
//! |---|---|---|
//! | path | two components or more, the last of three characters or more | the last two components |
//! | file | a name with a known extension; said alone, or held at the end of a path | as it is |
//! | identifier | six characters or more with `_`, a digit or a camel hump; `a::b` and `a.b` are split | as it is |
//! | hash | 7 to 40 hexadecimal digits, among them a letter and a digit | as it is |
//! | URL | `http://…`, `https://…`, without trailing punctuation | as it is |
//! | line | 20 characters or more when trimmed, without a diff's sign or the place a search puts before it | trimmed |
//! | quoted | 8 to 100 characters with a space, in `""`, `\"\"` or backticks | the inner text |
//! | number | five digits or more, or a dotted version | as it is |
//!
//! Words are exclusive: in a URL no path is looked for, in a path no identifier. Quoted strings and lines lie over the words
//! in them. Escape sequences, line numbers of a reader of files and the second way to write `é` are taken off first; of a text
//! of more than 100,000 bytes the first and the last half of that many are read. Names of every session (`README.md`,
//! `TypeError`) are no facts.
//!
//! Everything is linear in the text: one look at a byte says whether a word can be a fact, and most words cannot.

mod adjacency;
mod bytes;
mod common;
mod normalize;
mod quotes;
pub mod rule;
mod scanner;
#[cfg(test)]
mod tests;
mod token;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::transcript::conversation::{Block, BlockKind, Origin};
pub use normalize::normal as plain;
use quotes::Quotes;
use scanner::Scanner;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactKind {
    Path,
    File,
    Identifier,
    Hash,
    Url,
    Line,
    Quoted,
    Number,
}

impl FactKind {
    pub const ALL: [FactKind; 8] =
        [Self::Path, Self::File, Self::Identifier, Self::Hash, Self::Url, Self::Line, Self::Quoted, Self::Number];

    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::File => "file",
            Self::Identifier => "identifier",
            Self::Hash => "hash",
            Self::Url => "url",
            Self::Line => "line",
            Self::Quoted => "quoted",
            Self::Number => "number",
        }
    }

    /// Whether files and pages are named by it.
    pub fn is_name(self) -> bool {
        matches!(self, Self::Path | Self::File | Self::Url)
    }

    /// Whether it counts only beside an anchor: a path or an identifier on the same line.
    pub fn is_bound(self) -> bool {
        matches!(self, Self::Quoted | Self::Number)
    }
}

/// One fact at one place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactMatch<'t> {
    pub kind: FactKind,
    /// In its canonical form.
    pub text: &'t str,
    /// A hash of kind and text: two facts with one key are taken for the same.
    pub key: u64,
    /// The line it stands on, from 0, and that line's length in bytes as it was read. Strings of one block have lines of
    /// their own.
    pub line: u32,
    pub line_bytes: u32,
    /// Of quoted strings, numbers and hashes: the keys of the paths, files and identifiers beside it, at most eight. Empty for
    /// other kinds.
    pub anchors: &'t [u64],
    /// The text says it, and does not only hold it. False for the name of a file that ends a path, and for lines, but those
    /// the agent quotes: the text an edit looks for, context of a patch, a fenced or quoted part of its answer.
    pub said: bool,
}

impl<'t> FactMatch<'t> {
    /// What it is bound to: its anchors, if it is of a kind that counts only beside one.
    pub fn bound_to(&self) -> &'t [u64] {
        if self.kind.is_bound() { self.anchors } else { &[] }
    }
}

/// The key of a fact: the same on every machine.
pub fn key(kind: FactKind, text: &str) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), kind as u64)
}

/// Every fact of a block, in one pass; the same fact may be seen several times. Thinking and media hold none. The strings of a
/// tool's input are texts of their own, whose lines are counted on. Gives the bytes of what it read.
pub fn in_block(block: &Block, seen: &mut dyn FnMut(FactMatch)) -> usize {
    let mut scanner = Scanner::new(seen);
    each_text(block, &mut |text, quotes| scanner.text(text, quotes));
    scanner.finish()
}

/// The texts of a block in which facts are looked for.
pub fn texts(block: &Block, each: &mut dyn FnMut(&str)) {
    each_text(block, &mut |text, _| each(text));
}

fn each_text(block: &Block, each: &mut dyn FnMut(&str, Quotes)) {
    match block.kind {
        BlockKind::Thinking | BlockKind::Media => {}
        BlockKind::Text if block.origin == Origin::Agent => each(&block.text(), Quotes::ANSWER),
        BlockKind::Text | BlockKind::ToolResult(_) => each(&block.text(), Quotes::None),
        BlockKind::ToolUse(_) => {
            let input = block.field("input").unwrap_or(&Value::Null);
            strings(input, "", &mut |key, text| each(text, Quotes::of_input(key, text)));
        }
        BlockKind::Other => strings(&block.wire, "", &mut |key, text| {
            if !UNREAD.contains(&key) {
                each(text, Quotes::None);
            }
        }),
    }
}

/// Whether each line of a block, whose text is given, holds the same facts by itself: no quotation goes over lines, and nothing is
/// left out. Only what is *said* of a file's name depends on the whole block.
pub fn is_read_by_line(block: &Block, text: &str) -> bool {
    let is_text =
        matches!(block.kind, BlockKind::Text if block.origin != Origin::Agent) || matches!(block.kind, BlockKind::ToolResult(_));
    is_text && text.len() <= normalize::MOST
}

/// Every fact of a text.
pub fn in_text(text: &str, seen: &mut dyn FnMut(FactMatch)) {
    let mut scanner = Scanner::new(seen);
    scanner.text(text, Quotes::None);
    scanner.finish();
}

/// The facts by which a file or a page is named: those its path or URL says.
pub fn in_name(name: &str, seen: &mut dyn FnMut(FactMatch)) {
    in_text(name, &mut |sighting| {
        if sighting.said && sighting.kind.is_name() {
            seen(sighting);
        }
    });
}

/// Keys of blocks of other kinds under which no model reads a text.
const UNREAD: [&str; 5] = ["type", "id", "signature", "encrypted_content", "data"];

/// Every string of a value, each with the key it stands under, in the order of the record.
fn strings(value: &Value, key: &str, each: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => each(key, text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, key, each)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| strings(value, key, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
