//! Records of a rollout as Codex writes them.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::batch::Stamp;
use super::super::{Note, jsonl};
use super::meter::{TokenCount, TokenInfo};

/// A line of a rollout that is relevant for the conversation.
#[derive(Debug)]
pub struct Record {
    pub at: Stamp,
    pub kind: RecordKind,
}

/// The content of a record.
#[derive(Debug)]
pub enum RecordKind {
    Session(SessionMeta),
    Turn(TurnContext),
    Item(Item),
    Tokens(TokenInfo),
    Compacted(Compacted),
    /// The user went back by this number of turns.
    RolledBack(u64),
}

#[derive(Debug, Deserialize)]
pub struct SessionMeta {
    pub cwd: Option<String>,
    base_instructions: Option<Instructions>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Instructions {
    Plain(String),
    Wrapped { text: String },
}

impl SessionMeta {
    /// Returns the system prompt.
    pub fn instructions(self) -> Option<String> {
        self.base_instructions.map(|instructions| match instructions {
            Instructions::Plain(text) | Instructions::Wrapped { text } => text,
        })
    }
}

#[derive(Debug, Deserialize)]
pub struct TurnContext {
    pub model: Option<String>,
}

/// An item of the history that Codex sends with the next request.
#[derive(Debug)]
pub enum Item {
    Message(ItemMessage),
    /// A message from another agent of the team.
    AgentMessage(ItemMessage),
    Reasoning(Reasoning),
    FunctionCall(FunctionCall),
    CustomCall(CustomCall),
    LocalShell(LocalShell),
    Output(Output),
    WebSearch(WebSearch),
    /// The provider's compaction of everything before it. Only the provider can read it.
    Compaction,
    Unknown(String),
}

#[derive(Debug, Deserialize)]
pub struct ItemMessage {
    #[serde(default)]
    pub role: String,
    pub content: Vec<Part>,
}

/// A part of a message: `input_text`, `output_text`, `summary_text`, `input_image` and others. Its fields decide, not its type.
#[derive(Debug, Deserialize)]
pub struct Part {
    pub text: Option<String>,
    pub image_url: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Reasoning {
    #[serde(default)]
    pub summary: Vec<Part>,
    pub content: Option<Vec<Part>>,
}

#[derive(Debug, Deserialize)]
pub struct FunctionCall {
    pub call_id: String,
    pub name: String,
    pub arguments: String,
}

#[derive(Debug, Deserialize)]
pub struct CustomCall {
    pub call_id: String,
    pub name: String,
    pub input: String,
}

#[derive(Debug, Deserialize)]
pub struct LocalShell {
    pub call_id: Option<String>,
    pub id: Option<String>,
    pub action: Value,
}

#[derive(Debug, Deserialize)]
pub struct Output {
    pub call_id: String,
    pub output: Value,
}

#[derive(Debug, Deserialize)]
pub struct WebSearch {
    pub id: Option<String>,
    pub action: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub struct Compacted {
    #[serde(default)]
    pub message: String,
    /// The messages that replaced the whole context.
    pub replacement_history: Option<Vec<Box<RawValue>>>,
}

#[derive(Deserialize)]
struct Envelope {
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    payload: Box<RawValue>,
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct RolledBack {
    num_turns: u64,
}

/// The line types of rollouts, as seen in recordings.
const LINE_TYPES: [&str; 7] = [
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "inter_agent_communication_metadata",
];

/// Returns whether a line is a line of a rollout.
pub fn is_rollout_line(line: &[u8]) -> bool {
    serde_json::from_slice::<Envelope>(line).is_ok_and(|envelope| {
        envelope.timestamp.is_some() && LINE_TYPES.contains(&envelope.kind.as_str()) && envelope.payload.get().starts_with('{')
    })
}

/// Returns the records of a rollout, in order. Leaves out events that repeat the conversation for the user interface.
pub fn records(bytes: &[u8], notes: &mut Vec<Note>) -> Vec<Record> {
    let mut records = Vec::new();
    for (line, text) in jsonl::lines(bytes) {
        for envelope in jsonl::values::<Envelope>(line, text, notes) {
            let time = envelope.timestamp.as_deref().and_then(|t| t.parse::<jiff::Timestamp>().ok()).map(|t| t.as_millisecond());
            match parse_kind(&envelope.kind, &envelope.payload) {
                Ok(Some(kind)) => records.push(Record { at: Stamp { line, time }, kind }),
                Ok(None) => {}
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

/// Parses the payload of a line; `None` if it is not relevant.
fn parse_kind(kind: &str, payload: &RawValue) -> serde_json::Result<Option<RecordKind>> {
    let json = payload.get();
    Ok(Some(match kind {
        "session_meta" => RecordKind::Session(serde_json::from_str(json)?),
        "turn_context" => RecordKind::Turn(serde_json::from_str(json)?),
        "response_item" => RecordKind::Item(item(payload)?),
        "compacted" => RecordKind::Compacted(serde_json::from_str(json)?),
        "event_msg" => match serde_json::from_str::<Tag>(json)?.kind.as_ref() {
            "token_count" => match serde_json::from_str::<TokenCount>(json)?.info {
                Some(info) => RecordKind::Tokens(info),
                None => return Ok(None),
            },
            "thread_rolled_back" => RecordKind::RolledBack(serde_json::from_str::<RolledBack>(json)?.num_turns),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

/// Parses an item of a `response_item` or of a replacement history.
pub fn item(payload: &RawValue) -> serde_json::Result<Item> {
    let json = payload.get();
    let kind = serde_json::from_str::<Tag>(json)?.kind;
    Ok(match kind.as_ref() {
        "message" => Item::Message(serde_json::from_str(json)?),
        "agent_message" => Item::AgentMessage(serde_json::from_str(json)?),
        "reasoning" => Item::Reasoning(serde_json::from_str(json)?),
        "function_call" => Item::FunctionCall(serde_json::from_str(json)?),
        "custom_tool_call" => Item::CustomCall(serde_json::from_str(json)?),
        "local_shell_call" => Item::LocalShell(serde_json::from_str(json)?),
        "function_call_output" | "custom_tool_call_output" => Item::Output(serde_json::from_str(json)?),
        "web_search_call" => Item::WebSearch(serde_json::from_str(json)?),
        "compaction" | "compaction_summary" | "context_compaction" => Item::Compaction,
        other => Item::Unknown(other.to_owned()),
    })
}
