//! Converts items of Codex to blocks of Anthropic's API.

use serde_json::{Value, json};

use super::super::openai_wire;
use super::record::{CustomCall, FunctionCall, LocalShell, Part, Reasoning, WebSearch};
use crate::transcript::conversation::{Origin, text_wire};

/// Beginnings of `user` messages that Codex or its host application wrote, as seen in 0.142–0.147 and earlier: the environment,
/// instruction files, and actions of the user outside of the conversation.
const INJECTED: [&str; 9] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for ",
    "<recommended_plugins>",
    "<permissions instructions>",
    "<skill>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<turn_aborted>",
];

/// Returns who wrote a text block of a message with this role.
pub fn origin(role: &str, wire: &Value) -> Origin {
    let text = wire.get("text").and_then(Value::as_str).unwrap_or_default().trim_start();
    match role {
        "assistant" => Origin::Agent,
        "user" if !INJECTED.iter().any(|start| text.starts_with(start)) => Origin::User,
        _ => Origin::Injected,
    }
}

/// Converts a part of a message or of a tool output. `None` for empty text and for unreadable parts (encrypted parts).
pub fn part(part: Part) -> Option<Value> {
    match (part.text, part.image_url) {
        (Some(text), _) if !text.is_empty() => Some(text_wire(text)),
        (_, Some(url)) => Some(openai_wire::image(&url)),
        _ => None,
    }
}

/// Converts reasoning: the full text if Codex may see it, or else the summary.
pub fn thinking(reasoning: Reasoning) -> Value {
    let parts = match reasoning.content {
        Some(content) if !content.is_empty() => content,
        _ => reasoning.summary,
    };
    let texts: Vec<String> = parts.into_iter().filter_map(|part| part.text).collect();
    json!({"type": "thinking", "thinking": texts.join("\n\n")})
}

pub fn function_call(call: FunctionCall) -> Value {
    openai_wire::tool_use(&call.call_id, &call.name, call.arguments)
}

/// Converts a call whose input is free text: a patch, a script.
pub fn custom_call(call: CustomCall) -> Value {
    json!({"type": "tool_use", "id": call.call_id, "name": call.name, "input": {"input": call.input}})
}

/// Converts a call of the provider's own shell tool; `None` if it has no id.
pub fn local_shell(call: LocalShell) -> Option<Value> {
    let id = call.call_id.or(call.id)?;
    let input = if call.action.is_object() { call.action } else { json!({"action": call.action}) };
    Some(json!({"type": "tool_use", "id": id, "name": "local_shell", "input": input}))
}

/// Converts a search that the provider ran itself. Its result is not in the record and is not expected.
pub fn web_search(search: WebSearch) -> Value {
    json!({
        "type": "server_tool_use",
        "id": search.id.unwrap_or_default(),
        "name": "web_search",
        "input": search.action.unwrap_or_else(|| json!({})),
    })
}

/// Converts the content of a tool_result: a string stays unchanged, a list becomes text and image blocks.
pub fn result_content(output: Value) -> Value {
    match output {
        Value::String(_) => output,
        Value::Array(parts) => parts.into_iter().filter_map(result_part).collect(),
        other => Value::String(other.to_string()),
    }
}

fn result_part(value: Value) -> Option<Value> {
    serde_json::from_value::<Part>(value).ok().and_then(part)
}
