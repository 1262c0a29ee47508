//! Sessions of pi (`~/.pi/agent/sessions/*/*.jsonl`), versions 1 to 3, and of the agents that were made from it.
//!
//! One entry a line. Since version 2 entries name their parent; the branch of the last entry is the conversation ([`tree`]). Version 1 is
//! a list. A `compaction` keeps the entries from `firstKeptEntryId` on (version 1: `firstKeptEntryIndex`, the line of the file from 0); its
//! summary is a user message with fixed words around it. If it split a turn, two summaries were asked for: `summary` holds both, and
//! `usage` is their sum.
//!
//! What the user ran (`bashExecution`), and what extensions and branches add (`custom_message`, `branch_summary`), is text of the harness.
//! A response that was aborted or failed is not sent again; what was billed for it is kept as that of another branch.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::{Value, json};

use super::batch::Stamp;
use super::head::Head;
use super::notes::Notes;
use super::timeline::{Details, Timeline};
use super::wire_usage::{self, Names};
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading, SessionFolder, jsonl, tree};
use crate::transcript::conversation::{Call, Conversation, Identity, Origin, Role, Usage, text_wire};
use crate::util::text::recorded_file_name;

mod said;

/// The id of the format.
const NAME: &str = "pi";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "pi sessions of versions 1 to 3, with branches and compactions",
    sniff,
    read,
    folders: FOLDERS,
    store: None,
    joins: Joins::Nothing,
};

/// pi, and two agents that keep its format.
const FOLDERS: &[SessionFolder] = &[
    SessionFolder { variable: Some("PI_CODING_AGENT_DIR"), home: Some(".pi/agent"), sessions: "sessions" },
    SessionFolder { variable: None, home: Some(".omp/agent"), sessions: "sessions" },
    SessionFolder { variable: None, home: Some(".prime/agent"), sessions: "sessions" },
    SessionFolder { variable: None, home: Some(".openclaw/agents"), sessions: "*/sessions" },
];

const MARKS: &[&str] = &[
    "type=session cwd id timestamp",
    "type=model_change modelId",
    "type=thinking_level_change thinkingLevel",
    "type=message message.role=toolResult",
    "type=message message.content.type=toolCall",
];

/// What pi sends for a call without a result.
const NO_RESULT: &str = "No result provided";

/// `input` excludes the cached tokens.
const USAGE: Names = Names {
    input: "input",
    includes_cached: false,
    cache_read: "cacheRead",
    cache_write: "cacheWrite",
    output: &["output"],
    reasoning: "reasoning",
};

/// Entries that hold nothing that the model reads.
const BOOKKEEPING: [&str; 6] = ["session", "model_change", "thinking_level_change", "custom", "label", "session_info"];

fn sniff(head: &Head) -> Certainty {
    head.is_marked(MARKS).into()
}

/// A line of a session.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Entry {
    #[serde(skip)]
    line: u32,
    r#type: String,
    id: Option<String>,
    parent_id: Option<String>,
    timestamp: Option<String>,
    cwd: Option<String>,
    /// Path of the session's file from which this one was made, a fork most often (pi 0.87.1, `session-manager.js`).
    parent_session: Option<String>,
    message: Option<Box<Message>>,
    /// Of a compaction or of a branch.
    summary: Option<String>,
    first_kept_entry_id: Option<String>,
    first_kept_entry_index: Option<usize>,
    tokens_before: Option<u64>,
    usage: Value,
    from_hook: Option<bool>,
    /// Of a `custom_message`.
    content: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Message {
    role: String,
    content: Value,
    model: Option<String>,
    response_id: Option<String>,
    usage: Value,
    stop_reason: Option<String>,
    tool_call_id: Option<String>,
    is_error: Option<bool>,
    // Of what the user ran, see [`said::execution`]. A flattened struct would be read twice, with all of the content.
    command: Option<String>,
    output: Option<String>,
    exit_code: Option<i64>,
    cancelled: Option<bool>,
    truncated: Option<bool>,
    full_output_path: Option<String>,
    /// The user ran it with `!!`: the model does not see it.
    exclude_from_context: Option<bool>,
    /// The prompt of the system, in parts.
    sections: serde_json::Map<String, Value>,
}

