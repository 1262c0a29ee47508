//! Sessions of Qwen Code (`~/.qwen/projects/*/chats/*.jsonl`), read from version 0.24.
//!
//! One record a line. Records name their parent, so rewinds are branches ([`tree`]). Their messages are contents of the Gemini API
//! ([`gemini`]). `system` records are bookkeeping, but for `chat_compression`: it holds the whole new context, which the next request
//! begins with. What that repeats of the conversation are its own blocks. The request for the summary is not a record.
//!
//! A sub-agent has a file of its own (`subagents/<session>/agent-<id>.jsonl`), whose records name the session of its parent, and a file
//! beside it that names its model ([`agent`]).
//!
//! What was sent and is not in the file: the reminder of skills and of the environment before the first message of a session.

mod agent;
mod session;

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
use crate::transcript::conversation::{Call, Message, Origin, Role, text_wire};

/// The id of the format.
const NAME: &str = "qwen-code";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "Qwen Code sessions, with rewinds and compressions",
    sniff,
    read,
    folders: FOLDERS,
    store: None,
    joins: Joins::Beside { file: agent::file, transcript: agent::transcript },
};

const FOLDERS: &[SessionFolder] = &[SessionFolder { variable: None, home: Some(".qwen"), sessions: "projects" }];

/// Claude Code's records have the same ids, and `message.content`.
const MARKS: &[&str] = &["uuid sessionId message.parts", "uuid sessionId systemPayload", "uuid sessionId provenance"];

/// What the harness sends for a call without a result.
const NO_RESULT: &str = "[no result in the record]";

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
    /// The sub-agent whose record it is.
    agent_id: Option<String>,
    /// The number of the request, on the first record of a response of a sub-agent.
    agent_round: Value,
    /// What gave a message to a sub-agent that works.
    external_input_kind: Option<String>,
    /// In a fork: the session and the record that this record copies.
    forked_from: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Content {
    role: Option<String>,
    parts: Value,
}

impl Record {
    fn is_compression(&self) -> bool {
        self.is_system("chat_compression")
    }

    fn is_system(&self, subtype: &str) -> bool {
        self.r#type == "system" && self.subtype.as_deref() == Some(subtype)
    }

    fn is_message(&self) -> bool {
        self.is_compression()
            || self.is_system(agent::BOOTSTRAP)
            || matches!(self.r#type.as_str(), "user" | "assistant" | "tool_result")
    }
}

fn read(bytes: &[u8], options: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let model = options.others.first().and_then(|beside| agent::model(beside, &mut notes));
    let mut records: Vec<Record> = Vec::new();
    for (line, json) in jsonl::lines(bytes) {
        let read = jsonl::values::<Record>(line, json, &mut notes.lines).into_iter();
        records.extend(read.map(|record| Record { line, model: record.model.or_else(|| model.clone()), ..record }));
    }
    session::note_unknown(&records, &mut notes);
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

/// Reads one branch. Of the records `left` on other branches, only what was billed is kept.
fn conversation(
    name: String,
    records: &[Record],
    branch: &[usize],
    left: &[usize],
    notes: &mut Notes,
) -> Option<crate::transcript::conversation::Conversation> {
    let mut timeline = Timeline::new(name, NAME, NO_RESULT, notes);
    timeline.builder.set_identity(session::identity(records, branch));
    let mut launch = agent::Launch::new(records, branch);
    let mut response: Option<Response> = None;
    for (i, record) in branch.iter().map(|i| (*i, &records[*i])) {
        if let Some(folder) = &record.cwd {
            timeline.builder.set_project(folder);
        }
        if !record.is_message() {
            continue;
        }
        if record.r#type == "assistant" {
            match response.as_mut().filter(|_| agent::goes_on(record)) {
                Some(open) => open.wires.extend(said(record, &mut timeline)),
                None => {
                    response.take().into_iter().for_each(|open| open.end(&mut timeline));
                    timeline.begin(i, Stamp::parsed(record.line, record.timestamp.as_deref()));
                    response = Some(Response { record, wires: said(record, &mut timeline) });
                }
            }
            continue;
        }
        response.take().into_iter().for_each(|open| open.end(&mut timeline));
        timeline.begin(i, Stamp::parsed(record.line, record.timestamp.as_deref()));
        match record.r#type.as_str() {
            "system" if record.is_compression() => compression(record, &mut timeline),
            "system" => agent::bootstrap(record, &mut timeline),
            "user" if let Some(prompt) = launch.prompt() => timeline.user(text_wire(prompt), Origin::User),
            _ => user(record, &mut timeline),
        }
    }
    response.into_iter().for_each(|open| open.end(&mut timeline));
    let is_own = |record: &&Record| record.r#type == "assistant" && !agent::goes_on(record) && record.forked_from.is_null();
    for record in left.iter().map(|record| &records[*record]).filter(is_own) {
        let call = call(record, timeline.notes);
        timeline.builder.other_branch(call);
    }
    timeline.finish()
}

/// A response whose records are being read.
struct Response<'r> {
    /// Its first record, which has its usage.
    record: &'r Record,
    wires: Vec<Value>,
}

impl Response<'_> {
    fn end(self, timeline: &mut Timeline) {
        if let Some(window) = self.record.context_window_size {
            timeline.builder.set_window(window);
        }
        if !self.record.forked_from.is_null() {
            let why =
                "a response is copied from the session that this one was forked from: it is context, not a call of this session";
            timeline.notes.kind(Note::info(self.record.line, why));
            return timeline.earlier_response(self.wires);
        }
        let call = call(self.record, timeline.notes);
        timeline.response(self.wires, call);
    }
}

fn parts(record: &Record, notes: &mut Notes) -> Vec<Part> {
    gemini::parts(record.message.as_ref().map_or(&Value::Null, |message| &message.parts), record.line, notes)
}

fn user(record: &Record, timeline: &mut Timeline) {
    // Records of before provenance was recorded are of a person, unless they hold results.
    let is_typed = record.provenance.as_deref().is_none_or(|provenance| provenance == "real_user")
        && record.external_input_kind.as_deref() != Some("notification")
        && record.r#type == "user";
    let origin = if is_typed { Origin::User } else { Origin::Injected };
    for part in parts(record, timeline.notes) {
        match part {
            Part::Block(wire) => timeline.user(wire, origin),
            Part::Result(answer) => timeline.result(&answer.id, answer.content, answer.is_error.then_some(true)),
        }
    }
}

/// Returns the blocks of a record of the model.
fn said(record: &Record, timeline: &mut Timeline) -> Vec<Value> {
    let blocks = |part| if let Part::Block(wire) = part { Some(wire) } else { None };
    parts(record, timeline.notes).into_iter().filter_map(blocks).collect()
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
