//! Records of a rollout as Codex writes them.

use serde::Deserialize;
use serde::de::Error;
use serde_json::value::RawValue;
use serde_json::{Result, Value};

use super::super::batch::Stamp;
use super::super::{Note, jsonl};
use super::events;
use super::fields::Fields;
use super::item::{self, Item, ItemMessage};
use super::meter::{Counted, TokenInfo};
use super::session::SessionMeta;

/// A line of a rollout.
#[derive(Debug, Clone)]
pub struct Record {
    pub at: Stamp,
    /// The number of the record, since 0.153.
    pub ordinal: Option<u64>,
    pub kind: RecordKind,
}

/// The content of a record.
#[derive(Debug, Clone)]
pub enum RecordKind {
    Session(Box<SessionMeta>),
    Turn(TurnContext),
    /// A turn begins, of the user or of another agent.
    TurnStarted(TurnStarted),
    Item(Item),
    /// Tokens as the record has them.
    Tokens(TokenInfo),
    /// Tokens as the meter understood them.
    Counted(Counted),
    Compacted(Compacted),
    /// The user went back by this number of turns.
    RolledBack(u64),
    /// Bookkeeping, or a copy of something for the user interface.
    Ignored,
    /// The name of a kind that is not known.
    Unknown(String),
}

#[derive(Debug, Clone)]
pub struct TurnContext {
    pub model: Option<String>,
    pub turn_id: Option<String>,
}

#[derive(Debug, Clone)]
pub struct TurnStarted {
    pub turn_id: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Compacted {
    pub message: String,
    /// The messages that replaced the whole context.
    pub replacement_history: Option<Vec<Box<RawValue>>>,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    timestamp: Value,
    #[serde(rename = "type")]
    kind: String,
    payload: Box<RawValue>,
    #[serde(default)]
    ordinal: Value,
}

/// The line types of rollouts, as seen in recordings.
const LINE_TYPES: [&str; 9] = [
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "token_usage_record",
];

/// Returns whether a line is a line of a rollout.
pub fn is_rollout_line(line: &[u8]) -> bool {
    serde_json::from_slice::<Envelope>(line).is_ok_and(|envelope| {
        envelope.timestamp.is_string() && LINE_TYPES.contains(&envelope.kind.as_str()) && envelope.payload.get().starts_with('{')
    })
}

/// Returns the records of a rollout, in order.
pub fn records(bytes: &[u8], notes: &mut Vec<Note>) -> Vec<Record> {
    let mut records = Vec::new();
    for (line, text) in jsonl::lines(bytes) {
        for envelope in jsonl::values::<Envelope>(line, text, notes) {
            let time = envelope.timestamp.as_str().and_then(milliseconds);
            match parse_kind(&envelope.kind, &envelope.payload, line, notes) {
                Ok(kind) => records.push(Record { at: Stamp { line, time }, ordinal: envelope.ordinal.as_u64(), kind }),
                Err(error) => {
                    let error = error.to_string();
                    // The position in the message is relative to the payload, so it does not help the user.
                    let cause = error.split(" at line ").next().unwrap_or(&error);
                    let text =
                        format!("this `{}` does not have the form that Codex writes ({cause}); it was skipped", envelope.kind);
                    notes.push(Note::skipped(line, text));
                }
            }
        }
    }
    records
}

/// Returns the milliseconds since 1970 of a time stamp.
pub fn milliseconds(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

fn parse_kind(kind: &str, payload: &RawValue, line: u32, notes: &mut Vec<Note>) -> Result<RecordKind> {
    if kind == "response_item" {
        return Ok(RecordKind::Item(item::item(payload, line, notes)?));
    }
    if matches!(kind, "world_state" | "inter_agent_communication_metadata") {
        return Ok(RecordKind::Ignored);
    }
    if !LINE_TYPES.contains(&kind) {
        return Ok(RecordKind::Unknown(kind.to_owned()));
    }
    let fields = Fields::new(payload, kind, line)?;
    Ok(match kind {
        "session_meta" => RecordKind::Session(Box::new(SessionMeta::new(&fields, notes))),
        "turn_context" => {
            RecordKind::Turn(TurnContext { model: fields.get("model", notes), turn_id: fields.get("turn_id", notes) })
        }
        "compacted" => RecordKind::Compacted(Compacted {
            message: fields.get("message", notes).unwrap_or_default(),
            replacement_history: fields.get("replacement_history", notes),
        }),
        "token_usage_record" => match TokenInfo::of_response(&fields, notes) {
            Some(info) => RecordKind::Tokens(info),
            None => return Err(Error::missing_field("usage")),
        },
        "inter_agent_communication" => {
            let message = item::message(&fields, notes);
            RecordKind::Item(Item::AgentMessage(ItemMessage { role: "agent".to_owned(), ..message }))
        }
        _ => event(&fields, line, notes)?,
    })
}

/// Parses an `event_msg`.
fn event(fields: &Fields, line: u32, notes: &mut Vec<Note>) -> Result<RecordKind> {
    let name: String = fields.required("type")?;
    Ok(match name.as_str() {
        "token_count" => match fields.raw("info").map(|info| Fields::new(info, "token_count", line)).transpose()? {
            Some(info) => RecordKind::Tokens(TokenInfo::of_event(&info, notes)),
            None => RecordKind::Ignored,
        },
        "thread_rolled_back" => RecordKind::RolledBack(fields.required("num_turns")?),
        "task_started" | "turn_started" => RecordKind::TurnStarted(TurnStarted { turn_id: fields.get("turn_id", notes) }),
        name if events::is_for_display(name) => RecordKind::Ignored,
        name => RecordKind::Unknown(format!("event_msg/{name}")),
    })
}
