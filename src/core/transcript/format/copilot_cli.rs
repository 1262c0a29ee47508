//! Sessions of GitHub Copilot CLI (`~/.copilot/session-state/*/events.jsonl`), read from version 1.0.
//!
//! One event a line: `{"type", "data", "id", "timestamp", "parentId"}`. What the model gets of a user message is `transformedContent`, and
//! of a result `result.content`; the rest is for the screen. Messages with one `apiCallId` are one response. Per call only the output
//! tokens are recorded. That is no usage: a bill of them alone would be a small part of the real one, so they become a note.
//!
//! By source: a compaction (`session.compaction_complete`) names its summary, and not what it kept, so only the summary replaces the
//! context.

use serde::Deserialize;
use serde_json::{Value, json};

use super::batch::Stamp;
use super::head::Head;
use super::notes::Notes;
use super::timeline::{Details, Timeline};
use super::wire_usage::{self, Names};
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading, SessionFolder, jsonl};
use crate::transcript::conversation::{Call, Identity, Origin, Role, text_wire};

/// The id of the format.
const NAME: &str = "copilot-cli";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "GitHub Copilot CLI sessions",
    sniff,
    read,
    folders: FOLDERS,
    store: None,
    joins: Joins::Nothing,
};

const FOLDERS: &[SessionFolder] = &[SessionFolder { variable: None, home: Some(".copilot"), sessions: "session-state" }];

const MARKS: &[&str] = &[
    "type=session.start data.sessionId",
    "type^=session. data.producer=copilot-agent",
    "type=user.message data.content",
    "type=assistant.message data.messageId",
    "type^=tool.execution_ data.toolCallId",
];

const NO_RESULT: &str = "[no result in the record]";

/// The text of a summary that is not in the record.
const NO_SUMMARY: &str = "[summary, which is not in the record]";

/// The bill of a summary.
const SUMMARY_USAGE: Names = Names {
    input: "input",
    includes_cached: true,
    cache_read: "cachedInput",
    cache_write: "",
    output: &["output"],
    reasoning: "",
};

/// Events that hold nothing that the model reads, or repeat it.
const BOOKKEEPING: [&str; 18] = [
    "abort",
    "assistant.intent",
    "assistant.reasoning",
    "assistant.turn_end",
    "assistant.turn_start",
    "assistant.usage",
    "hook.end",
    "hook.start",
    "session.compaction_start",
    "session.idle",
    "session.info",
    "session.mode_changed",
    "session.model_change",
    "session.resume",
    "session.shutdown",
    "session.title_changed",
    "tool.execution_partial_result",
    "tool.execution_start",
];

fn sniff(head: &Head) -> Certainty {
    head.is_marked(MARKS).into()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event {
    r#type: String,
    timestamp: Option<String>,
    data: Value,
}

/// A response whose messages are still being read.
struct Open {
    id: Option<String>,
    wires: Vec<Value>,
    call: Call,
    event: usize,
    at: Stamp,
}

fn read(bytes: &[u8], _: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let mut events: Vec<(u32, Event)> = Vec::new();
    for (line, json) in jsonl::lines(bytes) {
        events.extend(jsonl::values(line, json, &mut notes.lines).into_iter().map(|event| (line, event)));
    }
    let mut timeline = Timeline::new("main", NAME, NO_RESULT, &mut notes);
    timeline.builder.set_identity(Identity::of(NAME));
    let mut open: Option<Open> = None;
    let mut output = 0_u64;
    for (i, (line, event)) in events.iter().enumerate() {
        let at = Stamp::parsed(*line, event.timestamp.as_deref());
        if event.r#type == "assistant.message" {
            let id = text(&event.data, "apiCallId").map(str::to_owned);
            if open.as_ref().is_some_and(|open| open.id.is_none() || open.id != id) {
                close(&mut open, &mut timeline);
            }
            let call = call(&event.data, at);
            output = output.saturating_add(event.data.get("outputTokens").and_then(Value::as_u64).unwrap_or(0));
            let open = open.get_or_insert_with(|| Open { id, wires: Vec::new(), call: call.clone(), event: i, at });
            open.wires.extend(response(&event.data));
        } else if !BOOKKEEPING.contains(&event.r#type.as_str()) {
            close(&mut open, &mut timeline);
            read_event(i, event, at, &mut timeline);
        }
    }
    close(&mut open, &mut timeline);
    if output > 0 {
        let what = format!("of its calls the session records only the output tokens ({output} in all), so it has no bill");
        timeline.notes.kind(Note::info(1, what));
    }
    let conversations = timeline.finish().into_iter().collect();
    Reading { conversations, notes: notes.finish() }
}

