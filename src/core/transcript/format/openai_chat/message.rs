//! A message of the chat API, and its conversion to blocks of Anthropic's API.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::openai_wire;
use crate::transcript::conversation::{Usage, text_wire};

#[derive(Debug, Deserialize)]
pub struct ChatMessage {
    pub role: String,
    #[serde(default)]
    pub content: Value,
    /// Reasoning text, from some providers.
    pub reasoning_content: Option<String>,
    pub tool_calls: Option<Vec<ToolCall>>,
    /// One call without an id: the predecessor of `tool_calls`.
    pub function_call: Option<Function>,
    pub tool_call_id: Option<String>,
    /// Written by SWE-agent.
    pub tool_call_ids: Option<Vec<String>>,
    pub model: Option<String>,
    #[serde(default)]
    pub usage: Value,
}

#[derive(Debug, Deserialize)]
pub struct ToolCall {
    pub id: Option<String>,
    pub function: Function,
}

#[derive(Debug, Deserialize)]
pub struct Function {
    pub name: String,
    #[serde(default)]
    arguments: Value,
}

impl Function {
    pub fn tool_use(self, id: &str) -> Value {
        let arguments = match self.arguments {
            Value::String(text) => text,
            Value::Null => "{}".to_owned(),
            // Some recorders save parsed arguments.
            parsed => parsed.to_string(),
        };
        openai_wire::tool_use(id, &self.name, arguments)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ImageUrl {
    Plain(String),
    Object { url: String },
}

/// A part of a content list: `text`, `input_text`, `output_text`, `refusal`, `image_url`.
#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    refusal: Option<String>,
    image_url: Option<ImageUrl>,
}

/// Returns the blocks of a message's content, and the number of parts that were left out. There are none if it is null or empty.
pub fn blocks(content: Value) -> (Vec<Value>, usize) {
    match content {
        Value::String(text) if text.is_empty() => (Vec::new(), 0),
        Value::String(text) => (vec![text_wire(text)], 0),
        Value::Array(parts) => {
            let all = parts.len();
            let blocks: Vec<Value> = parts.into_iter().filter_map(block).collect();
            let left_out = all - blocks.len();
            (blocks, left_out)
        }
        _ => (Vec::new(), 0),
    }
}

fn block(part: Value) -> Option<Value> {
    if let Value::String(text) = part {
        return Some(text_wire(text));
    }
    let part: Part = serde_json::from_value(part).ok()?;
    match (part.text.or(part.refusal), part.image_url) {
        (Some(text), _) => Some(text_wire(text)),
        (None, Some(ImageUrl::Plain(url) | ImageUrl::Object { url })) => Some(openai_wire::image(&url)),
        (None, None) => None,
    }
}

/// Converts the content of a tool message to the content of a tool_result.
pub fn result_content(content: Value) -> Value {
    match content {
        Value::String(_) => content,
        Value::Null => json!(""),
        Value::Array(_) => Value::Array(blocks(content).0),
        other => Value::String(other.to_string()),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

/// Converts recorded usage. `prompt_tokens` includes cache reads; [`Usage`] keeps them apart.
pub fn usage(recorded: Value) -> Option<Usage> {
    if !recorded.is_object() {
        return None;
    }
    let recorded: ChatUsage = serde_json::from_value(recorded).ok()?;
    let cached = recorded.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0);
    let cache_read = cached.min(recorded.prompt_tokens);
    Some(Usage {
        input: recorded.prompt_tokens - cache_read,
        cache_read,
        output: recorded.completion_tokens,
        reasoning: recorded.completion_tokens_details.and_then(|details| details.reasoning_tokens),
        ..Usage::default()
    })
}
