//! The messages of a chat, from one document or from the lines that change them.

use std::collections::HashMap;

use serde_json::Value;

use super::super::batch::Stamp;
use super::super::notes::Notes;
use super::super::{Note, document, head, jsonl};
use crate::transcript::conversation::{Identity, SUBAGENT};

/// A message and its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub line: u32,
    pub message: Value,
}

impl Entry {
    pub fn kind(&self) -> &str {
        self.message["type"].as_str().unwrap_or("unknown")
    }

    pub fn is_response(&self) -> bool {
        self.kind() == "gemini"
    }

    fn is_said(&self) -> bool {
        matches!(self.kind(), "user" | "gemini")
    }

    pub fn content(&self) -> &Value {
        &self.message["content"]
    }

    pub fn calls(&self) -> impl Iterator<Item = &Value> {
        self.message["toolCalls"].as_array().into_iter().flatten()
    }

    /// Returns whether both have the same usage, so that they are of one response.
    pub fn has_usage_of(&self, other: &Self) -> bool {
        self.message["tokens"].is_object() && self.message["tokens"] == other.message["tokens"]
    }

    pub fn at(&self) -> Stamp {
        Stamp::parsed(self.line, self.message["timestamp"].as_str())
    }

    fn id(&self) -> Option<&str> {
        self.message["id"].as_str()
    }
}

/// What happened to the context.
#[derive(Debug, Clone)]
pub enum Step {
    /// These messages were added.
    Messages(Vec<Entry>),
    /// These messages replaced the context.
    Replaced { line: u32, messages: Vec<Entry> },
}

/// Messages that the user took back.
pub struct Left {
    /// The line of the first of them.
    pub line: u32,
    /// How many they are.
    pub count: usize,
    /// With `whole`: what was before the last step, and all messages of that step. Else nothing, and the messages that were taken back.
    pub before: Vec<Step>,
    pub messages: Vec<Entry>,
}

/// A chat.
#[derive(Default)]
pub struct Journal {
    pub identity: Identity,
    pub steps: Vec<Step>,
    pub left: Vec<Left>,
}

impl Journal {
    /// Reads a file. `whole`: what was taken back is wanted with all that was before it.
    pub fn new(bytes: &[u8], whole: bool, notes: &mut Notes) -> Self {
        let mut reader = Reader { whole, ..Reader::default() };
        // A document may be on one line; the header of a journal is alone there only if nothing was said.
        let may_be_document = !head::is_lines(bytes) || jsonl::lines(bytes).nth(1).is_none();
        if let Some(document) = may_be_document.then(|| document::read(bytes, "messages", usize::MAX)).flatten() {
            notes.lines.extend(document.note());
            reader.journal.identity = identity(document.text("sessionId"), document.text("kind"));
            for (line, raw) in document.messages {
                let values = jsonl::values(line, raw.get().as_bytes(), &mut notes.lines);
                reader.messages.extend(values.into_iter().map(|message| Entry { line, message }));
            }
        } else if head::is_lines(bytes) {
            for (line, json) in jsonl::lines(bytes) {
                jsonl::values(line, json, &mut notes.lines).into_iter().for_each(|value| reader.record(value, line, notes));
            }
        } else {
            notes.lines.push(Note::skipped(1, "not a chat of Gemini CLI: it is no document with `messages`"));
        }
        reader.finish()
    }
}

/// The header of a chat. It does not name the session whose agent started it.
fn identity(session: Option<String>, kind: Option<String>) -> Identity {
    Identity { session, start: kind.filter(|kind| kind == SUBAGENT), ..Identity::of(super::NAME) }
}

/// Reads lines.
#[derive(Default)]
struct Reader {
    journal: Journal,
    whole: bool,
    /// The messages since the context was replaced last.
    messages: Vec<Entry>,
    /// Index into them, by id.
    known: HashMap<String, usize>,
    /// Index into the messages that replaced the context last, by id.
    replaced: HashMap<String, usize>,
}

impl Reader {
    fn record(&mut self, record: Value, line: u32, notes: &mut Notes) {
        if let Some(id) = record.get("$rewindTo") {
            self.rewind(id.as_str().unwrap_or_default());
        } else if let Some(set) = record.get("$set") {
            if let Some(messages) = set.get("messages").and_then(Value::as_array) {
                self.replace(messages.iter().map(|message| Entry { line, message: message.clone() }).collect(), line);
            }
        } else if record["type"].is_string() {
            self.add(Entry { line, message: record });
        } else if let Some(session) = record.get("sessionId").and_then(Value::as_str) {
            let kind = record["kind"].as_str().map(str::to_owned);
            self.journal.identity = identity(Some(session.to_owned()), kind);
        } else {
            notes.kind(Note::info(line, "the record is no message of a chat; it was left out"));
        }
    }

    fn add(&mut self, entry: Entry) {
        let id = entry.id().map(str::to_owned);
        if let Some(at) = id.as_ref().and_then(|id| self.known.get(id)) {
            let line = self.messages[*at].line;
            self.messages[*at] = Entry { line, ..entry };
            return;
        }
        if let Some(at) = id.as_ref().and_then(|id| self.replaced.get(id)) {
            if let Some(Step::Replaced { messages, .. }) = self.journal.steps.last_mut() {
                messages[*at] = entry;
            }
            return;
        }
        if let Some(id) = id {
            self.known.insert(id, self.messages.len());
        }
        self.messages.push(entry);
    }

    /// Takes back a message and all after it; all, if the message is unknown.
    fn rewind(&mut self, id: &str) {
        let from = self.known.get(id).copied().unwrap_or(0);
        let count = self.messages[from..].iter().filter(|entry| entry.is_said()).count();
        if count > 0 {
            let line = self.messages[from].line;
            let before = if self.whole { self.journal.steps.clone() } else { Vec::new() };
            let messages = self.messages[if self.whole { 0 } else { from }..].to_vec();
            self.journal.left.push(Left { line, count, before, messages });
        }
        self.messages.truncate(from);
        self.known.retain(|_, at| *at < from);
    }

    /// Replaces the context. Where all messages so far are still there, it is no compaction.
    fn replace(&mut self, messages: Vec<Entry>, line: u32) {
        let new: HashMap<&str, &Entry> = messages.iter().filter_map(|entry| Some((entry.id()?, entry))).collect();
        let stays = |entry: &Entry| entry.id().is_some_and(|id| new.contains_key(id)) || !entry.is_said();
        if self.messages.iter().all(stays) {
            messages.into_iter().for_each(|entry| self.add(entry));
            return;
        }
        self.journal.steps.push(Step::Messages(std::mem::take(&mut self.messages)));
        self.replaced = messages.iter().enumerate().filter_map(|(at, entry)| Some((entry.id()?.to_owned(), at))).collect();
        self.journal.steps.push(Step::Replaced { line, messages });
        self.known.clear();
    }

    fn finish(mut self) -> Journal {
        self.journal.steps.push(Step::Messages(self.messages));
        self.journal
    }
}
