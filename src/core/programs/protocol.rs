//! The lines of the protocol, version 1: what a program gets, and what it answers.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shape;
use crate::engine::external::{
    Answer, Decision, ExternalError, ExternalRequest, Item, Listing, MessageId, OwnSummary, SessionStart, Shape, SummaryWish,
    WrittenFile, WrittenMessage,
};
use crate::transcript::format::jsonl::replace_lone_surrogates;
use crate::util::toml_span::friendly_serde_error;

/// Version of the protocol.
pub const PROTOCOL: u32 = 1;

/// A line that a program gets.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Start {
        protocol: u32,
        session: &'a str,
        format: &'a str,
        window: u64,
        overhead: u64,
        shape: Option<Shape>,
    },
    Request {
        call: usize,
        estimate: u64,
        last_read: Option<u64>,
        again: bool,
        inserted: &'a [MessageId],
        gone: &'a [MessageId],
        changed: Vec<shape::Wire<'a>>,
        messages: Vec<shape::Wire<'a>>,
    },
    Summary {
        call: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
    },
}

impl Line<'_> {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("a line holds only texts, numbers, lists and objects with text keys");
        bytes.push(b'\n');
        bytes
    }
}

/// Returns the line that begins a session.
pub fn start(start: &SessionStart) -> Vec<u8> {
    let SessionStart { session, format, window, overhead, shape, .. } = *start;
    Line::Start { protocol: PROTOCOL, session, format, window, overhead, shape }.bytes()
}

/// Returns the line that asks about a request, with what changed since the last one.
pub fn request(request: &ExternalRequest, shape: Shape) -> Vec<u8> {
    let wires = |messages: &'_ [_]| messages.iter().map(|message| shape::to_wire(shape, message)).collect();
    let line = Line::Request {
        call: request.call + 1,
        estimate: request.estimate,
        last_read: request.last_read,
        again: request.again,
        inserted: &request.inserted,
        gone: &request.gone,
        changed: wires(&request.changed),
        messages: wires(&request.messages),
    };
    line.bytes()
}

/// Returns the line that gives the summary that an answer asked for, or why there is none.
pub fn summary(call: usize, summary: Result<&str, &str>) -> Vec<u8> {
    Line::Summary { call: call + 1, text: summary.ok(), error: summary.err() }.bytes()
}

/// The answer to `start`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Started {
    protocol: u32,
    shape: Option<Shape>,
}

/// The answer to `request` and to `summary`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireAnswer {
    call: usize,
    messages: Option<Vec<Value>>,
    #[serde(default)]
    drop: Vec<MessageId>,
    #[serde(default)]
    replace: Vec<Value>,
    #[serde(default)]
    scope: WireScope,
    #[serde(default)]
    again: bool,
    #[serde(default)]
    files: Vec<WireFile>,
    #[serde(default)]
    summaries: Vec<WireSummary>,
    ask: Option<WireAsk>,
}

