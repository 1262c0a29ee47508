//! Chats of Gemini CLI (`~/.gemini/tmp/*/chats/`): one document (`session-*.json`, to about 0.39), or lines since then.
//!
//! A `gemini` message holds the text of a response, its calls and their results. Several messages with the same usage are one response.
//! `input` includes the cached tokens, and `output` excludes the thoughts. What `thoughts` says of them
//! is written for the screen, and is not sent.
//!
//! In lines ([`journal`]) a message may come again with its id: the last one counts, at the place of the first. `{"$rewindTo"}` takes back
//! a message and all after it: another branch. `{"$set": {"messages"}}` replaces the whole context. That this is what a compression
//! leaves is by source.

mod journal;

use serde_json::{Value, json};

use self::journal::{Entry, Journal, Step};
use super::batch::Stamp;
use super::gemini::{self, Part};
use super::head::Head;
use super::notes::Notes;
use super::timeline::{Details, Timeline};
use super::wire_usage::{self, Names};
use super::{Branches, Certainty, Format, Joins, ReadOptions, Reading, SessionFolder, tree};
use crate::transcript::conversation::{Call, Conversation, Message, Origin, Role, Thinking};

/// The id of the format.
const NAME: &str = "gemini-cli";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "Gemini CLI chats, as documents and as lines, with rewinds",
    sniff,
    read,
    folders: FOLDERS,
    store: None,
    joins: Joins::Nothing,
};

const FOLDERS: &[SessionFolder] = &[SessionFolder { variable: None, home: Some(".gemini"), sessions: "tmp" }];

const MARKS: &[&str] = &["sessionId projectHash", "type=gemini timestamp", "messages.type=gemini", "$rewindTo"];

const NO_RESULT: &str = "[no result in the record]";

const USAGE: Names = Names {
    input: "input",
    includes_cached: true,
    cache_read: "cached",
    cache_write: "",
    output: &["output", "thoughts"],
    reasoning: "thoughts",
};

fn sniff(head: &Head) -> Certainty {
    head.is_marked(MARKS).into()
}

fn read(bytes: &[u8], options: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let all = options.branches == Branches::All;
    let journal = Journal::new(bytes, all, &mut notes);
    for left in &journal.left {
        notes.lines.push(tree::note(left.line, "main", left.count, all));
    }
    let bills = if all { &[][..] } else { &journal.left };
    let mut conversations = Vec::new();
    conversations.extend(conversation(0, &journal, &journal.steps, bills.iter().flat_map(|left| &left.messages), &mut notes));
    for (n, left) in journal.left.iter().enumerate().filter(|_| all) {
        let steps: Vec<Step> = left.before.iter().chain([&Step::Messages(left.messages.clone())]).cloned().collect();
        conversations.extend(conversation(n + 1, &journal, &steps, std::iter::empty(), &mut notes));
    }
    Reading { conversations, notes: notes.finish() }
}

/// Reads one branch. Of the messages `left` on other branches, only what was billed is kept.
fn conversation<'e>(
    branch: usize,
    journal: &Journal,
    steps: &[Step],
    left: impl Iterator<Item = &'e Entry>,
    notes: &mut Notes,
) -> Option<Conversation> {
    let mut timeline = Timeline::new(tree::name(branch), NAME, NO_RESULT, notes);
    timeline.builder.set_thinking(Thinking::None);
    timeline.builder.set_identity(journal.identity.clone());
    let mut record = 0;
    for step in steps {
        match step {
            Step::Messages(messages) => {
                let is_same_response = |a: &Entry, b: &Entry| a.is_response() && b.is_response() && a.has_usage_of(b);
                for group in messages.chunk_by(is_same_response) {
                    record += 1;
                    timeline.begin(record, group[0].at());
                    read_group(group, &mut timeline);
                }
            }
            Step::Replaced { line, messages } => {
                record += 1;
                timeline.begin(record, Stamp { line: *line, time: None });
                replace(messages, &mut timeline);
            }
        }
    }
    for entry in left.filter(|entry| entry.is_response()) {
        let call = call(entry, timeline.notes);
        timeline.builder.other_branch(call);
    }
    timeline.finish()
}

