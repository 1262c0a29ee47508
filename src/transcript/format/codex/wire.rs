//! Codex's items as blocks of Anthropic's API.

use serde_json::{Value, json};

use super::super::openai_wire;
use super::record::{CustomCall, FunctionCall, LocalShell, Part, Reasoning, WebSearch};
use crate::transcript::conversation::{Origin, text_wire};

/// What the text of a `user` message begins with when Codex or its host application wrote it, as seen in 0.142–0.147 and
/// earlier: the surroundings, instruction files, and what the person did outside of the conversation.
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

/// Who wrote a text block of a message with this role.
pub fn origin(role: &str, wire: &Value) -> Origin {
    let text = wire.get("text").and_then(Value::as_str).unwrap_or_default().trim_start();
    match role {
        "assistant" => Origin::Agent,
        "user" if !INJECTED.iter().any(|start| text.starts_with(start)) => Origin::User,
        _ => Origin::Injected,
    }
}

/// A part of a message or of a tool's output. `None` for empty text and for what holds nothing readable (encrypted parts).
pub fn part(part: Part) -> Option<Value> {
    match (part.text, part.image_url) {
        (Some(text), _) if !text.is_empty() => Some(text_wire(text)),
        (_, Some(url)) => Some(openai_wire::image(&url)),
        _ => None,
    }
}

/// The text the model thought, if Codex was allowed to see it, else the summary of it.
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

/// A call whose input is free text: a patch, a script.
pub fn custom_call(call: CustomCall) -> Value {
    json!({"type": "tool_use", "id": call.call_id, "name": call.name, "input": {"input": call.input}})
}

/// The provider's own shell tool. `None` where it has no id to be answered by.
pub fn local_shell(call: LocalShell) -> Option<Value> {
    let id = call.call_id.or(call.id)?;
    let input = if call.action.is_object() { call.action } else { json!({"action": call.action}) };
    Some(json!({"type": "tool_use", "id": id, "name": "local_shell", "input": input}))
}

/// A search the provider ran itself: no result of it is in the record, and none is missing.
pub fn web_search(search: WebSearch) -> Value {
    json!({
        "type": "server_tool_use",
        "id": search.id.unwrap_or_default(),
        "name": "web_search",
        "input": search.action.unwrap_or_else(|| json!({})),
    })
}

/// The content of a tool_result: a string as it is, a list as text and image blocks.
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
