//! Where a record of a log holds its request and its response.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::batch::Stamp;
use super::super::notes::Notes;
use super::said::{Messages, Said};

/// Places of a request body: LiteLLM's proxy, recorders of HTTP, SDKs, Langfuse, and the record itself.
const BODIES: [&str; 8] =
    ["/proxy_server_request/body", "/request/body", "/request_body", "/request", "/body", "/kwargs", "/input", ""];

/// Keys of the messages in a body: Chat Completions and Messages, and Responses.
const MESSAGES: [&str; 2] = ["messages", "input"];

/// Keys of the text of the system beside the messages.
const SYSTEM: [&str; 2] = ["system", "instructions"];

/// Attributes of OpenTelemetry's conventions for generative AI; their values are JSON as text.
const TELEMETRY: [&str; 3] = ["gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages"];

/// Beginnings of a response that was streamed and logged as it came.
const STREAMED: [&str; 3] = ["data:", "event:", ": "];

/// Keys of the time of a request.
const TIMES: [&str; 6] = ["timestamp", "startTime", "start_time", "created_at", "time", "ts"];

/// Seconds since 1970 are less than this, and milliseconds are more: it is the year 5138.
const LARGEST_SECONDS: f64 = 1e11;

/// A request, and its response if the log has it.
#[derive(Debug, Default)]
pub struct Exchange {
    pub system: String,
    pub said: Vec<Said>,
    pub has_tools: bool,
    /// The response that this request continues, if it repeats nothing of what is before it.
    pub previous: Option<String>,
    pub response: Response,
    /// Milliseconds since 1970.
    pub time: Option<i64>,
}

/// What is known of a response.
#[derive(Debug, Default, Clone)]
pub struct Response {
    /// What the model said, if the log has it.
    pub said: Option<Said>,
    pub usage: Value,
    pub model: Option<String>,
    pub id: Option<String>,
    /// The log says that there was none.
    pub failed: bool,
}

/// Takes a request with its response out of a record; `None` if it holds none.
pub fn take(record: &mut Value, line: u32, notes: &mut Notes) -> Option<Exchange> {
    let time = time(record);
    let mut exchange = telemetry(record, line, notes).or_else(|| body(record, line, notes))?;
    exchange.time = time;
    if exchange.response.said.is_none() {
        let failed = record["response"].is_null() && record.get("response").is_some() || !record["error"].is_null();
        let response = response(record, line, notes);
        exchange.response = Response { model: response.model.or(exchange.response.model), failed, ..response };
    }
    Some(exchange)
}

/// The times of a record, so that not all of it is parsed.
pub struct Times(pub Value);

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = HashMap::<String, &'de RawValue>::deserialize(deserializer)?;
        let parse = |raw: &&RawValue| serde_json::from_str::<Value>(raw.get()).ok();
        let times = TIMES.iter().filter_map(|key| Some(((*key).to_owned(), fields.get(*key).and_then(parse)?)));
        Ok(Self(Value::Object(times.collect())))
    }
}

/// Returns when a request was sent, in milliseconds since 1970.
pub fn time(record: &Value) -> Option<i64> {
    let value = TIMES.iter().find_map(|key| record.get(*key))?;
    match value.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "a time in milliseconds is far below 2^53")]
        Some(number) => Some(if number < LARGEST_SECONDS { number * 1_000.0 } else { number } as i64),
        None => Stamp::parsed(1, value.as_str()).time,
    }
}

/// Returns a value that may be JSON written as a text.
fn parsed(value: Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(&text).ok().filter(|json| !is_plain(json)).unwrap_or(Value::String(text)),
        value => value,
    }
}

