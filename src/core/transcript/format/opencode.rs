//! Sessions of opencode: of its database ([`store`]), and what `opencode export` writes (`{"info", "messages": [{"info", "parts"}]}`), read from versions 1.2 to 1.18.
//!
//! One assistant message is one call, and its `tool` parts hold call and result. `synthetic` texts are sent, but no person typed them. A
//! `summary` message is opencode's own call; with the user message before it, it begins the new context, and the messages from
//! `tail_start_id` on were kept. `state.time.compacted` says when a result was pruned: it is cleared before the first call after that.
//! `info.revert` names the first message that the user took back: what is from there on is another branch.
//!
//! `export` to a pipe may end in the middle; the whole messages before the cut are read.

use serde_json::{Value, json};

use self::record::{Info, Message, Part, Session, State};
use super::batch::Stamp;
use super::head::Head;
use super::notes::Notes;
use super::store::Store;
use super::timeline::{Details, Timeline};
use super::wire_usage::{self, Names};
use super::{Branches, Certainty, Format, Joins, Note, ReadOptions, Reading, SessionFolder, document, jsonl, openai_wire, tree};
use crate::transcript::conversation::{Call, Conversation, Identity, Origin, Role, Usage, text_wire};

mod record;
#[cfg(feature = "sqlite")]
mod store;

/// The id of the format.
const NAME: &str = "opencode";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "opencode sessions: of its database, or as `opencode export` writes them, also cut off",
    sniff,
    read,
    folders: FOLDERS,
    store: STORE,
    joins: Joins::Nothing,
};

/// One database a channel of releases: `opencode.db`, `opencode-beta.db`. The forks have their own. People save exports where they like.
const FOLDERS: &[SessionFolder] = &[
    in_data("opencode/opencode*.db"),
    in_data("kilo/kilo*.db"),
    in_data("mimocode/mimocode*.db"),
    in_data("icodemate/icodemate*.db"),
];

/// Databases in the folder of a user's data.
const fn in_data(sessions: &'static str) -> SessionFolder {
    SessionFolder { variable: Some("XDG_DATA_HOME"), home: Some(".local/share"), sessions }
}

/// How sessions are read from its database.
#[cfg(feature = "sqlite")]
const STORE: Option<Store> = Some(store::STORE);
#[cfg(not(feature = "sqlite"))]
const STORE: Option<Store> = None;

const MARKS: &[&str] = &["info.id^=ses_", "messages.info.sessionID^=ses_"];

/// What opencode sends for a call whose tool did not end.
const NO_RESULT: &str = "[Tool execution was interrupted]";

/// What opencode sends before the summary of a compaction, and in place of what a person did with a sub-agent.
const COMPACTED: &str = "What did we do so far?";
const SUBTASK: &str = "The following tool was executed by the user";

/// `input` excludes the cached tokens. `output` excludes the reasoning, see [`usage`].
const USAGE: Names = Names {
    input: "input",
    includes_cached: false,
    cache_read: "cache/read",
    cache_write: "cache/write",
    output: &["output", "reasoning"],
    reasoning: "reasoning",
};

fn sniff(head: &Head) -> Certainty {
    head.is_marked(MARKS).into()
}

fn read(bytes: &[u8], options: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let Some(document) = document::read(bytes, "messages", usize::MAX) else {
        let why = "not an export of opencode: it is no document with `messages`";
        return Reading { conversations: Vec::new(), notes: vec![Note::skipped(1, why)] };
    };
    notes.lines.extend(document.note());
    let session = document.field("info").map(|info| jsonl::values::<Session>(1, info.get().as_bytes(), &mut notes.lines));
    let session = session.into_iter().flatten().next().unwrap_or_default();
    let mut messages: Vec<Message> = Vec::new();
    for (line, raw) in &document.messages {
        let read = jsonl::values(*line, raw.get().as_bytes(), &mut notes.lines);
        messages.extend(read.into_iter().map(|message| Message { line: *line, ..message }));
    }
    let revert = session.revert.as_ref();
    let end = revert.and_then(|revert| messages.iter().position(|message| message.info.id == revert.message));
    let end = end.unwrap_or(messages.len());
    let all = options.branches == Branches::All;
    if let Some(first) = messages.get(end) {
        notes.lines.push(tree::note(first.line, "main", messages.len() - end, all));
    }
    let mut conversations = Vec::new();
    conversations.extend(conversation(0, &session, &messages[..end], if all { &[] } else { &messages[end..] }, &mut notes));
    if all && end < messages.len() {
        conversations.extend(conversation(1, &session, &messages, &[], &mut notes));
    }
    Reading { conversations, notes: notes.finish() }
}

