//! Items of the history that Codex sends, and their parts.

use serde_json::value::RawValue;
use serde_json::{Result, Value};

use super::super::Note;
use super::fields::Fields;

/// An item of the history that Codex sends with the next request.
#[derive(Debug, Clone)]
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
    ToolSearch(ToolSearch),
    /// The tools that a search found. Their definitions are part of the context from here on.
    FoundTools(FoundTools),
    /// The provider's compaction of everything before it. Only the provider can read it.
    Compaction,
    Unknown(String),
}

#[derive(Debug, Clone)]
pub struct ItemMessage {
    pub role: String,
    pub content: Vec<Part>,
}

/// A part of a message: `input_text`, `output_text`, `summary_text`, `input_image` and others. Its fields decide, not its type.
#[derive(Debug, Clone)]
pub struct Part {
    pub text: Option<String>,
    pub image_url: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Reasoning {
    pub summary: Vec<Part>,
    pub content: Vec<Part>,
}

#[derive(Debug, Clone)]
pub struct FunctionCall {
    pub call_id: String,
    pub name: String,
    pub arguments: String,
}

#[derive(Debug, Clone)]
pub struct CustomCall {
    pub call_id: String,
    pub name: String,
    pub input: String,
}

#[derive(Debug, Clone)]
pub struct LocalShell {
    pub call_id: Option<String>,
    pub action: Value,
}

#[derive(Debug, Clone)]
pub struct Output {
    pub call_id: String,
    pub output: Value,
}

#[derive(Debug, Clone)]
pub struct WebSearch {
    pub id: Option<String>,
    pub action: Value,
}

#[derive(Debug, Clone)]
pub struct ToolSearch {
    /// Null if the provider searched.
    pub call_id: Option<String>,
    pub arguments: Value,
}

#[derive(Debug, Clone)]
pub struct FoundTools {
    pub call_id: Option<String>,
    /// JSON of the list of definitions.
    pub tools: String,
}

/// Parses an item of a `response_item` or of a replacement history.
pub fn item(payload: &RawValue, line: u32, notes: &mut Vec<Note>) -> Result<Item> {
    let kind: String = Fields::new(payload, "item", line)?.required("type")?;
    let fields = Fields::new(payload, kind.as_str(), line)?;
    Ok(match kind.as_str() {
        "message" => Item::Message(message(&fields, notes)),
        "agent_message" => Item::AgentMessage(message(&fields, notes)),
        "reasoning" => {
            Item::Reasoning(Reasoning { summary: parts(fields.value("summary")), content: parts(fields.value("content")) })
        }
        "function_call" => Item::FunctionCall(FunctionCall {
            call_id: fields.required("call_id")?,
            name: name(&fields, notes),
            arguments: text(fields.value("arguments")),
        }),
        "custom_tool_call" => Item::CustomCall(CustomCall {
            call_id: fields.required("call_id")?,
            name: name(&fields, notes),
            input: text(fields.value("input")),
        }),
        "local_shell_call" => Item::LocalShell(LocalShell {
            call_id: fields.get("call_id", notes).or_else(|| fields.get("id", notes)),
            action: fields.value("action"),
        }),
        "function_call_output" | "custom_tool_call_output" => {
            Item::Output(Output { call_id: fields.required("call_id")?, output: fields.value("output") })
        }
        "web_search_call" => Item::WebSearch(WebSearch { id: fields.get("id", notes), action: fields.value("action") }),
        "tool_search_call" => {
            Item::ToolSearch(ToolSearch { call_id: fields.get("call_id", notes), arguments: fields.value("arguments") })
        }
        "tool_search_output" => Item::FoundTools(FoundTools {
            call_id: fields.get("call_id", notes),
            tools: fields.raw("tools").map_or_else(String::new, |tools| tools.get().to_owned()),
        }),
        "compaction" | "compaction_summary" | "context_compaction" => Item::Compaction,
        _ => Item::Unknown(kind),
    })
}

/// Reads a message. A part that is not understood stays as a part without content, which the reader notes.
pub fn message(fields: &Fields, notes: &mut Vec<Note>) -> ItemMessage {
    ItemMessage { role: fields.get("role", notes).unwrap_or_default(), content: parts(fields.value("content")) }
}

fn name(fields: &Fields, notes: &mut Vec<Note>) -> String {
    fields.get("name", notes).unwrap_or_else(|| "unknown".to_owned())
}

/// Returns the text of a field that Codex writes as a string; other values as JSON.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn parts(content: Value) -> Vec<Part> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(parts) => parts.into_iter().map(Part::from).collect(),
        other => vec![Part::from(other)],
    }
}

impl From<Value> for Part {
    fn from(mut value: Value) -> Self {
        if let Value::String(text) = value {
            return Self { text: Some(text), image_url: None };
        }
        let mut take = |key: &str| match value.get_mut(key).map(Value::take) {
            Some(Value::String(text)) => Some(text),
            Some(Value::Object(mut object)) => {
                object.get_mut("url").map(Value::take).and_then(|url| url.as_str().map(str::to_owned))
            }
            _ => None,
        };
        Self { text: take("text"), image_url: take("image_url") }
    }
}
