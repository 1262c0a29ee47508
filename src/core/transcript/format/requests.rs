//! Logs of requests to a model, with their responses or without: what a proxy, a gateway or a tracing tool wrote.
//!
//! A line, an element of an array, or a file holds a request: a body of Chat Completions, Messages or Responses, alone or in the fields of
//! a recorder ([`envelope`]). Where the log has times, they give the order.
//!
//! Each request repeats what was said before, so a conversation is a chain of them ([`chains`]). What a request adds is new: first the
//! response of the one before. What else it changes is an edit of the record ([`replay`]). So the replay of `recorded` sends each request
//! as it was sent. A response is what the next request repeats; of the last one without a recorded response, a text says so.
//!
//! A request for a summary or a title is no call of the agent: it has no tools where the others have some, or it asks for a summary at the
//! end of the conversation, and no later request repeats that.

mod chains;
mod envelope;
pub mod files;
mod replay;
mod said;

use serde_json::Value;

use super::head::{self, Head};
use super::notes::Notes;
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading, document, jsonl};
use crate::transcript::conversation::Conversation;
use chains::Chains;

/// The id of the format.
const NAME: &str = "requests";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "logs of requests to a model, with or without responses: bodies of three APIs, LiteLLM, Langfuse, OpenTelemetry",
    sniff,
    read,
    folders: &[],
    store: None,
    joins: Joins::Requests,
};

/// Marks of a request with its response, or in the fields of a recorder.
const LOGGED: &[&str] = &[
    "messages.role response",
    "messages.role choices.message",
    "body.messages.role",
    "body.input.role",
    "body.input.type",
    "body.instructions body.input",
    "request.messages.role",
    "request.input.role",
    "request.body.messages.role",
    "request.body.input.role",
    "request_body.messages.role",
    "request_body.input.role",
    "kwargs.messages.role",
    "proxy_server_request.body",
    "type=GENERATION input.messages.role",
    "type=GENERATION input.role",
    "gen_ai.input.messages",
    "attributes.gen_ai.input.messages",
    "input.role instructions model",
];

/// Marks of a bare body. One alone may also be a conversation that was saved so.
const BARE: &[&str] = &[
    "messages.role model stream",
    "messages.role model max_tokens",
    "messages.role model max_completion_tokens",
    "messages.role model tool_choice",
    "input.role model stream",
    "input.role model tools",
    "input.role model max_output_tokens",
];

fn sniff(head: &Head) -> Certainty {
    let has_attributes = |record: &Value| {
        [record, &record["attributes"]].iter().any(|fields| fields.get("gen_ai.input.messages").is_some_and(Value::is_string))
    };
    let is_logged = head.is_marked(LOGGED) || head.records.iter().any(has_attributes);
    (is_logged || head.records.len() > 1 && head.is_marked(BARE)).into()
}

fn read(bytes: &[u8], _: &ReadOptions) -> Reading {
    let mut log = Log::default();
    for (line, raw) in ordered(records(bytes, &mut log.notes)) {
        log.add(line, raw);
    }
    log.finish()
}

/// Returns the records of a file, not parsed yet, with their lines.
fn records<'a>(bytes: &'a [u8], notes: &mut Notes) -> Vec<(u32, &'a [u8])> {
    if head::is_lines(bytes) {
        return jsonl::lines(bytes).collect();
    }
    let is_array = bytes.trim_ascii_start().first() == Some(&b'[');
    match document::read(bytes, "", usize::MAX).filter(|_| is_array) {
        Some(document) => {
            notes.lines.extend(document.note());
            document.messages.into_iter().map(|(line, raw)| (line, raw.get().as_bytes())).collect()
        }
        None => vec![(1, bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes))],
    }
}

/// Returns records in the order of their times, if all have one.
fn ordered(records: Vec<(u32, &[u8])>) -> Vec<(u32, &[u8])> {
    let time = |raw: &[u8]| envelope::time(&serde_json::from_slice::<envelope::Times>(raw).ok()?.0);
    let times: Option<Vec<i64>> = records.iter().map(|(_, raw)| time(raw)).collect();
    let Some(times) = times else { return records };
    let mut timed: Vec<_> = times.into_iter().zip(records).collect();
    timed.sort_by_key(|(time, _)| *time);
    timed.into_iter().map(|(_, record)| record).collect()
}

/// What was read of a log.
#[derive(Default)]
struct Log {
    chains: Chains,
    notes: Notes,
}

impl Log {
    fn add(&mut self, line: u32, raw: &[u8]) {
        for value in jsonl::values::<Value>(line, raw, &mut self.notes.lines) {
            self.add_value(line, value);
        }
    }

    fn add_value(&mut self, line: u32, mut value: Value) {
        match envelope::take(&mut value, line, &mut self.notes) {
            Some(exchange) => self.chains.add(exchange, line, &mut self.notes),
            None => self.notes.kind(Note::info(line, "a record holds no request; it was left out")),
        }
    }

    fn finish(mut self) -> Reading {
        let chains = self.chains.finish(&mut self.notes);
        let is_alone = chains.len() == 1;
        let build = |chain: chains::Chain| {
            let name = if is_alone { "main".to_owned() } else { chain.name() };
            replay::conversation(chain, name, &mut self.notes)
        };
        let conversations: Vec<Conversation> = chains.into_iter().filter_map(build).collect();
        Reading { conversations, notes: self.notes.finish() }
    }
}

#[cfg(test)]
mod tests;
