//! Converts items of Codex to blocks of Anthropic's API.

use serde_json::{Value, json};

use super::super::{exit_code, openai_wire};
use super::item::{CustomCall, FunctionCall, ItemMessage, LocalShell, Part, Reasoning, ToolSearch, WebSearch};
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
    let text = wire.get("text").and_then(Value::as_str).unwrap_or_default();
    match role {
        "assistant" => Origin::Agent,
        "user" if !is_injected(text) => Origin::User,
        _ => Origin::Injected,
    }
}

fn is_injected(text: &str) -> bool {
    INJECTED.iter().any(|start| text.trim_start().starts_with(start))
}

/// Returns whether a person wrote a part of a message. Such a message begins a turn.
pub fn is_typed(message: &ItemMessage) -> bool {
    let is_typed = |part: &Part| match &part.text {
        Some(text) => !text.is_empty() && !is_injected(text),
        None => part.image_url.is_some(),
    };
    message.role == "user" && message.content.iter().any(is_typed)
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
    let parts = if reasoning.content.is_empty() { reasoning.summary } else { reasoning.content };
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
    let input = if call.action.is_object() { call.action } else { json!({"action": call.action}) };
    Some(json!({"type": "tool_use", "id": call.call_id?, "name": "local_shell", "input": input}))
}

/// Converts a search that the provider ran itself. Its result is not in the record and is not expected.
pub fn web_search(search: WebSearch) -> Value {
    let input = if search.action.is_null() { json!({}) } else { search.action };
    json!({"type": "server_tool_use", "id": search.id.unwrap_or_default(), "name": "web_search", "input": input})
}

/// Converts a search for tools. Codex or the provider runs it; only Codex's searches have an id.
pub fn tool_search(search: ToolSearch) -> Value {
    let kind = if search.call_id.is_some() { "tool_use" } else { "server_tool_use" };
    let input = if search.arguments.is_object() { search.arguments } else { json!({"arguments": search.arguments}) };
    json!({"type": kind, "id": search.call_id.unwrap_or_default(), "name": "tool_search", "input": input})
}

/// Converts the tools that the provider found.
pub fn found_tools(tools: String) -> Value {
    json!({"type": "server_tool_result", "name": "tool_search", "content": tools})
}

/// Returns whether the output of a call is an error: by its field, if it has one, or else by its text.
pub fn says_failed(output: &Value) -> bool {
    match output {
        Value::Object(object) => match object.get("success").and_then(Value::as_bool) {
            Some(success) => !success,
            None => object.get("content").is_some_and(exit_code::says_failed),
        },
        text => exit_code::says_failed(text),
    }
}

/// Converts the content of a tool_result: a string stays unchanged, a list becomes text and image blocks.
pub fn result_content(output: Value) -> Value {
    match output {
        Value::String(_) => output,
        Value::Array(parts) => parts.into_iter().map(Part::from).filter_map(part).collect(),
        Value::Null => Value::String(String::new()),
        Value::Object(mut object) if object.contains_key("content") => result_content(object["content"].take()),
        other => Value::String(other.to_string()),
    }
}
