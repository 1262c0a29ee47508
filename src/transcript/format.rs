//! Bytes → [`Conversation`]s. One file a format; a row of [`FORMATS`] a member.
//!
//! Reading cannot fail half way: a line that cannot be read is a [`Note`] with its line, and the rest is read. What a format
//! never sent to the model (copies for the user interface, progress, bookkeeping) does not become a block.

mod batch;
mod claude_code;
mod codex;
pub mod jsonl;
mod messages;
mod openai_chat;
mod openai_wire;
mod python;
mod sdk;

use crate::transcript::conversation::Conversation;

/// Something a reader wants said about a place in a file: a line it skipped, a branch it left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Line of the file, from 1.
    pub line: Option<u32>,
    pub level: Level,
    pub what: String,
}

/// How much a note weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Content was read as the format intends; worth knowing (a branch left out, a result that is not in the record).
    Info,
    /// Content could not be read and was skipped. An error with `--strict`.
    Skipped,
}

impl Note {
    pub fn info(line: u32, what: impl Into<String>) -> Self {
        Self { line: Some(line), level: Level::Info, what: what.into() }
    }

    pub fn skipped(line: u32, what: impl Into<String>) -> Self {
        Self { line: Some(line), level: Level::Skipped, what: what.into() }
    }
}

/// Which branches of a tree of edits and rewinds to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Branches {
    /// The branch that ends last; the others are counted in a note.
    #[default]
    Last,
    /// Every branch, as a conversation of its own.
    All,
}

#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    pub branches: Branches,
}

/// What was read from one file.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    pub conversations: Vec<Conversation>,
    pub notes: Vec<Note>,
}

/// A transcript format.
pub struct Format {
    /// The id used by `--format` and in results.
    pub name: &'static str,
    /// One line for the catalog.
    pub about: &'static str,
    /// Whether these bytes look like this format: reads at most the first few records.
    pub sniff: fn(&[u8]) -> bool,
    pub read: fn(&[u8], &ReadOptions) -> Reading,
}

/// Every format, in the order they are tried: the most particular first.
pub const FORMATS: &[Format] = &[claude_code::FORMAT, codex::FORMAT, openai_chat::FORMAT, messages::FORMAT];

/// The format of a file's bytes, if it is one of ours.
pub fn sniff(bytes: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.sniff)(bytes))
}

/// The format with this id.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
