//! Agent trajectories in ATIF, versions 1.0 to 1.8: what harbor writes for every agent (`trajectory.json`).
//!
//! Each step of the agent is a call, unless it says that no model was asked (`llm_call_count` of 0) or that it repeats another
//! trajectory (`is_copied_context`). `prompt_tokens` includes the cached ones. If a step sums several calls, its usage is that of no
//! request and is left out. Compactions have no place in the format, but for a session that goes on in further files ([`sequel`]). Sub-agents
//! in `subagent_trajectories` are conversations; one in a file of its own names its parent in its agent's `extra`.

pub(crate) mod form;
mod own;
mod sequel;

use serde_json::Value;
use serde_json::value::RawValue;

use super::batch::Stamp;
use super::document::Document;
use super::head::Head;
use super::notes::Notes;
use super::timeline::Timeline;
use super::wire_usage::{self, Names};
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading, document, jsonl};
use crate::transcript::conversation::{Call, Conversation, Identity, Origin, SourceFile};
use crate::util::text::file_name;

/// The id of the format.
const NAME: &str = "atif";

/// The jobs of a benchmark are where its user puts them.
pub const FORMAT: Format = Format {
    name: NAME,
    about: "ATIF trajectories 1.0 to 1.8, as harbor writes them: trajectory.json",
    sniff,
    read,
    folders: &[],
    store: None,
    joins: Joins::Sequel { next: sequel::next, before: sequel::before },
};

const MARKS: &[&str] = &["schema_version^=ATIF", "steps.step_id steps.source"];

const NO_RESULT: &str = "[no result in the record]";

const USAGE: Names = Names {
    input: "prompt_tokens",
    includes_cached: true,
    cache_read: "cached_tokens",
    cache_write: "",
    output: &["completion_tokens"],
    reasoning: "",
};

fn sniff(head: &Head) -> Certainty {
    head.is_marked(MARKS).into()
}

fn read(bytes: &[u8], options: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let Some(Trajectory { document, steps, .. }) = Trajectory::new("", bytes, 0, &mut notes) else {
        let why = "not a trajectory in ATIF: it is no document with `steps`";
        return Reading { conversations: Vec::new(), notes: vec![Note::skipped(1, why)] };
    };
    let first = field(&document, "agent", &mut notes);
    let identity = identity(&first, document.text("session_id"));
    let model = first["model_name"].as_str();
    let extra = field(&document, "extra", &mut notes);
    // Without steps, it is the bill of what a user took back.
    if steps.iter().any(|(_, step)| own::is_own(step)) || steps.is_empty() && extra[form::OWN].is_object() {
        let read = own::conversation("main".to_owned(), identity, model, &extra, &steps, &mut notes);
        return Reading { conversations: read.into_iter().collect(), notes: notes.finish() };
    }
    let (mut files, mut line) = (vec![Trajectory { path: "", document, steps, first_line: 0 }], lines(bytes));
    for other in options.others.iter() {
        files.extend(Trajectory::new(&other.name, &other.bytes, line, &mut notes));
        line = line.saturating_add(lines(&other.bytes));
    }
    if let Some(name) = files.last().and_then(|last| last.document.text(sequel::NEXT)) {
        let name = crate::util::text::head(&name, 60);
        let why =
            format!("the session goes on in `{name}`, which is not beside this file, or is no trajectory: that part is not read");
        notes.lines.push(Note::info(1, why));
    }
    let parts: Vec<&[(u32, Value)]> = files.iter().map(|file| file.steps.as_slice()).collect();
    let mut conversations: Vec<_> =
        conversation("main".to_owned(), identity.clone(), model, &parts, &mut notes).into_iter().collect();
    if let Some(main) = conversations.first_mut() {
        let further = |file: &Trajectory| SourceFile { path: file.path.to_owned(), first_line: file.first_line };
        main.source_files = files[1..].iter().map(further).collect();
    }
    let mut others = 0;
    for file in &files {
        let children = field(&file.document, "subagent_trajectories", &mut notes);
        for child in children.as_array().into_iter().flatten() {
            others += 1;
            conversations.extend(sub_agent(others, child, identity.session.clone(), &mut notes));
        }
    }
    let place = |note: Note| match note.line.zip(conversations.first()).map(|(line, main)| main.file_and_line(line)) {
        Some((Some(path), line)) => {
            Note { line: Some(1), what: format!("line {line} of {}: {}", file_name(path), note.what), ..note }
        }
        _ => note,
    };
    let notes = notes.finish().into_iter().map(place).collect();
    Reading { conversations, notes }
}

/// One file of a session.
struct Trajectory<'a> {
    /// Empty for the first one.
    path: &'a str,
    document: Document<'a>,
    /// Each step with its line in the session.
    steps: Vec<(u32, Value)>,
    /// The line in the session before its first one.
    first_line: u32,
}

impl<'a> Trajectory<'a> {
    fn new(path: &'a str, bytes: &'a [u8], first_line: u32, notes: &mut Notes) -> Option<Self> {
        let document = document::read(bytes, "steps", usize::MAX)?;
        let line_of = |line: u32| line.saturating_add(first_line);
        notes.lines.extend(document.note().map(|note| Note { line: note.line.map(line_of), ..note }));
        let mut steps = Vec::new();
        for (line, raw) in &document.messages {
            let values = jsonl::values(line_of(*line), raw.get().as_bytes(), &mut notes.lines);
            steps.extend(values.into_iter().map(|step: Value| (line_of(*line), step)));
        }
        Some(Self { path, document, steps, first_line })
    }
}

fn lines(bytes: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', bytes).count() + 1).unwrap_or(u32::MAX)
}