/// Reads one message, or those of one response.
fn read_group(group: &[Entry], timeline: &mut Timeline) {
    let first = &group[0];
    match first.kind() {
        "user" => {
            for part in gemini::parts(first.content(), first.line, timeline.notes) {
                match part {
                    Part::Block(wire) => timeline.user(wire, Origin::User),
                    Part::Result(answer) => timeline.result(&answer.id, answer.content, answer.is_error.then_some(true)),
                }
            }
        }
        "gemini" => {
            let (mut wires, mut results) = (Vec::new(), Vec::new());
            for entry in group {
                wires.extend(said(entry, timeline.notes));
                for call in entry.calls() {
                    wires.push(tool_use(call));
                    results.push((call, entry.line));
                }
            }
            let call = call(first, timeline.notes);
            timeline.response(wires, call);
            results.into_iter().for_each(|(call, line)| result(call, line, timeline));
        }
        // What the program said to the user.
        "info" | "warning" | "error" => {}
        other => {
            timeline.notes.unknown_type(first.line, "messages", other);
        }
    }
}

/// Returns the texts of a message.
fn said(entry: &Entry, notes: &mut Notes) -> Vec<Value> {
    let parts = gemini::parts(entry.content(), entry.line, notes).into_iter();
    parts.filter_map(|part| if let Part::Block(wire) = part { Some(wire) } else { None }).collect()
}

fn tool_use(call: &Value) -> Value {
    let input = if call["args"].is_object() { call["args"].clone() } else { json!({}) };
    let name = call["name"].as_str().unwrap_or("unknown");
    json!({"type": "tool_use", "id": call["id"].as_str().unwrap_or(name), "name": name, "input": input})
}

/// Adds the result of a call, and what came with it.
fn result(call: &Value, line: u32, timeline: &mut Timeline) {
    let wire = tool_use(call);
    let failed = call["status"].as_str().map(|status| status != "success");
    let mut is_answered = false;
    for part in gemini::parts(&call["result"], line, timeline.notes) {
        match part {
            Part::Result(answer) if !is_answered => {
                is_answered = true;
                timeline.result(wire["id"].as_str().unwrap_or_default(), answer.content, failed);
            }
            Part::Result(answer) => timeline.result(&answer.id, answer.content, failed),
            Part::Block(wire) => timeline.user(wire, Origin::Injected),
        }
    }
}

fn call(entry: &Entry, notes: &mut Notes) -> Call {
    let usage = wire_usage::named(&entry.message["tokens"], &USAGE, entry.line, notes);
    Call { usage, model: entry.message["model"].as_str().map(str::to_owned), time: entry.at().time, ..Call::default() }
}

/// Adds a compaction that left these messages.
fn replace(messages: &[Entry], timeline: &mut Timeline) {
    timeline.settle();
    let (mut into, mut used): (Vec<Message>, _) = (Vec::new(), std::collections::HashSet::new());
    let mut push = |role: Role, wires: Vec<Value>, timeline: &mut Timeline| {
        let mut message = timeline.new_message(role, Vec::new(), Origin::Compaction);
        message.blocks = wires.into_iter().map(|wire| timeline.original(wire, &mut used)).collect();
        into.push(message);
    };
    for entry in messages {
        let role = if entry.is_response() { Role::Assistant } else { Role::User };
        if !matches!(entry.kind(), "user" | "gemini") {
            continue;
        }
        let mut wires = said(entry, timeline.notes);
        wires.extend(entry.calls().map(tool_use));
        push(role, wires, timeline);
        let mut results = Vec::new();
        for call in entry.calls() {
            for part in gemini::parts(&call["result"], entry.line, timeline.notes) {
                results.push(match part {
                    Part::Block(wire) => wire,
                    Part::Result(answer) => answer.wire(),
                });
            }
        }
        push(Role::User, results, timeline);
    }
    timeline.fold(into, Details::default());
}

#[cfg(test)]
mod tests;
