//! Request logs with one request a file, as OpenHands writes them: the files of one conversation are read together.

use super::super::notes::Notes;
use super::super::{Note, Reading, head, jsonl};
use super::envelope::{self, Exchange};
use super::said::Said;
use super::{Log, chains, records};
use crate::transcript::conversation::SourceFile;
use crate::util::text::file_name;

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
    /// Reads the only request of a file; `None` if the file is anything else.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        if head::records(bytes).len() != 1 {
            return None;
        }
        let exchange = only(bytes)?;
        Some(Self {
            beginnings: chains::beginnings(&exchange.said),
            said: exchange.said.iter().map(Said::gist).collect(),
            response: exchange.response.said.as_ref().map(Said::gist),
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
    let mut log = Log::default();
    for (line, (_, bytes)) in (1..).zip(files) {
        for (_, raw) in records(bytes, &mut log.notes) {
            log.add(line, raw);
        }
    }
    let Reading { mut conversations, notes } = log.finish();
    for conversation in &mut conversations {
        let pieces = (0..).zip(files).map(|(first_line, (path, _))| SourceFile { path: (*path).to_owned(), first_line });
        conversation.source_files = pieces.collect();
    }
    let place = |note: Note| {
        let path = note.line.and_then(|line| files.get(line as usize - 1)).map_or("", |(path, _)| path);
        Note { line: Some(1), what: format!("{}: {}", file_name(path), note.what), ..note }
    };
    Reading { conversations, notes: notes.into_iter().map(place).collect() }
}

/// Returns the only request of a file.
fn only(bytes: &[u8]) -> Option<Exchange> {
    let mut notes = Notes::default();
    let records = records(bytes, &mut notes);
    let [(line, raw)] = records.as_slice() else { return None };
    let mut values = jsonl::values(*line, raw, &mut notes.lines).into_iter();
    let mut value = values.next().filter(|_| values.len() == 0)?;
    envelope::take(&mut value, *line, &mut notes)
}