/// Returns a field of a document; null if it is not there.
fn field(document: &Document, key: &str, notes: &mut Notes) -> Value {
    let value = |raw: &RawValue| jsonl::values::<Value>(1, raw.get().as_bytes(), &mut notes.lines).into_iter().next();
    document.field(key).and_then(value).unwrap_or_default()
}

/// Reads a trajectory that the one of its parent holds.
fn sub_agent(number: usize, trajectory: &Value, parent: Option<String>, notes: &mut Notes) -> Option<Conversation> {
    let id = ["trajectory_id", "session_id"].iter().find_map(|key| trajectory[*key].as_str());
    // `~2` marks another branch of a conversation.
    let name = format!("agent-{number}-{}", id.unwrap_or_default().replace('~', "-"));
    let steps: Vec<_> = trajectory["steps"].as_array().into_iter().flatten().map(|step| (1, step.clone())).collect();
    let agent = &trajectory["agent"];
    let identity = identity(agent, id.map(str::to_owned)).started_by(parent);
    conversation(name.trim_end_matches('-').to_owned(), identity, agent["model_name"].as_str(), &[&steps], notes)
}

/// Converts the `agent` of a trajectory.
fn identity(agent: &Value, session: Option<String>) -> Identity {
    let known = |key: &str| agent[key].as_str().filter(|name| *name != form::UNKNOWN).map(str::to_owned);
    let first = |session: &str| sequel::first_session(session).to_owned();
    let parent = agent["extra"][form::PARENT].as_str().map(first);
    let session = session.as_deref().map(first);
    Identity { agent: known("name"), version: known("version"), session, ..Identity::default() }.started_by(parent)
}

/// Reads the files of a conversation.
fn conversation(
    name: String,
    identity: Identity,
    model: Option<&str>,
    files: &[&[(u32, Value)]],
    notes: &mut Notes,
) -> Option<Conversation> {
    let mut timeline = Timeline::new(name, NAME, NO_RESULT, notes);
    timeline.builder.set_identity(identity);
    let mut i = 0;
    for (n, steps) in files.iter().enumerate() {
        let (copied, own) = steps.split_at(if n > 0 { sequel::copied(steps) } else { 0 });
        if let Some((line, first)) = copied.first() {
            timeline.begin(i, Stamp::parsed(*line, first["timestamp"].as_str()));
            sequel::fold(copied, &mut timeline);
        }
        for (line, step) in own {
            read_step(i, step, model, Stamp::parsed(*line, step["timestamp"].as_str()), &mut timeline);
            i += 1;
        }
    }
    timeline.finish()
}

fn read_step(i: usize, step: &Value, model: Option<&str>, at: Stamp, timeline: &mut Timeline) {
    timeline.begin(i, at);
    match step["source"].as_str().unwrap_or("unknown") {
        "user" => blocks(&step["message"], at, timeline.notes).into_iter().for_each(|wire| timeline.user(wire, Origin::User)),
        "system" => {
            let wires = blocks(&step["message"], at, timeline.notes);
            match (wires.as_slice(), i) {
                ([only], 0) if only["type"] == "text" => {
                    timeline.builder.set_system(only["text"].as_str().unwrap_or_default());
                }
                _ => wires.into_iter().for_each(|wire| timeline.user(wire, Origin::Injected)),
            }
            observation(step, at, timeline);
        }
        "agent" => {
            response(step, model, at, timeline);
            observation(step, at, timeline);
        }
        other => {
            let other = crate::util::text::head(other, 40);
            timeline.notes.kind(Note::skipped(at.line, format!("steps of the unknown source `{other}` are not read")));
        }
    }
}

fn response(step: &Value, model: Option<&str>, at: Stamp, timeline: &mut Timeline) {
    let wires = form::read_response(step, &mut |kind| unknown(kind, at, timeline.notes));
    let calls = step["llm_call_count"].as_u64();
    if calls == Some(0) || step["is_copied_context"] == true {
        return timeline.earlier_response(wires);
    }
    let usage = wire_usage::named(&step["metrics"], &USAGE, at.line, timeline.notes);
    if usage.is_some() && calls > Some(1) {
        timeline.notes.kind(Note::info(at.line, "a step sums the usage of several calls; it was left out"));
    }
    let model = step["model_name"].as_str().or(model).map(str::to_owned);
    timeline.response(wires, Call { usage: usage.filter(|_| calls <= Some(1)), model, ..Call::default() });
}

/// Adds the results of a step. One that names no call is of the only call of its step, or else text of the harness.
fn observation(step: &Value, at: Stamp, timeline: &mut Timeline) {
    let only = step["tool_calls"].as_array().filter(|calls| calls.len() == 1).and_then(|calls| calls[0]["tool_call_id"].as_str());
    for result in step["observation"]["results"].as_array().into_iter().flatten() {
        match result["source_call_id"].as_str().or(only) {
            Some(id) => {
                let content = form::read_result(&result["content"], &mut |kind| unknown(kind, at, timeline.notes));
                timeline.result(id, content, None);
            }
            None => {
                blocks(&result["content"], at, timeline.notes).into_iter().for_each(|wire| timeline.user(wire, Origin::Injected))
            }
        }
    }
}

/// Converts a message: a text, or a list of texts, images and sounds.
fn blocks(message: &Value, at: Stamp, notes: &mut Notes) -> Vec<Value> {
    form::read_parts(message, &mut |kind| unknown(kind, at, notes))
}

fn unknown(kind: &str, at: Stamp, notes: &mut Notes) {
    let kind = crate::util::text::head(kind, 40);
    notes.kind(Note::info(at.line, format!("parts of the type `{kind}` are not read")));
}

#[cfg(test)]
mod tests;
