//! OpenAI chat completions, in the shapes people save them:
//!
//! * a message a line (JSONL), or one JSON array of messages: the conversation `main`;
//! * `{"messages": […]}` a line (fine-tuning files): conversations named by their line;
//! * one document `{"messages": […], …}` (mini-swe-agent, logs of single requests): `main`;
//! * a JSON array of `{"traj": […]}` or `{"messages": […]}` (tau-bench): conversations named by `task_id`, `instance_id` or `id`, else
//!   by their place from 0, and by `trial` where that is not 0: `12`, `12-trial1`.
//!
//! The first message, if of role `system` or `developer`, is the system prompt; later ones are text of the harness. All
//! messages between two responses become one user message, results first. A file seldom says what a request used: `usage` and
//! `model` are read where they stand beside a message. Ids of calls are kept as recorded, and a note says where one is
//! used again: results answer the calls of the response right before them.

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
    about: "OpenAI chat messages: a message a line, a JSON array, {\"messages\": …}, tau-bench results",
    sniff,
    read,
};

/// The keys under which a conversation's messages are saved.
const MESSAGES: [&str; 2] = ["messages", "traj"];

/// The keys that name a conversation, the most particular first.
const NAMES: [&str; 3] = ["task_id", "instance_id", "id"];

/// The line of a message in a document: readers of JSON do not say where a value stands.
const DOCUMENT: u32 = 1;

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

/// Whether lines are JSON objects of their own: one of the first few is, in case the very first was cut off.
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
    // A document on one line is no list of conversations.
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
            let (mut main, mut names) = (Dialogue::new("main"), Names::default());
            for (index, mut element) in elements.into_iter().enumerate() {
                match take_messages(&mut element) {
                    Some(messages) => {
                        let name = names.unique(&element, index);
                        reading.conversations.extend(conversation(name, messages, DOCUMENT, notes));
                    }
                    None => main.read(element, DOCUMENT, notes),
                }
            }
            reading.conversations.extend(main.finish(notes));
        }
        Ok(mut value) => match take_messages(&mut value) {
            Some(messages) => reading.conversations.extend(conversation("main".to_owned(), messages, DOCUMENT, notes)),
            None => notes.push(Note::skipped(DOCUMENT, "this document holds no `messages`; it was not read")),
        },
    }
}

fn document(bytes: &[u8]) -> Result<Value, Note> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Note::skipped(DOCUMENT, format!("not UTF-8 (byte {}); the file was not read", error.valid_up_to() + 1))
    })?;
    serde_json::from_str(&jsonl::replace_lone_surrogates(Cow::Borrowed(text))).map_err(|error| {
        let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
        Note::skipped(line, format!("not valid JSON: {error}; the file was not read"))
    })
}

/// The list of messages that an object holds, if it holds one.
fn take_messages(value: &mut Value) -> Option<Vec<Value>> {
    let object = value.as_object_mut()?;
    let key = MESSAGES.into_iter().find(|key| object.get(*key).is_some_and(Value::is_array))?;
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

/// The names given so far in one file.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn unique(&mut self, element: &Value, index: usize) -> String {
        let written = |key: &str| match element.get(key)? {
            Value::String(name) if !name.is_empty() => Some(name.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let mut name = NAMES.into_iter().find_map(written).unwrap_or_else(|| index.to_string());
        if let Some(trial) = written("trial").filter(|trial| trial != "0") {
            name = format!("{name}-trial{trial}");
        }
        // The place in the file is unique, and two of them are unlike whatever a name ends in.
        while !self.0.insert(name.clone()) {
            name = format!("{name}-{index}");
        }
        name
    }
}
