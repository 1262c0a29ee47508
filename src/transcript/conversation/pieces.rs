//! Lines of conversations that were read from several files: the archives of an agent, one after the other.

use super::Conversation;

/// One file of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    pub path: String,
    /// Offset: the line in the conversation minus the line in this file. It keeps lines of different files apart.
    pub before: u32,
}

impl Conversation {
    /// Returns the file of a line of the conversation, and the line in that file; no file if the conversation has only one.
    pub fn place(&self, line: u32) -> (Option<&str>, u32) {
        let piece = self.pieces.iter().rev().find(|piece| piece.before < line);
        piece.map_or((None, line), |piece| (Some(&piece.path), line - piece.before))
    }

    /// Formats a line for messages: `line 7`, or `line 7 of transcript_2.jsonl`.
    pub fn line_named(&self, line: u32) -> String {
        match self.place(line) {
            (Some(path), line) => format!("line {line} of {}", path.rsplit('/').next().unwrap_or(path)),
            (None, line) => format!("line {line}"),
        }
    }

    /// Formats a line for JSON: its number, or `path:line`.
    pub fn line_value(&self, line: u32) -> serde_json::Value {
        match self.place(line) {
            (Some(path), line) => format!("{path}:{line}").into(),
            (None, line) => line.into(),
        }
    }
}
