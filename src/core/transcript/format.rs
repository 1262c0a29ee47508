//! Reads transcript files into [`Conversation`]s. Each format is one file and one row of [`FORMATS`].
//!
//! Reading always succeeds: an unreadable line becomes a [`Note`] with its line, and the rest is read. Content that was never sent to
//! the model (copies for the user interface, progress, bookkeeping) does not become a block.

mod atif;
mod batch;
mod claude_code;
mod cline;
mod cline_task;
mod codex;
mod copilot_cli;
mod document;
mod exit_code;
mod folder;
#[cfg(test)]
mod foreign;
mod gemini;
mod gemini_cli;
mod head;
pub mod jsonl;
mod kinds;
mod marks;
mod messages;
mod notes;
mod odd_field;
mod openai_chat;
mod openai_wire;
mod opencode;
mod openhands;
mod pi;
mod python;
mod qwen_code;
mod requests;
mod sdk;
#[cfg(test)]
mod shape;
#[cfg(feature = "sqlite")]
mod sqlite;
pub mod store;
mod swe_agent;
mod timeline;
mod tree;
mod unseen;
mod usage_rows;
mod wire_usage;

use std::collections::HashSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transcript::conversation::Conversation;

pub(crate) use atif::form as atif_form;
pub(crate) use exit_code::says_failed;
use head::Head;
pub use requests::files::{LoggedRequest, read_files};
pub use usage_rows::WITHOUT_TEXTS;

/// A note about a place in a file: a skipped line, a branch that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Line of the file, from 1.
    pub line: Option<u32>,
    pub level: Level,
    /// The text of the note.
    pub what: String,
}

/// The severity of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The content was read as the format intends, but the user should know (a branch left out, a missing result).
    Info,
    /// Content could not be read and was skipped. With `--strict`, this is an error.
    Skipped,
}

impl Note {
    /// Builds a note that needs no action. `line` counts from 1.
    pub fn info(line: u32, what: impl Into<String>) -> Self {
        Self { line: Some(line), level: Level::Info, what: what.into() }
    }

    /// Builds a note on a line that was not read. `line` counts from 1.
    pub fn skipped(line: u32, what: impl Into<String>) -> Self {
        Self { line: Some(line), level: Level::Skipped, what: what.into() }
    }
}

/// Which branches to read if edited prompts and rewinds made the record a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Branches {
    /// The branch that ends last. Each other branch gets a note.
    #[default]
    Last,
    /// Every branch, each as a separate conversation.
    All,
}

/// Options of a reader.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    pub branches: Branches,
    /// Names of conversations that have a file of their own beside this one: what this one holds of them is not read. A folder of many
    /// files has one set for all of them.
    pub own_files: Vec<Arc<HashSet<String>>>,
    /// The files that this one is read with ([`Joins`]): the parent of its history first, or the next one in which it goes on.
    pub others: Arc<[OtherFile]>,
}

/// A file that another one is read with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherFile {
    /// Its path, as in reports.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The conversations of one file, and notes about it.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    pub conversations: Vec<Conversation>,
    pub notes: Vec<Note>,
}

impl Reading {
    /// Returns the number of recorded calls of all conversations.
    pub fn calls(&self) -> u64 {
        self.conversations.iter().map(|conversation| conversation.calls.len() as u64).sum()
    }
}

/// How sure a format is that a file is of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    No,
    /// It has records as this format has them, and other files have such records too.
    Maybe,
    Sure,
}

impl From<bool> for Certainty {
    fn from(is_sure: bool) -> Self {
        if is_sure { Self::Sure } else { Self::No }
    }
}

/// A transcript format.
pub struct Format {
    /// Id of the format, used by `--format` and in results.
    pub name: &'static str,
    /// Description for the catalog, one line.
    pub about: &'static str,
    /// Returns how sure it is that a file is of this format. Looks only at the first few records; the last one may be cut off.
    sniff: fn(&Head) -> Certainty,
    /// Reads a whole file.
    pub read: fn(&[u8], &ReadOptions) -> Reading,
    /// Where harnesses save sessions in this format.
    pub folders: &'static [SessionFolder],
    /// How sessions of this format are read from files that hold many.
    pub store: Option<store::Store>,
    /// With which other files a file of this format is read.
    pub joins: Joins,
}

