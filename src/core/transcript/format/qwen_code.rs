//! Sessions of Qwen Code (`~/.qwen/projects/*/chats/*.jsonl`), read from version 0.24.
//!
//! One record a line. Records name their parent, so rewinds are branches ([`tree`]). Their messages are contents of the Gemini API
//! ([`gemini`]). `system` records are bookkeeping, but for `chat_compression`: it holds the whole new context, which the next request
//! begins with. What that repeats of the conversation are its own blocks. The request for the summary is not a record.
//!
//! What was sent and is not in the file: the reminder of skills and of the environment before the first message of a session.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;

use super::batch::Stamp;
use super::gemini::{self, Part};
use super::head::Head;
use super::notes::Notes;
use super::timeline::{Details, Timeline};
use super::wire_usage::{self, Names};
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading, SessionFolder, jsonl, tree};
use crate::transcript::conversation::{Call, Identity, Message, Origin, Role};

/// The id of the format.
const NAME: &str = "qwen-code";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "Qwen Code sessions, with rewinds and compressions",
    sniff,
    read,
    folders: FOLDERS,
    store: None,
    joins: Joins::Nothing,
};

const FOLDERS: &[SessionFolder] = &[SessionFolder { variable: None, home: Some(".qwen"), sessions: "projects" }];

/// Claude Code's records have the same ids, and `message.content`.
const MARKS: &[&str] = &["uuid sessionId message.parts", "uuid sessionId systemPayload", "uuid sessionId provenance"];

/// What the harness sends for a call without a result.
const NO_RESULT: &str = "[no result in the record]";

/// Subtypes of `system` records that hold nothing that the model reads.
const BOOKKEEPING: [&str; 2] = ["ui_telemetry", "attribution_snapshot"];

/// `compressionStatus` of a compression that was done; the others are failures.
const DONE: i64 = 1;

/// `promptTokenCount` includes the cached tokens, and `candidatesTokenCount` excludes the thoughts.
const USAGE: Names = Names {
    input: "promptTokenCount",
    includes_cached: true,
    cache_read: "cachedContentTokenCount",
    cache_write: "",
    output: &["candidatesTokenCount", "thoughtsTokenCount"],
    reasoning: "thoughtsTokenCount",
};

fn sniff(head: &Head) -> Certainty {
    head.is_marked(MARKS).into()
}

/// A line of a session, with the fields that a conversation needs.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Record {
    #[serde(skip)]
    line: u32,
    uuid: Option<String>,
    parent_uuid: Option<String>,
    session_id: Option<String>,
    version: Option<String>,
    timestamp: Option<String>,
    r#type: String,
    subtype: Option<String>,
    provenance: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    message: Option<Content>,
    usage_metadata: Value,
    context_window_size: Option<u64>,
    system_payload: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Content {
    role: Option<String>,
    parts: Value,
}

impl Record {
    fn is_compression(&self) -> bool {
        self.r#type == "system" && self.subtype.as_deref() == Some("chat_compression")
    }

    fn is_message(&self) -> bool {
        self.is_compression() || matches!(self.r#type.as_str(), "user" | "assistant" | "tool_result")
    }
}

fn read(bytes: &[u8], options: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let mut records: Vec<Record> = Vec::new();
    for (line, json) in jsonl::lines(bytes) {
        records.extend(jsonl::values(line, json, &mut notes.lines).into_iter().map(|record| Record { line, ..record }));
    }
    note_unknown(&records, &mut notes);
    let parents = parents(&records);
    let is_message = |record: usize| records[record].is_message();
    let tree = tree::Tree { parents: &parents, is_message: &is_message, line: &|record| records[record].line };
    let conversations =
        tree.read(options.branches, &mut notes, |name, branch, left, notes| conversation(name, &records, branch, left, notes));
    Reading { conversations, notes: notes.finish() }
}

/// Returns the parent of each record. If it names one that is not in the file, that is the record before it.
fn parents(records: &[Record]) -> Vec<Option<usize>> {
    let mut known = HashMap::new();
    let mut parents = Vec::with_capacity(records.len());
    for (i, record) in records.iter().enumerate() {
        let before = i.checked_sub(1);
        parents.push(record.parent_uuid.as_ref().and_then(|parent| known.get(parent).copied().or(before)));
        if let Some(id) = &record.uuid {
            known.insert(id, i);
        }
    }
    parents
}

fn note_unknown(records: &[Record], notes: &mut Notes) {
    for record in records.iter().filter(|record| !record.is_message()) {
        let kind = record.subtype.as_deref().unwrap_or(&record.r#type);
        if record.r#type != "system" || !BOOKKEEPING.contains(&kind) {
            notes.unknown_type(record.line, "records", kind);
        }
    }
}

/// Reads one branch. Of the records `left` on other branches, only what was billed is kept.
fn conversation(
    name: String,
    records: &[Record],
    branch: &[usize],
    left: &[usize],
    notes: &mut Notes,
) -> Option<crate::transcript::conversation::Conversation> {
    let mut timeline = Timeline::new(name, NAME, NO_RESULT, notes);
    if let Some(Record { session_id, version, .. }) = branch.last().map(|last| &records[*last]) {
        let (session, version) = (session_id.clone(), version.clone());
        timeline.builder.set_identity(Identity { version, session, ..Identity::of(NAME) });
    }
    for (i, record) in branch.iter().map(|i| (*i, &records[*i])) {
        if let Some(folder) = &record.cwd {
            timeline.builder.set_project(folder);
        }
        if !record.is_message() {
            continue;
        }
        timeline.begin(i, Stamp::parsed(record.line, record.timestamp.as_deref()));
        match record.r#type.as_str() {
            "assistant" => response(record, &mut timeline),
            "system" => compression(record, &mut timeline),
            _ => user(record, &mut timeline),
        }
    }
    for record in left.iter().map(|record| &records[*record]).filter(|record| record.r#type == "assistant") {
        let call = call(record, timeline.notes);
        timeline.builder.other_branch(call);
    }
    timeline.finish()
}

