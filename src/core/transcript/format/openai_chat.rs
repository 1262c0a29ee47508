//! Messages of OpenAI's chat completions API, in the forms in which people save them.
//!
//! * One message per line (JSONL), or one JSON array of messages: the conversation `main`.
//! * One `{"messages": […]}` per line (fine-tuning files): conversations named by their line.
//! * One document `{"messages": […], …}` (mini-swe-agent): the conversation `main`.
//! * A JSON array of `{"traj": […]}` or `{"messages": […]}` (tau-bench): conversations named by `task_id`, `instance_id` or `id`, or
//!   else by their index from 0. If `trial` is not 0, it is added: `12`, `12-trial1`.
//!
//! If the first message has the role `system` or `developer`, it is the system prompt; later ones are text of the harness. All messages
//! between two responses become one user message, results first. Files rarely contain usage; `usage` and `model` are read if they are in
//! a message. Ids of calls stay as recorded. If an id is used again, a note says so, and a result belongs to the response directly before
//! it.

pub mod dialogue;
pub mod message;
mod peek;
mod reasoning;
pub(super) mod text_calls;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

use super::head::{self, Head};
use super::notes::Notes;
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading, jsonl};
use crate::transcript::conversation::Conversation;
use dialogue::Dialogue;

/// The id of the format.
const NAME: &str = "openai-chat";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "OpenAI chat messages: one per line, a JSON array, {\"messages\": …}, tau-bench results",
    sniff,
    read,
    folders: &[],
    store: None,
    joins: Joins::Nothing,
};

/// Keys of a conversation's list of messages.
const MESSAGE_KEYS: [&str; 2] = ["messages", "traj"];

/// Keys of a conversation's name, the most specific first.
const NAME_KEYS: [&str; 3] = ["task_id", "instance_id", "id"];

/// Line of all messages in a document, because the JSON parser does not report lines of values.
const DOCUMENT_LINE: u32 = 1;

fn sniff(head: &Head) -> Certainty {
    peek::is_chat(head.bytes).into()
}

/// A message of a file.
pub struct Recorded {
    pub line: u32,
    pub value: Value,
}

fn read(bytes: &[u8], _: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let mut file = File { is_lines: head::is_lines(bytes), ..File::default() };
    if file.is_lines {
        for (line, text) in jsonl::lines(bytes) {
            for value in jsonl::values::<Value>(line, text, &mut notes.lines) {
                file.add(value, line, line.to_string(), &mut notes);
            }
        }
    } else {
        file.read_document(bytes, &mut notes);
    }
    Reading { conversations: file.finish(&mut notes), notes: notes.finish() }
}

/// What was read of a file.
#[derive(Default)]
struct File {
    conversations: Vec<Conversation>,
    /// Messages that are not in a list: one conversation.
    main: Vec<Recorded>,
    is_lines: bool,
}

impl File {
    fn read_document(&mut self, bytes: &[u8], notes: &mut Notes) {
        match document(bytes) {
            Err(note) => self.read_broken(bytes, note, notes),
            Ok(Value::Array(elements)) => {
                let mut names = UsedNames::default();
                for (index, element) in elements.into_iter().enumerate() {
                    let name = list_key(&element).map(|_| names.unique(&element, index)).unwrap_or_default();
                    self.add(element, DOCUMENT_LINE, name, notes);
                }
            }
            Ok(value @ Value::Object(_)) if list_key(&value).is_none() => {
                notes.lines.push(Note::skipped(DOCUMENT_LINE, "this document has no `messages`; it was not read"));
            }
            Ok(value) => self.add(value, DOCUMENT_LINE, "main".to_owned(), notes),
        }
    }

    /// Reads the messages or conversations before the place where a document breaks off; the note says why it cannot be read whole.
    fn read_broken(&mut self, bytes: &[u8], why: Note, notes: &mut Notes) {
        let document = super::document::read(bytes, "messages", usize::MAX);
        let whole = document.map(|document| document.messages).unwrap_or_default();
        if whole.is_empty() {
            return notes.lines.push(why);
        }
        for (index, (line, raw)) in whole.into_iter().enumerate() {
            for value in jsonl::values(line, raw.get().as_bytes(), &mut notes.lines) {
                self.add(value, line, index.to_string(), notes);
            }
        }
        let what = "the document breaks off here; what is before it was read";
        notes.lines.push(Note { what: what.to_owned(), ..why });
    }

    /// Adds a conversation of this name, or a message.
    fn add(&mut self, mut value: Value, line: u32, name: String, notes: &mut Notes) {
        let is_run = text_calls::is_run(&value);
        if let Some(messages) = take_messages(&mut value) {
            let recorded = messages.into_iter().map(|value| Recorded { line, value }).collect();
            self.conversations.extend(conversation(name, NAME, recorded, is_run, notes));
        } else {
            self.main.push(Recorded { line, value });
        }
    }

    fn finish(self, notes: &mut Notes) -> Vec<Conversation> {
        let mut conversations = self.conversations;
        // A single document on one line is named `main`, not by its line.
        if let ([only], true) = (conversations.as_mut_slice(), self.is_lines && self.main.is_empty()) {
            only.name = "main".to_owned();
        }
        conversations.extend(conversation("main".to_owned(), NAME, self.main, false, notes));
        conversations
    }
}

fn document(bytes: &[u8]) -> Result<Value, Note> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Note::skipped(DOCUMENT_LINE, format!("not UTF-8 (byte {}); the file was not read", error.valid_up_to() + 1))
    })?;
    serde_json::from_str(&jsonl::replace_lone_surrogates(Cow::Borrowed(text))).map_err(|error| {
        let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
        Note::skipped(line, format!("not valid JSON: {error}; the file was not read"))
    })
}

/// Returns the key of a list of messages.
fn list_key(value: &Value) -> Option<&'static str> {
    MESSAGE_KEYS.into_iter().find(|key| value.get(*key).is_some_and(Value::is_array))
}

/// Takes the list of messages out of an object, if it has one.
fn take_messages(value: &mut Value) -> Option<Vec<Value>> {
    let key = list_key(value)?;
    match value.get_mut(key).map(Value::take) {
        Some(Value::Array(messages)) => Some(messages),
        _ => None,
    }
}

pub fn conversation(
    name: String,
    format: &'static str,
    messages: Vec<Recorded>,
    is_run: bool,
    notes: &mut Notes,
) -> Option<Conversation> {
    let mut dialogue = Dialogue::new(name, format, text_calls::are_in(&messages, is_run));
    messages.into_iter().for_each(|message| dialogue.read(message, notes));
    dialogue.finish(notes)
}

/// The names used so far in one file.
#[derive(Default)]
struct UsedNames(HashSet<String>);

impl UsedNames {
    /// Returns a unique name for the conversation at this index.
    fn unique(&mut self, element: &Value, index: usize) -> String {
        let field_text = |key: &str| match element.get(key)? {
            Value::String(name) if !name.is_empty() => Some(name.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let mut name = NAME_KEYS.into_iter().find_map(field_text).unwrap_or_else(|| index.to_string());
        if let Some(trial) = field_text("trial").filter(|trial| trial != "0") {
            name = format!("{name}-trial{trial}");
        }
        // The index makes a repeated name unique.
        while !self.0.insert(name.clone()) {
            name = format!("{name}-{index}");
        }
        name
    }
}
