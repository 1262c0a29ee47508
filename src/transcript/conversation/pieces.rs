//! Conversations that were read from several files: an agent's archives, one after another.

use super::Conversation;

/// One of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    pub path: String,
    /// What was added to its lines, so that every line of the conversation is of one file only.
    pub before: u32,
}

impl Conversation {
    /// The file that a line of the conversation is of, and the line in it; no file where the conversation has only one.
    pub fn place(&self, line: u32) -> (Option<&str>, u32) {
        let piece = self.pieces.iter().rev().find(|piece| piece.before < line);
        piece.map_or((None, line), |piece| (Some(&piece.path), line - piece.before))
    }

    /// A line as messages name it: `line 7`, or `line 7 of transcript_2.jsonl`.
    pub fn line_named(&self, line: u32) -> String {
        match self.place(line) {
            (Some(path), line) => format!("line {line} of {}", path.rsplit('/').next().unwrap_or(path)),
            (None, line) => format!("line {line}"),
        }
    }

    /// A line as programs read it: its number, or `path:line`.
    pub fn line_value(&self, line: u32) -> serde_json::Value {
        match self.place(line) {
            (Some(path), line) => format!("{path}:{line}").into(),
            (None, line) => line.into(),
        }
    }
}
