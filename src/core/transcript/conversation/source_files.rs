//! Lines of conversations that were read from several files: the archives of an agent, one after the other.

use super::Conversation;
use crate::util::text::file_name;

/// One file of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    pub path: String,
    /// Offset: the line in the conversation minus the line in this file. It keeps lines of different files apart.
    pub first_line: u32,
}

impl Conversation {
    /// Returns the file of a line of the conversation, and the line in that file; no file if the conversation has only one.
    pub fn file_and_line(&self, line: u32) -> (Option<&str>, u32) {
        let file = self.source_files.iter().rev().find(|file| file.first_line < line);
        file.map_or((None, line), |file| (Some(&file.path), line - file.first_line))
    }

    /// Formats a line for messages: `line 7`, or `line 7 of transcript_2.jsonl`.
    pub fn line_label(&self, line: u32) -> String {
        match self.file_and_line(line) {
            (Some(path), line) => format!("line {line} of {}", file_name(path)),
            (None, line) => format!("line {line}"),
        }
    }

    /// Formats a line for JSON: its number, or `path:line`.
    pub fn line_json(&self, line: u32) -> serde_json::Value {
        match self.file_and_line(line) {
            (Some(path), line) => format!("{path}:{line}").into(),
            (None, line) => line.into(),
        }
    }
}