impl Entry {
    fn is_message(&self) -> bool {
        matches!(self.r#type.as_str(), "message" | "compaction" | "custom_message" | "branch_summary")
    }

    fn is_response(&self) -> bool {
        self.message.as_ref().is_some_and(|message| message.role == "assistant")
    }
}

fn read(bytes: &[u8], options: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let mut entries: Vec<Entry> = Vec::new();
    for (line, json) in jsonl::lines(bytes) {
        entries.extend(jsonl::values(line, json, &mut notes.lines).into_iter().map(|entry| Entry { line, ..entry }));
    }
    for entry in entries.iter().filter(|entry| !entry.is_message() && !BOOKKEEPING.contains(&entry.r#type.as_str())) {
        notes.unknown_type(entry.line, "entries", &entry.r#type);
    }
    let parents = parents(&entries);
    let is_message = |entry: usize| entries[entry].is_message();
    let tree = tree::Tree { parents: &parents, is_message: &is_message, line: &|entry| entries[entry].line };
    let conversations =
        tree.read(options.branches, &mut notes, |name, branch, left, notes| conversation(name, &entries, branch, left, notes));
    Reading { conversations, notes: notes.finish() }
}

/// Returns the parent of each entry: of one without an id, and of one that names a parent that is not in the file, the one before it.
fn parents(entries: &[Entry]) -> Vec<Option<usize>> {
    let mut known = HashMap::new();
    let mut parents = Vec::with_capacity(entries.len());
    for (i, entry) in entries.iter().enumerate() {
        let before = i.checked_sub(1);
        let is_root = entry.id.is_some() && entry.parent_id.is_none() && entry.r#type != "session";
        let parent = entry.parent_id.as_ref().and_then(|parent| known.get(parent).copied());
        parents.push(parent.or(before.filter(|_| !is_root)));
        if let Some(id) = entry.id.as_ref().filter(|_| entry.r#type != "session") {
            known.insert(id, i);
        }
    }
    parents
}

/// Reads one branch. Of the entries `left` on other branches, only what was billed is kept.
fn conversation(name: String, entries: &[Entry], branch: &[usize], left: &[usize], notes: &mut Notes) -> Option<Conversation> {
    let mut timeline = Timeline::new(name, NAME, NO_RESULT, notes);
    let header = entries.iter().find(|entry| entry.r#type == "session");
    let parent = header.and_then(|header| Some(id_in(header.parent_session.as_deref()?).to_owned()));
    let session = header.and_then(|header| header.id.clone());
    timeline.builder.set_identity(Identity { session, parent, ..Identity::of(NAME) });
    if let Some(folder) = entries.iter().find_map(|entry| entry.cwd.as_ref()) {
        timeline.builder.set_project(folder);
    }
    for (i, entry) in branch.iter().map(|i| (*i, &entries[*i])).filter(|(_, entry)| entry.is_message()) {
        timeline.begin(i, stamp(entry));
        match (entry.r#type.as_str(), &entry.message) {
            ("message", Some(message)) => read_message(entry, message, &mut timeline),
            ("compaction", _) => compaction(entry, entries, branch, &mut timeline),
            ("branch_summary", _) => {
                timeline.user_text(&said::branch(entry.summary.as_deref().unwrap_or_default()), Origin::Injected);
            }
            ("custom_message", _) => user(&entry.content, Origin::Injected, entry.line, &mut timeline),
            _ => timeline.notes.kind(Note::skipped(entry.line, "an entry has no `message`; it was skipped")),
        }
    }
    for entry in left.iter().map(|entry| &entries[*entry]).filter(|entry| entry.is_response()) {
        let call = entry.message.as_ref().map(|message| call(entry, message, timeline.notes));
        call.into_iter().for_each(|call| timeline.builder.other_branch(call));
    }
    timeline.finish()
}

/// Returns the id of a session in the path of its file: `…/<time>_<id>.jsonl`.
fn id_in(path: &str) -> &str {
    let file = recorded_file_name(path);
    let stem = file.strip_suffix(".jsonl").unwrap_or(file);
    stem.rsplit_once('_').map_or(stem, |(_, id)| id)
}

fn stamp(entry: &Entry) -> Stamp {
    Stamp::parsed(entry.line, entry.timestamp.as_deref())
}

fn read_message(entry: &Entry, message: &Message, timeline: &mut Timeline) {
    match message.role.as_str() {
        "user" => user(&message.content, Origin::User, entry.line, timeline),
        "assistant" => response(entry, message, timeline),
        "toolResult" => {
            let content = result(&message.content, entry.line, timeline.notes);
            timeline.result(message.tool_call_id.as_deref().unwrap_or_default(), content, message.is_error);
        }
        "bashExecution" if message.exclude_from_context != Some(true) => {
            timeline.user_text(&said::execution(message), Origin::Injected);
        }
        "bashExecution" => {}
        // Version 1 and 2 called custom messages so.
        "custom" | "hookMessage" | "branchSummary" | "compactionSummary" => {
            user(&message.content, Origin::Injected, entry.line, timeline);
        }
        "system" => {
            let sections: Vec<&str> = message.sections.values().filter_map(Value::as_str).collect();
            let text = message.content.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            timeline.builder.set_system(text.unwrap_or_else(|| sections.join("\n\n")));
        }
        other => {
            timeline.notes.unknown_role(entry.line, other);
        }
    }
}

/// Adds a user message: a text, or a list of texts and images.
fn user(content: &Value, origin: Origin, line: u32, timeline: &mut Timeline) {
    match content {
        Value::String(text) => timeline.user_text(text, origin),
        content => said::blocks(content, line, timeline.notes).into_iter().for_each(|wire| timeline.user(wire, origin)),
    }
}

/// Returns the content of a result. If it is only text, the model gets one text.
fn result(content: &Value, line: u32, notes: &mut Notes) -> Value {
    let wires = match content {
        Value::String(text) => return text.clone().into(),
        content => said::blocks(content, line, notes),
    };
    let texts: Option<Vec<&str>> = wires.iter().map(|wire| wire.get("text").and_then(Value::as_str)).collect();
    texts.map_or_else(|| Value::Array(wires.clone()), |texts| texts.join("\n").into())
}

fn response(entry: &Entry, message: &Message, timeline: &mut Timeline) {
    let call = call(entry, message, timeline.notes);
    if let Some(reason @ ("aborted" | "error")) = message.stop_reason.as_deref() {
        let why = if reason == "error" { "failed" } else { "was aborted" };
        return timeline.lost_response(&format!("a response that {why} is not sent again; it was left out"), call);
    }
    let wires = said::blocks(&message.content, entry.line, timeline.notes);
    timeline.response(wires, call);
}

fn call(entry: &Entry, message: &Message, notes: &mut Notes) -> Call {
    let usage = usage(&message.usage, entry.line, notes);
    let (model, message_id) = (message.model.clone(), message.response_id.clone());
    Call { usage, model, message_id, time: stamp(entry).time, ..Call::default() }
}

fn usage(recorded: &Value, line: u32, notes: &mut Notes) -> Option<Usage> {
    wire_usage::named(recorded, &USAGE, line, notes)
}

fn compaction(entry: &Entry, entries: &[Entry], branch: &[usize], timeline: &mut Timeline) {
    timeline.settle();
    let summary = said::summary(entry.summary.as_deref().unwrap_or_default());
    let summary = timeline.new_message(Role::User, vec![text_wire(summary)], Origin::Compaction);
    let first = match (&entry.first_kept_entry_id, entry.first_kept_entry_index) {
        (Some(id), _) => branch.iter().copied().find(|kept| entries[*kept].id.as_ref() == Some(id)),
        (None, index) => index,
    };
    if first.is_none() {
        timeline.notes.kind(Note::info(entry.line, "a compaction names no entry of its branch that it kept; it kept none"));
    }
    let kept: HashSet<usize> = branch.iter().copied().filter(|kept| first.is_some_and(|first| *kept >= first)).collect();
    let mut into = vec![summary];
    into.extend(timeline.kept(|record| kept.contains(&record)));
    let details = Details {
        trigger: entry.from_hook.filter(|from_hook| *from_hook).map(|_| "hook".to_owned()),
        tokens_before: entry.tokens_before,
        tokens_after: None,
        summary_usage: usage(&entry.usage, entry.line, timeline.notes),
    };
    timeline.fold(into, details);
}

/// Returns a tool_use for a call.
fn tool_use(block: &Value) -> Value {
    let field = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    let input = block.get("arguments").filter(|arguments| arguments.is_object()).cloned().unwrap_or_else(|| json!({}));
    json!({"type": "tool_use", "id": field("id"), "name": field("name"), "input": input})
}

#[cfg(test)]
mod tests;
