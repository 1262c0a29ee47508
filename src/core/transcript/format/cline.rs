//! Sessions of Cline CLI (`~/.cline/data/sessions/*/*.messages.json`).
//!
//! Messages are of Anthropic's API, with a bill in `metrics`, whose `inputTokens` include the cached ones. A `file` is an attachment, which
//! is sent as text. A compaction writes the file anew: only what it left is known, and its summary is the first message.

use serde::Deserialize;
use serde_json::{Value, json};

use super::batch::Stamp;
use super::head::Head;
use super::notes::Notes;
use super::timeline::Timeline;
use super::wire_usage::{self, Names};
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading, SessionFolder, document, jsonl};
use crate::transcript::conversation::{Call, Identity, Origin, text_wire};

/// The id of the format.
const NAME: &str = "cline";

pub const FORMAT: Format =
    Format { name: NAME, about: "Cline CLI sessions", sniff, read, folders: FOLDERS, store: None, joins: Joins::Nothing };

const FOLDERS: &[SessionFolder] =
    &[SessionFolder { variable: Some("CLINE_DATA_DIR"), home: Some(".cline/data"), sessions: "sessions" }];

const MARKS: &[&str] = &["sessionId agent updated_at messages.role", "messages.modelInfo messages.metrics"];

const NO_RESULT: &str = "[no result in the record]";

const USAGE: Names = Names {
    input: "inputTokens",
    includes_cached: true,
    cache_read: "cacheReadTokens",
    cache_write: "cacheWriteTokens",
    output: &["outputTokens"],
    reasoning: "",
};

fn sniff(head: &Head) -> Certainty {
    head.is_marked(MARKS).into()
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Message {
    role: String,
    content: Value,
    ts: Option<i64>,
    model_info: Value,
    metrics: Value,
    metadata: Value,
}

fn read(bytes: &[u8], _: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let Some(document) = document::read(bytes, "messages", usize::MAX) else {
        let why = "not a session of Cline CLI: it is no document with `messages`";
        return Reading { conversations: Vec::new(), notes: vec![Note::skipped(1, why)] };
    };
    notes.lines.extend(document.note());
    let prompt = document.field("system_prompt").map(|raw| jsonl::values::<Value>(1, raw.get().as_bytes(), &mut notes.lines));
    let mut messages: Vec<(u32, Message)> = Vec::new();
    for (line, raw) in &document.messages {
        messages.extend(jsonl::values(*line, raw.get().as_bytes(), &mut notes.lines).into_iter().map(|message| (*line, message)));
    }
    let session = document.text("sessionId");
    let mut timeline = Timeline::new("main", NAME, NO_RESULT, &mut notes);
    timeline.builder.set_identity(Identity { session, ..Identity::of(NAME) });
    if let Some(prompt) = prompt.iter().flatten().find_map(Value::as_str) {
        timeline.builder.set_system(prompt);
    }
    for (i, (line, message)) in messages.iter().enumerate() {
        timeline.begin(i, Stamp { line: *line, time: message.ts });
        match message.role.as_str() {
            "user" => user(message, *line, &mut timeline),
            "assistant" => response(message, *line, &mut timeline),
            other => {
                timeline.notes.unknown_role(*line, other);
            }
        }
    }
    let conversations = timeline.finish().into_iter().collect();
    Reading { conversations, notes: notes.finish() }
}

fn user(message: &Message, line: u32, timeline: &mut Timeline) {
    let is_summary = message.metadata["kind"].as_str().is_some_and(|kind| kind.starts_with("compaction"));
    let origin = if is_summary { Origin::Compaction } else { Origin::User };
    if is_summary {
        timeline.notes.kind(Note::info(line, "what was before this compaction is not in the file"));
    }
    for block in elements(&message.content) {
        match block["type"].as_str().unwrap_or("unknown") {
            "tool_result" => {
                let failed = block["is_error"].as_bool();
                timeline.result(block["tool_use_id"].as_str().unwrap_or_default(), result(&block["content"]), failed);
            }
            "text" if block["text"] == "" => {}
            "text" | "image" | "document" => timeline.user(block, origin),
            "file" => timeline.user(text_wire(block["content"].as_str().unwrap_or_default()), Origin::Injected),
            other => timeline.notes.unknown_type(line, "blocks", other),
        }
    }
}

/// Returns the content of a result: a text, blocks, or what a tool gave as JSON.
fn result(content: &Value) -> Value {
    let is_block = |part: &Value| matches!(part["type"].as_str(), Some("text" | "image"));
    match content {
        Value::String(_) => content.clone(),
        Value::Array(parts) if parts.iter().all(is_block) => content.clone(),
        Value::Null => json!(""),
        other => Value::String(other.to_string()),
    }
}

fn response(message: &Message, line: u32, timeline: &mut Timeline) {
    let mut wires = Vec::new();
    for block in elements(&message.content) {
        match block["type"].as_str().unwrap_or("unknown") {
            "text" if block["text"] == "" => {}
            "text" | "thinking" | "redacted_thinking" | "tool_use" => wires.push(block),
            other => timeline.notes.unknown_type(line, "blocks", other),
        }
    }
    let usage = wire_usage::named(&message.metrics, &USAGE, line, timeline.notes);
    let model = message.model_info["id"].as_str().map(str::to_owned);
    timeline.response(wires, Call { usage, model, ..Call::default() });
}

/// Returns the blocks of a message of Cline and its forks: a text is one.
pub(super) fn elements(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![text_wire(text)],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Branches;
    use super::super::shape::{lines, read as read_file};
    use super::*;

    #[test]
    fn messages_attachments_and_bills_are_read() {
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "run", "input": {}});
        let metrics = json!({"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 60, "cacheWriteTokens": 10});
        let messages = json!([
            {"role": "user", "content": [{"type": "text", "text": "so far"}], "metadata": {"kind": "compaction_summary"}},
            {"role": "user", "content": [{"type": "text", "text": "Boil it."}, {"type": "file", "path": "cup", "content": "a cup"}, {"type": "smell"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call("c1"), call("c2")], "ts": 5,
                "modelInfo": {"id": "m1"}, "metrics": metrics},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"query": "q", "result": "cold"}]},
                {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": true}]},
            {"role": "assistant", "content": "Done."},
        ]);
        let text = json!({"version": 1, "updated_at": "t", "agent": "lead", "sessionId": "s", "messages": messages, "system_prompt": "Be brief."});
        let reading = read_file(&FORMAT, &text.to_string(), Branches::Last);
        let conversation = &reading.conversations[0];
        assert_eq!(
            lines(conversation),
            [
                "u: <so far> Boil it. (a cup)",
                "a: I look. [c1 run] [c2 run]",
                "u: [c1 = [{\"query\":\"q\",\"result\":\"cold\"}]] [c2 ! no]",
                "a: Done.",
            ]
        );
        let usage = conversation.calls[0].usage.expect("a usage");
        assert_eq!([usage.input, usage.cache_read, usage.cache_write_5m, usage.output], [30, 60, 10, 7]);
        assert_eq!((conversation.system.as_deref(), conversation.calls[0].model.as_deref()), (Some("Be brief."), Some("m1")));
        assert_eq!(reading.notes.len(), 2, "{:?}", reading.notes);
    }
}