fn parts(record: &Record, notes: &mut Notes) -> Vec<Part> {
    gemini::parts(record.message.as_ref().map_or(&Value::Null, |message| &message.parts), record.line, notes)
}

fn user(record: &Record, timeline: &mut Timeline) {
    // Records of before provenance was recorded are of a person, unless they hold results.
    let is_typed = record.provenance.as_deref().is_none_or(|provenance| provenance == "real_user") && record.r#type == "user";
    let origin = if is_typed { Origin::User } else { Origin::Injected };
    for part in parts(record, timeline.notes) {
        match part {
            Part::Block(wire) => timeline.user(wire, origin),
            Part::Result(answer) => timeline.result(&answer.id, answer.content, answer.is_error.then_some(true)),
        }
    }
}

fn response(record: &Record, timeline: &mut Timeline) {
    if let Some(window) = record.context_window_size {
        timeline.builder.set_window(window);
    }
    let blocks = |part| if let Part::Block(wire) = part { Some(wire) } else { None };
    let wires = parts(record, timeline.notes).into_iter().filter_map(blocks).collect();
    let call = call(record, timeline.notes);
    timeline.response(wires, call);
}

fn call(record: &Record, notes: &mut Notes) -> Call {
    let usage = wire_usage::named(&record.usage_metadata, &USAGE, record.line, notes);
    let time = Stamp::parsed(record.line, record.timestamp.as_deref()).time;
    Call { usage, model: record.model.clone(), time, ..Call::default() }
}

fn compression(record: &Record, timeline: &mut Timeline) {
    let info = |key: &str| record.system_payload.get("info").and_then(|info| info.get(key));
    if info("compressionStatus").and_then(Value::as_i64).is_some_and(|status| status != DONE) {
        return timeline.notes.kind(Note::info(record.line, "a compression failed; the context stayed"));
    }
    let Some(history) = record.system_payload.get("compressedHistory").and_then(Value::as_array) else {
        return timeline.notes.kind(Note::skipped(record.line, "a compression has no `compressedHistory`; it was skipped"));
    };
    timeline.settle();
    let (mut into, mut used): (Vec<Message>, _) = (Vec::new(), HashSet::new());
    for content in history {
        let role = if content.get("role").is_some_and(|role| role == "model") { Role::Assistant } else { Role::User };
        let mut message = timeline.new_message(role, Vec::new(), Origin::Compaction);
        for part in gemini::parts(content.get("parts").unwrap_or(&Value::Null), record.line, timeline.notes) {
            let wire = match part {
                Part::Block(wire) => wire,
                Part::Result(answer) => answer.wire(),
            };
            message.blocks.push(timeline.original(wire, &mut used));
        }
        into.push(message);
    }
    let tokens = |key: &str| info(key).and_then(Value::as_u64);
    let details = Details {
        trigger: info("triggerReason").and_then(Value::as_str).map(str::to_owned),
        tokens_before: tokens("originalTokenCount"),
        tokens_after: tokens("newTokenCount"),
        summary_usage: None,
    };
    timeline.fold(into, details);
}

#[cfg(test)]
mod tests;
