//! Messages of OpenAI's chat completions API, in the forms in which people save them.
//!
//! * One message per line (JSONL), or one JSON array of messages: the conversation `main`.
//! * One `{"messages": […]}` per line (fine-tuning files): conversations named by their line.
//! * One document `{"messages": […], …}` (mini-swe-agent, logs of single requests): the conversation `main`.
//! * A JSON array of `{"traj": […]}` or `{"messages": […]}` (tau-bench): conversations named by `task_id`, `instance_id` or `id`, or
//!   else by their index from 0. If `trial` is not 0, it is added: `12`, `12-trial1`.
//!
//! If the first message has the role `system` or `developer`, it is the system prompt; later ones are text of the harness. All messages
//! between two responses become one user message, results first. Files rarely contain usage; `usage` and `model` are read if they are in
//! a message. Ids of calls stay as recorded. If an id is used again, a note says so, and a result belongs to the response directly before
//! it.

mod dialogue;
mod message;
mod peek;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Format, Note, ReadOptions, Reading, jsonl};
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
};

/// Keys of a conversation's list of messages.
const MESSAGE_KEYS: [&str; 2] = ["messages", "traj"];

/// Keys of a conversation's name, the most specific first.
const NAME_KEYS: [&str; 3] = ["task_id", "instance_id", "id"];

/// Line of all messages in a document, because the JSON parser does not report lines of values.
const DOCUMENT_LINE: u32 = 1;

fn sniff(bytes: &[u8]) -> bool {
    peek::is_chat(bytes)
}

fn read(bytes: &[u8], _: &ReadOptions) -> Reading {
    let mut reading = Reading::default();
    if is_lines(bytes) {
        read_lines(bytes, &mut reading);
    } else {
        read_document(bytes, &mut reading);
    }
    reading.notes.sort_by_key(|note| note.line);
    reading
}

/// Returns whether the file is JSON Lines: one of the first three lines is a JSON object (the first may be cut off).
fn is_lines(bytes: &[u8]) -> bool {
    let mut lines = jsonl::lines(bytes).map(|(_, line)| line).take(3).peekable();
    let is_object = |line: &[u8]| line.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(line).is_ok();
    lines.peek().is_some_and(|line| line.starts_with(b"{")) && lines.any(is_object)
}

fn read_lines(bytes: &[u8], reading: &mut Reading) {
    let mut main = Dialogue::new("main");
    for (line, text) in jsonl::lines(bytes) {
        for mut value in jsonl::values::<Value>(line, text, &mut reading.notes) {
            match take_messages(&mut value) {
                Some(messages) => {
                    let conversation = conversation(line.to_string(), messages, line, &mut reading.notes);
                    reading.conversations.extend(conversation);
                }
                None => main.read(value, line, &mut reading.notes),
            }
        }
    }
    // A single document on one line is named `main`, not by its line.
    if let [only] = reading.conversations.as_mut_slice() {
        only.name = "main".to_owned();
    }
    reading.conversations.extend(main.finish(&mut reading.notes));
}

fn read_document(bytes: &[u8], reading: &mut Reading) {
    let notes = &mut reading.notes;
    match document(bytes) {
        Err(note) => notes.push(note),
        Ok(Value::Array(elements)) => {
            let (mut main, mut names) = (Dialogue::new("main"), UsedNames::default());
            for (index, mut element) in elements.into_iter().enumerate() {
                match take_messages(&mut element) {
                    Some(messages) => {
                        let name = names.unique(&element, index);
                        reading.conversations.extend(conversation(name, messages, DOCUMENT_LINE, notes));
                    }
                    None => main.read(element, DOCUMENT_LINE, notes),
                }
            }
            reading.conversations.extend(main.finish(notes));
        }
        Ok(mut value) => match take_messages(&mut value) {
            Some(messages) => reading.conversations.extend(conversation("main".to_owned(), messages, DOCUMENT_LINE, notes)),
            None => notes.push(Note::skipped(DOCUMENT_LINE, "this document has no `messages`; it was not read")),
        },
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

/// Takes the list of messages out of an object, if it has one.
fn take_messages(value: &mut Value) -> Option<Vec<Value>> {
    let object = value.as_object_mut()?;
    let key = MESSAGE_KEYS.into_iter().find(|key| object.get(*key).is_some_and(Value::is_array))?;
    match object.get_mut(key).map(Value::take) {
        Some(Value::Array(messages)) => Some(messages),
        _ => None,
    }
}

fn conversation(name: String, messages: Vec<Value>, line: u32, notes: &mut Vec<Note>) -> Option<Conversation> {
    let mut dialogue = Dialogue::new(name);
    messages.into_iter().for_each(|message| dialogue.read(message, line, notes));
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