/// With which other files a file of a format is read, if they are there.
#[derive(Debug, Clone, Copy)]
pub enum Joins {
    /// Each file is a transcript.
    Nothing,
    /// With the file in which its history begins. The function returns the id of that session, with which the name of the file ends.
    Parent(fn(&[u8]) -> Option<String>),
    /// With the files beside it in which the session goes on.
    Sequel {
        /// Returns the name of the next file, as a file says it.
        next: fn(&[u8]) -> Option<String>,
        /// Returns the name that the file before one of this name must have; `None` if none can be before it.
        before: fn(&str) -> Option<String>,
    },
    /// With the file beside it that says more of the session.
    Beside {
        /// Returns the name of that file, by the name of a transcript.
        file: fn(&str) -> Option<String>,
        /// Returns the name of the transcript, by the name of such a file.
        transcript: fn(&str) -> Option<String>,
    },
    /// Files that hold one request each ([`LoggedRequest`]), with the earlier requests of the conversation.
    Requests,
}

/// A place in which a harness saves its sessions, on Linux, macOS and Windows: all of them save below the user's home folder.
#[derive(Debug, Clone, Copy)]
pub struct SessionFolder {
    /// Environment variable that names the folder of the harness.
    pub variable: Option<&'static str>,
    /// The folder of the harness if the variable is not set, in the user's home folder; `None` for the current folder.
    pub home: Option<&'static str>,
    /// The folder of the sessions in it, or a pattern of folders or files.
    pub sessions: &'static str,
}

/// Every format, in the order of detection: the most specific first. The first one that is sure counts.
pub const FORMATS: &[Format] = &[
    qwen_code::FORMAT,
    claude_code::FORMAT,
    codex::FORMAT,
    pi::FORMAT,
    opencode::FORMAT,
    copilot_cli::FORMAT,
    gemini_cli::FORMAT,
    atif::FORMAT,
    swe_agent::FORMAT,
    cline::FORMAT,
    cline_task::FORMAT,
    openhands::FORMAT,
    requests::FORMAT,
    usage_rows::FORMAT,
    openai_chat::FORMAT,
    messages::FORMAT,
];

/// What a file looks like.
#[derive(Clone, Copy)]
pub enum Verdict {
    /// A transcript of this format.
    Sure(&'static Format),
    /// Perhaps one of this format: it is one if a call of a model can be read.
    Maybe(&'static Format),
    /// A kind that is known by this name, with its article, and why no reader reads it.
    Unread { kind: &'static str, why: &'static str },
    /// Nothing that is known.
    No,
}

/// Recognises a file by its first records and its name.
pub fn recognise(path: &str, bytes: &[u8]) -> Verdict {
    let head = Head::new(path, bytes);
    if let Some((kind, why)) = kinds::unread(&head) {
        return Verdict::Unread { kind, why };
    }
    let mut verdict = Verdict::No;
    for format in FORMATS {
        match (format.sniff)(&head) {
            Certainty::Sure => return Verdict::Sure(format),
            Certainty::Maybe if matches!(verdict, Verdict::No) => verdict = Verdict::Maybe(format),
            Certainty::Maybe | Certainty::No => {}
        }
    }
    verdict
}

/// Detects the format of a file; `None` if it is unknown.
pub fn sniff(bytes: &[u8]) -> Option<&'static Format> {
    match recognise("", bytes) {
        Verdict::Sure(format) | Verdict::Maybe(format) => Some(format),
        Verdict::Unread { .. } | Verdict::No => None,
    }
}

/// Returns the formats in which a file that was not recognised can be read without a loss.
pub fn readable_as(bytes: &[u8]) -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| {
        let reading = (format.read)(bytes, &ReadOptions::default());
        reading.calls() > 0 && reading.notes.iter().all(|note| note.level == Level::Info)
    })
}

/// Returns the format with this id.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
