//! Logs of requests with their responses: LiteLLM's and OpenHands' logs, and those that people write themselves.
//!
//! Each request repeats the messages of the one before, so the requests of one conversation are a chain. The messages of the last one
//! and its response are the conversation. The responses of the others are in the next request; here they give usage, model and id.

use std::collections::HashMap;

use serde_json::{Value, json};
use xxhash_rust::xxh3::Xxh3;

use super::super::Note;
use super::super::notes::Notes;
use super::Recorded;

/// What a provider says about a response beside its message.
#[derive(Debug, Default, Clone)]
pub struct Response {
    pub usage: Value,
    pub model: Option<String>,
    pub id: Option<String>,
}

impl Response {
    pub fn new(response: &Value) -> Self {
        let text = |key: &str| response.get(key).and_then(Value::as_str).map(str::to_owned);
        Self { usage: response.get("usage").cloned().unwrap_or_default(), model: text("model"), id: text("id") }
    }
}

/// A request and its response; no message if it failed.
pub struct Exchange {
    messages: Vec<Value>,
    message: Option<Value>,
    response: Response,
}

impl Exchange {
    /// Returns the messages of the request, and the one of the response.
    pub fn parts(&self) -> (&[Value], Option<&Value>) {
        (&self.messages, self.message.as_ref())
    }
}

/// Returns whether a record has a response beside its request.
pub fn is_logged(record: &Value) -> bool {
    record.get("response").or_else(|| record.get("choices")).is_some()
}

/// Takes a request with a response out of a record; `None` if it is none.
pub fn take(record: &mut Value) -> Option<Exchange> {
    let messages = if is_logged(record) { super::take_messages(record)? } else { return None };
    let whole = record.get("response").filter(|response| response.is_object()).unwrap_or(record);
    let message = ["/choices/0/message", "/message"].iter().find_map(|path| whole.pointer(path)).or(Some(whole));
    let message = match record.get("response") {
        Some(Value::String(text)) => Some(json!({"role": "assistant", "content": text})),
        _ => message.filter(|message| message.get("role").is_some_and(|role| role == "assistant")).cloned(),
    };
    let mut response = Response::new(whole);
    response.model = response.model.or_else(|| record.get("model")?.as_str().map(str::to_owned));
    Some(Exchange { messages, message, response })
}

/// A conversation of a log.
pub struct Chain {
    /// The name of its first request.
    name: String,
    messages: Vec<Recorded>,
    /// The response of the last request.
    last: (u32, Option<Value>, Response),
}

/// Joins requests that continue one another.
#[derive(Default)]
pub struct Chains {
    chains: Vec<Chain>,
    /// Index of the chain whose last request has these messages.
    ends: HashMap<u64, usize>,
}

impl Chains {
    /// Adds a request. It continues the chain with the longest beginning of its messages.
    pub fn add(&mut self, exchange: Exchange, line: u32, name: String, notes: &mut Notes) {
        let Exchange { messages, message, response } = exchange;
        let hashes = beginnings(&messages);
        let Some(whole) = hashes.last().copied() else {
            return notes.kind(Note::skipped(line, "the request has no messages; it was skipped"));
        };
        let found = hashes.iter().enumerate().rev().find_map(|(at, hash)| Some((at + 1, *self.ends.get(hash)?)));
        let (known, index) = found.unwrap_or((0, self.chains.len()));
        if found.is_none() {
            self.chains.push(Chain { name, messages: Vec::new(), last: (line, None, Response::default()) });
        } else {
            self.ends.remove(&hashes[known - 1]);
        }
        self.ends.insert(whole, index);
        let chain = &mut self.chains[index];
        let before = std::mem::replace(&mut chain.last, (line, message, response));
        chain.extend(messages.into_iter().skip(known), before, line, notes);
    }

    /// Returns the conversations, in the order of their first requests.
    pub fn finish(self) -> impl Iterator<Item = (String, Vec<Recorded>)> {
        self.chains.into_iter().map(|mut chain| {
            let (line, message, response) = chain.last;
            chain.messages.extend(message.map(|value| Recorded { line, value, response: Some(response) }));
            (chain.name, chain.messages)
        })
    }
}

impl Chain {
    /// Adds the new messages of a request. The first one is the response of the request before, as it was sent.
    fn extend(
        &mut self,
        new: impl Iterator<Item = Value>,
        (answered, response, recorded): (u32, Option<Value>, Response),
        line: u32,
        notes: &mut Notes,
    ) {
        let mut new = new.peekable();
        let is_sent = new.peek().and_then(|message| message.get("role")).is_some_and(|role| role == "assistant");
        if is_sent && !self.messages.is_empty() {
            let value = new.next().unwrap_or_default();
            self.messages.push(Recorded { line: answered, value, response: Some(recorded) });
        } else if response.is_some() {
            notes.kind(Note::info(answered, "this response is not in the next request; it was left out"));
        }
        self.messages.extend(new.map(|value| Recorded { line, value, response: None }));
    }
}

/// Returns a hash of every beginning of these messages.
pub fn beginnings(messages: &[Value]) -> Vec<u64> {
    let mut hasher = Xxh3::new();
    let hash = |message: &Value| {
        hasher.update(sent(message).to_string().as_bytes());
        hasher.update(&[0]);
        hasher.digest()
    };
    messages.iter().map(hash).collect()
}

/// Returns what two requests have in common of a message: gateways move the marks of the cache, and write a text as a list of parts.
fn sent(message: &Value) -> Value {
    let text = message.get("content").map(super::message::text);
    let content = match (text, message.get("content")) {
        (Some(Some(text)), _) => Value::String(text),
        (_, None | Some(Value::Null)) => Value::String(String::new()),
        (_, Some(other)) => other.clone(),
    };
    let field = |key: &str| message.get(key).cloned().unwrap_or_default();
    Value::Array(vec![field("role"), content, field("tool_calls"), field("tool_call_id")])
}