#[derive(Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WireScope {
    #[default]
    State,
    Request,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireFile {
    path: String,
    text: Option<String>,
    tool_use_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireSummary {
    of: Vec<MessageId>,
    #[serde(default)]
    prompt: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireAsk {
    of: Vec<MessageId>,
    #[serde(default)]
    system: String,
    prompt: String,
    max_tokens: u64,
}

/// Why a session cannot begin if no one says in which form the messages are.
const UNKNOWN_SHAPE: &str = "it is not known in which form it reads messages, `anthropic` or `openai`: let it answer the start with \
                             {\"protocol\": 1, \"shape\": \"openai\"}, or name the form with --set program.shape=openai";

/// Reads the answer to `start`, and returns the form of the messages: the one that the policy names, or else the program.
///
/// # Errors
///
/// Fails if the line is no such answer, if it speaks another version of the protocol, if the two name different forms, and if neither
/// names one: a program that gets messages in a form that it does not know changes nothing, without a word.
pub fn started(line: &str, of_policy: Option<Shape>) -> Result<Shape, ExternalError> {
    let Started { protocol, shape } =
        parse(line).map_err(|error| format!("it does not answer the start with {{\"protocol\": {PROTOCOL}}}: {error}"))?;
    if protocol != PROTOCOL {
        return Err(format!("it speaks version {protocol} of the protocol; this is version {PROTOCOL}").into());
    }
    if let (Some(wanted), Some(own)) = (of_policy, shape)
        && wanted != own
    {
        let [wanted, own] = [wanted, own].map(Shape::name);
        return Err(format!(
            "it reads messages in the form `{own}`, and its policy has shape = \"{wanted}\": change one of the two"
        )
        .into());
    }
    of_policy.or(shape).ok_or_else(|| UNKNOWN_SHAPE.to_owned().into())
}

/// Reads an answer to a request.
///
/// # Errors
///
/// Fails if the line is no answer to this call.
pub fn decision(line: &str, call: usize, shape: Shape) -> Result<Decision, ExternalError> {
    let answer: WireAnswer = parse(line).map_err(|error| format!("its answer cannot be read: {error}"))?;
    if answer.call != call + 1 {
        return Err(format!("it answered call {}, and was asked about call {}", answer.call, call + 1).into());
    }
    let names_changes = !answer.drop.is_empty() || !answer.replace.is_empty();
    let for_request_only = answer.scope == WireScope::Request;
    if answer.again && !for_request_only {
        return Err("`again` is for an answer with `scope`: \"request\"".to_owned().into());
    }
    if let Some(WireAsk { of, system, prompt, max_tokens }) = answer.ask {
        if names_changes || answer.again || answer.messages.is_some() || !answer.files.is_empty() || !answer.summaries.is_empty()
        {
            return Err("an answer with `ask` has nothing else: the changes follow when the summary is there".to_owned().into());
        }
        return Ok(Decision::Ask(SummaryWish { of, system, prompt, max_tokens }));
    }
    let listing = match answer.messages {
        Some(_) if names_changes => return Err("an answer has either `messages` or `drop` and `replace`".to_owned().into()),
        Some(messages) => Listing::All(messages.into_iter().map(|item| read_item(item, shape)).collect::<Result<_, _>>()?),
        None => {
            let replace = answer.replace.into_iter().map(|message| read_message(message, shape));
            Listing::Changes { drop: answer.drop, replace: replace.collect::<Result<_, _>>()? }
        }
    };
    let files = answer.files.into_iter().map(|WireFile { path, text, tool_use_id }| WrittenFile { path, text, tool_use_id });
    let summaries = answer.summaries.into_iter().map(|WireSummary { of, prompt, text }| OwnSummary { of, prompt, text });
    Ok(Decision::Answer(Answer {
        listing,
        for_request_only,
        again: answer.again,
        files: files.collect(),
        summaries: summaries.collect(),
    }))
}

/// Parses a line; the error is without the names of Rust's types, and with the column. Half of a surrogate pair stays, as in transcripts.
fn parse<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(&replace_lone_surrogates(Cow::Borrowed(line))).map_err(|error| {
        let message = error.to_string();
        let what = message.strip_suffix(&format!(" at line {} column {}", error.line(), error.column())).unwrap_or(&message);
        format!("{}, at column {}", friendly_serde_error(what), error.column())
    })
}

fn read_item(item: Value, shape: Shape) -> Result<Item, String> {
    match item {
        Value::Number(id) => match id.as_u64() {
            Some(id) => Ok(Item::Kept(id)),
            None => Err(format!("`messages` holds {id}, which is no id")),
        },
        message => read_message(message, shape).map(Item::Written),
    }
}

/// Reads a message that a program wrote: with its `id`, or with the ids that it `replaces`.
fn read_message(message: Value, shape: Shape) -> Result<WrittenMessage, String> {
    let Value::Object(mut fields) = message else {
        return Err("a message is an id or an object with `role` and `content`".to_owned());
    };
    let (id, replaces) = (fields.remove("id"), fields.remove("replaces"));
    let replaces = match (id, replaces) {
        (Some(_), Some(_)) => return Err("a message has either `id` or `replaces`".to_owned()),
        (Some(id), None) => id.as_u64().map(|id| vec![id]),
        (None, Some(ids)) => ids.as_array().and_then(|ids| ids.iter().map(Value::as_u64).collect()),
        (None, None) => Some(Vec::new()),
    };
    let replaces = replaces.ok_or("the `id` of a message is a number, and `replaces` is a list of ids")?;
    let name = replaces.first().map_or("a new message".to_owned(), |id| format!("the message that replaces {id}"));
    let shape::Parsed { role, is_string_content, blocks, .. } =
        shape::from_wire(shape, fields).map_err(|what| format!("{name}: {what}"))?;
    Ok(WrittenMessage { replaces, role, is_string_content, blocks })
}