fn text<'v>(data: &'v Value, key: &str) -> Option<&'v str> {
    data.get(key).and_then(Value::as_str)
}

fn read_event(i: usize, event: &Event, at: Stamp, timeline: &mut Timeline) {
    let data = &event.data;
    match event.r#type.as_str() {
        "session.start" => {
            let [session, version] = ["sessionId", "copilotVersion"].map(|key| text(data, key).map(str::to_owned));
            timeline.builder.set_identity(Identity { version, session, ..Identity::of(NAME) });
            if let Some(folder) = data.pointer("/context/cwd").and_then(Value::as_str) {
                timeline.builder.set_project(folder);
            }
        }
        "system.message" => {
            if let Some(prompt) = text(data, "content").filter(|_| timeline.builder.so_far().system.is_none()) {
                timeline.builder.set_system(prompt);
            }
        }
        "user.message" => {
            timeline.begin(i, at);
            let sent = text(data, "transformedContent").filter(|text| !text.is_empty()).or_else(|| text(data, "content"));
            timeline.user_text(sent.unwrap_or_default(), Origin::User);
            if data.get("attachments").and_then(Value::as_array).is_some_and(|attachments| !attachments.is_empty()) {
                timeline.notes.kind(Note::info(at.line, "attachments of a message are read only as far as its text holds them"));
            }
        }
        "tool.execution_complete" => {
            timeline.begin(i, at);
            let content = data.pointer("/result/content").or_else(|| data.pointer("/error/message")).cloned();
            let content = content.filter(|content| content.is_string()).unwrap_or_else(|| json!(""));
            let failed = data.get("success").and_then(Value::as_bool).map(|success| !success);
            timeline.result(text(data, "toolCallId").unwrap_or_default(), content, failed);
        }
        "session.compaction_complete" => {
            timeline.begin(i, at);
            compaction(data, at, timeline);
        }
        other => {
            timeline.notes.unknown_type(at.line, "events", other);
        }
    }
}

/// Returns the blocks of a message of a response.
fn response(data: &Value) -> Vec<Value> {
    let some = |key: &str| text(data, key).filter(|text| !text.is_empty());
    let mut wires: Vec<Value> = Vec::new();
    wires.extend(some("reasoningText").map(|thought| json!({"type": "thinking", "thinking": thought})));
    wires.extend(some("content").map(text_wire));
    for request in data.get("toolRequests").and_then(Value::as_array).into_iter().flatten() {
        let input = request.get("arguments").filter(|arguments| arguments.is_object()).cloned();
        let input = input.unwrap_or_else(|| json!({"arguments": request.get("arguments")}));
        let (id, name) = (text(request, "toolCallId").unwrap_or_default(), text(request, "name").unwrap_or("unknown"));
        wires.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    wires
}

fn call(data: &Value, at: Stamp) -> Call {
    let owned = |key: &str| text(data, key).map(str::to_owned);
    let (model, message_id, request_id) = (owned("model"), owned("messageId"), owned("requestId"));
    Call { model, message_id, request_id, time: at.time, ..Call::default() }
}

fn close(open: &mut Option<Open>, timeline: &mut Timeline) {
    if let Some(Open { wires, call, event, at, .. }) = open.take() {
        timeline.begin(event, at);
        timeline.response(wires, call);
    }
}

fn compaction(data: &Value, at: Stamp, timeline: &mut Timeline) {
    if data.get("success").is_some_and(|success| success == false) {
        return timeline.notes.kind(Note::info(at.line, "a compaction failed; the context stayed"));
    }
    timeline.settle();
    let what = "the record does not say which messages a compaction kept; only its summary is read";
    timeline.notes.kind(Note::info(at.line, what));
    let summary = text(data, "summaryContent").filter(|text| !text.is_empty()).unwrap_or(NO_SUMMARY);
    let into = vec![timeline.new_message(Role::User, vec![text_wire(summary)], Origin::Compaction)];
    let tokens = |key: &str| data.get(key).and_then(Value::as_u64);
    let bill = data.get("compactionTokensUsed").unwrap_or(&Value::Null);
    let details = Details {
        trigger: text(data, "trigger").map(str::to_owned),
        tokens_before: tokens("preCompactionTokens"),
        tokens_after: tokens("postCompactionTokens"),
        summary_usage: wire_usage::named(bill, &SUMMARY_USAGE, at.line, timeline.notes),
    };
    timeline.fold(into, details);
}

#[cfg(test)]
mod tests;