/// Reads the messages of a branch. Of those that were `left`, only what was billed is kept.
fn conversation(
    branch: usize,
    session: &Session,
    messages: &[Message],
    left: &[Message],
    notes: &mut Notes,
) -> Option<Conversation> {
    let mut timeline = Timeline::new(tree::name(branch), NAME, NO_RESULT, notes);
    let identity = Identity {
        version: session.version.clone(),
        session: session.id.clone(),
        ..Identity::of(session.program.as_deref().unwrap_or(NAME))
    };
    timeline.builder.set_identity(identity.started_by(session.parent.clone()));
    if let Some(folder) = &session.directory {
        timeline.builder.set_project(folder);
    }
    let mut pruned = pruned(messages);
    let (mut compaction, mut go_on) = (None, None);
    for (i, message) in messages.iter().enumerate() {
        timeline.begin(i, Stamp { line: message.line, time: message.info.time.created });
        match message.info.role.as_str() {
            "user" if message.is_compaction() && messages.get(i + 1).is_some_and(Message::is_summary) => compaction = Some(i),
            "user" if go_on == Some(i) => {}
            "user" => user(message, &mut timeline),
            "assistant" if message.info.summary == true => match compaction.take() {
                Some(at) => {
                    go_on = Some(i + 1).filter(|next| messages.get(*next).is_some_and(Message::is_synthetic));
                    compact(messages, at, message, go_on.map(|next| &messages[next]), &mut timeline);
                }
                None => lost(message, "a summary that was not finished replaced nothing", &mut timeline),
            },
            "assistant" => {
                let due = pruned.partition_point(|(time, _)| message.info.time.created.is_some_and(|created| *time <= created));
                clear(pruned.drain(..due).map(|(_, id)| id), &mut timeline);
                response(message, &mut timeline);
            }
            other => {
                timeline.notes.unknown_role(message.line, other);
            }
        }
    }
    for message in left.iter().filter(|message| message.info.role == "assistant") {
        let call = call(message, timeline.notes);
        timeline.builder.other_branch(call);
    }
    timeline.finish()
}

/// Returns the calls whose results were pruned, each with the time of that, in the order of time.
fn pruned(messages: &[Message]) -> Vec<(i64, &str)> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let of = |part: &Part| part.state.time.compacted;
    let mut pruned: Vec<_> = parts.filter_map(|part| Some((of(part)?, part.call.as_str()))).collect();
    pruned.sort_unstable();
    pruned
}

/// Clears results before the response that comes next.
fn clear<'m>(ids: impl Iterator<Item = &'m str>, timeline: &mut Timeline) {
    let pairs: Vec<_> = ids.filter_map(|id| timeline.builder.pair(id)).collect();
    if !pairs.is_empty() {
        timeline.settle();
        timeline.clear(pairs, Details { trigger: Some("prune".to_owned()), ..Details::default() });
    }
}

fn user(message: &Message, timeline: &mut Timeline) {
    for part in &message.parts {
        match part.r#type.as_str() {
            "text" if part.ignored || part.text.is_empty() => {}
            "text" => {
                let origin = if part.synthetic { Origin::Injected } else { Origin::User };
                timeline.user(text_wire(part.text.as_str()), origin);
            }
            // The text of such a file is a synthetic text of its own.
            "file" if matches!(part.mime.as_str(), "text/plain" | "application/x-directory") => {}
            "file" => timeline.user(media(part), Origin::User),
            "compaction" => timeline.user_text(COMPACTED, Origin::Injected),
            "subtask" => timeline.user_text(SUBTASK, Origin::Injected),
            "agent" | "snapshot" | "patch" => {}
            other => timeline.notes.unknown_type(message.line, "parts", other),
        }
    }
}