fn is_plain(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

fn body(record: &mut Value, line: u32, notes: &mut Notes) -> Option<Exchange> {
    for place in BODIES {
        let Some(found) = record.pointer_mut(place) else { continue };
        if found.is_string() {
            *found = parsed(found.take());
        }
        let listed = MESSAGES.into_iter().find(|key| is_list(&found[*key]));
        let list = match listed {
            Some(key) => found[key].take(),
            // Langfuse may have the messages themselves.
            None if place == "/input" && is_list(found) => found.take(),
            None => continue,
        };
        let text = |key: &str| found[key].as_str().map(str::to_owned);
        let (model, previous) = (text("model"), text("previous_response_id"));
        let has_tools = found["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        let mut messages = Messages::default();
        for system in SYSTEM.iter().map(|key| &found[*key]) {
            messages.system.extend(super::super::openai_chat::message::text(system));
        }
        messages.add(list, line, notes);
        let response = Response { model, ..Response::default() };
        let system = messages.system.join("\n");
        return Some(Exchange { system, said: messages.said, has_tools, previous, response, time: None });
    }
    None
}

/// Returns whether a value is a list of messages or of items.
fn is_list(value: &Value) -> bool {
    let is_message = |element: &Value| element.get("role").is_some() || element.get("type").is_some();
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_message))
}

fn telemetry(record: &mut Value, line: u32, notes: &mut Notes) -> Option<Exchange> {
    let attributes = if record["attributes"].is_object() { record.get_mut("attributes")? } else { record };
    attributes.get(TELEMETRY[1])?;
    let [system, input, output] = TELEMETRY.map(|key| attributes.get_mut(key).map(Value::take).map(parsed).unwrap_or_default());
    let (mut messages, mut answer) = (Messages::default(), Messages::default());
    for part in system.as_array().into_iter().flatten() {
        messages.system.extend(part["content"].as_str().map(str::to_owned));
    }
    messages.add(input, line, notes);
    answer.add(output, line, notes);
    let text = |key: &str| attributes[key].as_str().map(str::to_owned);
    let number = |key: &str| attributes[key].clone();
    let mut usage = serde_json::json!({"input_tokens": number("gen_ai.usage.input_tokens"), "output_tokens": number("gen_ai.usage.output_tokens")});
    if usage.as_object().is_some_and(|usage| usage.values().all(Value::is_null)) {
        usage = Value::Null;
    }
    let model = text("gen_ai.response.model").or(text("gen_ai.request.model"));
    let response = Response { said: answer.said.into_iter().next(), usage, model, id: text("gen_ai.response.id"), failed: false };
    let has_tools = attributes.get("gen_ai.tool.definitions").is_some();
    let system = messages.system.join("\n");
    Some(Exchange { system, said: messages.said, has_tools, response, ..Exchange::default() })
}

/// Takes the response out of a record: a body of one of the APIs, a message, or its text.
fn response(record: &mut Value, line: u32, notes: &mut Notes) -> Response {
    let place = ["/response/body", "/response", "/response_body", "/output"].into_iter().find(|place| {
        let found = record.pointer(place);
        found.is_some_and(|found| !found.is_null())
    });
    let usage = ["usage", "usageDetails"].iter().find_map(|key| record.get(*key)).cloned().unwrap_or_default();
    let model = record["model"].as_str().map(str::to_owned);
    let mut whole = match place {
        Some(place) => parsed(record.pointer_mut(place).map(Value::take).unwrap_or_default()),
        None if record["choices"].is_array() => record.take(),
        None => Value::Null,
    };
    let text = |key: &str| whole[key].as_str().map(str::to_owned);
    let (id, own) = (text("id"), text("model"));
    let usage = if whole["usage"].is_null() { usage } else { whole["usage"].clone() };
    let said = ["/choices/0/message", "/message", "/output", ""].iter().find_map(|place| {
        let found = whole.pointer_mut(place).filter(|found| !found.is_null())?;
        let found = match found.take() {
            // What was streamed is no text of the model.
            Value::String(text) if STREAMED.iter().any(|start| text.starts_with(start)) => return None,
            Value::String(text) => serde_json::json!({"role": "assistant", "content": text}),
            found => found,
        };
        let mut messages = Messages::default();
        if found["role"] == "assistant" || is_list(&found) {
            messages.add(found, line, notes);
        }
        messages.said.into_iter().find(|said| said.who == super::said::Who::Assistant)
    });
    Response { said, usage, model: own.or(model), id, failed: false }
}
