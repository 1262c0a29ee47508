//! Files of sub-agents, as the source of 0.24.4 writes them. None of a real run was seen.
//!
//! A response is several records: one of its text with the usage, then one for each call. A sub-agent that is a fork of its parent begins
//! with the history of the parent (`agent_bootstrap`); then its first record of a user is only shown, and the prompt that was sent is in
//! `agent_launch_prompt`. Which model was asked is only in `agent-<id>.meta.json` beside it.

use serde_json::Value;

use super::super::gemini::{self, Part};
use super::super::notes::Notes;
use super::super::timeline::Timeline;
use super::super::{Note, OtherFile};
use super::Record;
use crate::transcript::conversation::Origin;

/// The subtype of the record with the history that a fork begins with.
pub const BOOTSTRAP: &str = "agent_bootstrap";

/// The endings of the file of a sub-agent, and of the one beside it.
const ENDINGS: [&str; 2] = [".jsonl", ".meta.json"];

/// Returns the name of the file beside the one of a sub-agent.
pub fn file(transcript: &str) -> Option<String> {
    renamed(transcript, ENDINGS)
}

/// Returns the name of the file of a sub-agent, by the one beside it.
pub fn transcript(file: &str) -> Option<String> {
    let [transcript, beside] = ENDINGS;
    renamed(file, [beside, transcript])
}

fn renamed(name: &str, [from, to]: [&str; 2]) -> Option<String> {
    let stem = name.strip_suffix(from).filter(|stem| stem.starts_with("agent-"))?;
    Some(format!("{stem}{to}"))
}

/// Returns the model of a sub-agent, from the file beside it. One that works for long has it there as an option of the program.
pub fn model(beside: &OtherFile, notes: &mut Notes) -> Option<String> {
    let Ok(meta) = serde_json::from_slice::<Value>(&beside.bytes) else {
        let name = beside.name.rsplit('/').next().unwrap_or_default();
        notes.lines.push(Note::skipped(1, format!("{name} beside this file is no JSON; it was not read")));
        return None;
    };
    let model = meta["model"].as_str().or_else(|| meta["persistedCliFlags"]["model"].as_str());
    model.filter(|model| !model.is_empty()).map(str::to_owned)
}

/// Returns whether a record of the model is of the same response as the one of the model before it.
pub fn goes_on(record: &Record) -> bool {
    record.agent_id.is_some() && record.agent_round.is_null()
}

/// The prompt that a fork was sent in place of the one that is shown.
pub struct Launch<'r>(Option<&'r str>);

impl<'r> Launch<'r> {
    pub fn new(records: &'r [Record], branch: &[usize]) -> Self {
        let of = |subtype: &str| branch.iter().map(|record| &records[*record]).find(|record| record.is_system(subtype));
        let prompt = of(BOOTSTRAP).and(of("agent_launch_prompt"));
        Self(prompt.and_then(|record| record.system_payload.get("displayText")?.as_str()))
    }

    /// Returns it in place of the first prompt.
    pub fn prompt(&mut self) -> Option<&'r str> {
        self.0.take()
    }
}

/// Adds the history that a fork begins with: its parent made the calls in it.
pub fn bootstrap(record: &Record, timeline: &mut Timeline) {
    for content in record.system_payload.get("history").and_then(Value::as_array).into_iter().flatten() {
        let parts = gemini::parts(content.get("parts").unwrap_or(&Value::Null), record.line, timeline.notes);
        if content.get("role").is_some_and(|role| role == "model") {
            let block = |part| if let Part::Block(wire) = part { Some(wire) } else { None };
            timeline.earlier_response(parts.into_iter().filter_map(block).collect());
            continue;
        }
        for part in parts {
            match part {
                Part::Block(wire) => timeline.user(wire, Origin::Injected),
                Part::Result(answer) => timeline.result(&answer.id, answer.content, answer.is_error.then_some(true)),
            }
        }
    }
}