fn response(message: &Message, timeline: &mut Timeline) {
    if !message.is_sent() {
        return lost(message, "a response that failed is not sent again; it was left out", timeline);
    }
    let (mut wires, mut results) = (Vec::new(), Vec::new());
    for part in &message.parts {
        match part.r#type.as_str() {
            "text" if !part.text.is_empty() => wires.push(text_wire(part.text.as_str())),
            "reasoning" if !part.text.is_empty() => wires.push(json!({"type": "thinking", "thinking": part.text})),
            "tool" => {
                let input = if part.state.input.is_object() { part.state.input.clone() } else { json!({}) };
                wires.push(json!({"type": "tool_use", "id": part.call, "name": part.tool, "input": input}));
                results.extend(result(&part.state).map(|(content, failed)| (part.call.as_str(), content, failed)));
            }
            "text" | "reasoning" | "step-start" | "step-finish" | "patch" | "snapshot" | "retry" | "file" => {}
            other => timeline.notes.unknown_type(message.line, "parts", other),
        }
    }
    let call = call(message, timeline.notes);
    timeline.response(wires, call);
    for (id, content, failed) in results {
        timeline.result(id, content, failed);
    }
}

/// Returns what a tool gave, and whether it failed, if that is recorded; `None` if it did not end.
fn result(state: &State) -> Option<(Value, Option<bool>)> {
    match state.status.as_str() {
        "completed" => {
            let media: Vec<Value> = state.attachments.iter().map(media).collect();
            let output = state.output.as_str();
            let content = match media.is_empty() {
                true => Value::String(output.to_owned()),
                false => Some(text_wire(output)).filter(|_| !output.is_empty()).into_iter().chain(media).collect(),
            };
            Some((content, None))
        }
        "error" => Some((Value::String(state.error.clone()), Some(true))),
        _ => None,
    }
}

/// Converts a file part with an image or a document.
fn media(part: &Part) -> Value {
    let mut wire = openai_wire::image(&part.url);
    if !part.mime.starts_with("image/") {
        wire["type"] = "document".into();
    }
    wire
}

fn lost(message: &Message, why: &str, timeline: &mut Timeline) {
    let call = call(message, timeline.notes);
    timeline.lost_response(why, call);
}

fn call(message: &Message, notes: &mut Notes) -> Call {
    let Info { model, time, .. } = &message.info;
    Call { usage: usage(message, notes), model: model.clone(), time: time.created, ..Call::default() }
}

/// Returns the usage. Of some providers `output` includes the reasoning; then the `total` is smaller by it.
fn usage(message: &Message, notes: &mut Notes) -> Option<Usage> {
    let tokens = &message.info.tokens;
    let mut usage = wire_usage::named(tokens, &USAGE, message.line, notes)?;
    let reasoning = usage.reasoning.unwrap_or(0);
    if tokens["total"].as_u64().is_some_and(|total| total + reasoning == usage.request() + usage.output) {
        usage.output -= reasoning;
    }
    Some(usage)
}

/// Adds the compaction that the user message `at` asked for, and `summary` made. With it opencode may add a message of its own, to `go_on`.
fn compact(messages: &[Message], at: usize, summary: &Message, go_on: Option<&Message>, timeline: &mut Timeline) {
    timeline.settle();
    let part = messages[at].parts.iter().find(|part| part.r#type == "compaction");
    let first = part.and_then(|part| part.tail_start_id.as_deref());
    let tail = first.and_then(|id| messages[..at].iter().position(|message| message.info.id == id));
    let mut into = vec![
        timeline.new_message(Role::User, vec![text_wire(COMPACTED)], Origin::Injected),
        timeline.new_message(Role::Assistant, texts(summary), Origin::Compaction),
    ];
    into.extend(timeline.kept(|record| tail.is_some_and(|tail| record >= tail && record < at)));
    into.extend(go_on.map(|message| timeline.new_message(Role::User, texts(message), Origin::Injected)));
    let trigger = part.and_then(|part| part.auto).map(|auto| if auto { "auto" } else { "manual" }.to_owned());
    let summary_usage = usage(summary, timeline.notes);
    timeline.fold(into, Details { trigger, summary_usage, ..Details::default() });
}

fn texts(message: &Message) -> Vec<Value> {
    let texts = message.parts.iter().filter(|part| part.r#type == "text").map(|part| part.text.as_str());
    texts.filter(|text| !text.is_empty()).map(text_wire).collect()
}

#[cfg(test)]
mod tests;
