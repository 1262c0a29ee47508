//! Request logs with one request a file, as OpenHands writes them: the files of one conversation are read together.

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::super::notes::Notes;
use super::super::{Note, Reading, head, jsonl};
use super::{File, list_key, message, requests};
use crate::transcript::conversation::SourceFile;

/// What identifies the only request of a file.
#[derive(Debug, Clone)]
pub struct LoggedRequest {
    /// A hash of every beginning of its messages.
    beginnings: Vec<u64>,
    /// A hash of what each message says.
    said: Vec<u64>,
    response: Option<u64>,
}

impl LoggedRequest {
    /// Reads the only request of a file with its response; `None` if the file is anything else.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let records = head::records(bytes);
        let [record] = records.as_slice() else { return None };
        list_key(record).filter(|_| requests::is_logged(record))?;
        let exchange = requests::take(&mut document(bytes)?)?;
        let (messages, response) = exchange.parts();
        Some(Self {
            beginnings: requests::beginnings(messages),
            said: messages.iter().map(said).collect(),
            response: response.map(said),
        })
    }

    /// Returns the number of messages.
    pub fn messages(&self) -> usize {
        self.beginnings.len()
    }

    /// Returns whether this request begins with all messages of another one.
    pub fn repeats(&self, other: &Self) -> bool {
        let last = other.messages().checked_sub(1);
        last.is_some_and(|at| self.beginnings.get(at) == other.beginnings.get(at))
    }

    /// Returns whether the message after those of another request is its response.
    pub fn answers(&self, other: &Self) -> bool {
        other.response.is_some() && self.said.get(other.messages()).copied() == other.response
    }
}

/// Reads files with one request each as one log, in this order. Each file is given with its path.
pub fn read_files(files: &[(&str, &[u8])]) -> Reading {
    let (mut file, mut notes) = (File { is_lines: true, ..File::default() }, Notes::default());
    for (line, (_, bytes)) in (1..).zip(files) {
        if let Some(value) = document(bytes) {
            file.add(value, line, line.to_string(), &mut notes);
        }
    }
    let mut conversations = file.finish(&mut notes);
    for conversation in &mut conversations {
        let pieces = (0..).zip(files).map(|(first_line, (path, _))| SourceFile { path: (*path).to_owned(), first_line });
        conversation.source_files = pieces.collect();
    }
    let place = |note: Note| {
        let path = note.line.and_then(|line| files.get(line as usize - 1)).map_or("", |(path, _)| path);
        Note {
            line: Some(super::DOCUMENT_LINE),
            what: format!("{}: {}", path.rsplit('/').next().unwrap_or(path), note.what),
            ..note
        }
    };
    Reading { conversations, notes: notes.finish().into_iter().map(place).collect() }
}

/// Returns the only value of a file.
fn document(bytes: &[u8]) -> Option<Value> {
    if !head::is_lines(bytes) {
        return super::document(bytes).ok();
    }
    let mut notes = Vec::new();
    let mut values = jsonl::lines(bytes).flat_map(|(line, text)| jsonl::values(line, text, &mut notes));
    values.next().filter(|_| values.next().is_none())
}

/// Returns a hash of what a message says: its text, and the ids of its calls. Gateways add other fields to a response.
fn said(message: &Value) -> u64 {
    let text = message.get("content").and_then(message::text).unwrap_or_default();
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let ids: Vec<&str> = calls.filter_map(|call| call.get("id")?.as_str()).collect();
    xxh3_64(format!("{}\0{}", text.trim(), ids.join("\0")).as_bytes())
}
