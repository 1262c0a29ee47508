//! The content of steps as blocks of messages and back.

use serde_json::{Map, Value, json};

use super::super::openai_wire;
use crate::transcript::conversation::text_wire;

/// The field of `extra` that holds what only recompact reads.
pub const OWN: &str = "recompact";

/// What harbor writes for the name or the version of an agent that it does not know.
pub const UNKNOWN: &str = "unknown";

/// The field of an agent's `extra` with the session whose agent started it, as harbor's Terminus 2 writes it.
pub const PARENT: &str = "parent_session_id";

/// Reads a message: a text, or a list of texts, images and sounds. `unknown` is given each type of part that is not read.
pub fn read_parts(message: &Value, unknown: &mut dyn FnMut(&str)) -> Vec<Value> {
    let part = |part: &Value| {
        let path = part.pointer("/source/path").or_else(|| part.pointer("/source/url")).and_then(Value::as_str);
        match (part["type"].as_str().unwrap_or("unknown"), part["text"].as_str(), path) {
            ("text", Some(text), _) => (!text.is_empty()).then(|| text_wire(text)),
            ("image", _, Some(path)) => Some(openai_wire::image(path)),
            (other, ..) => {
                unknown(other);
                None
            }
        }
    };
    match message {
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![text_wire(text.as_str())],
        Value::Array(parts) => parts.iter().filter_map(part).collect(),
        _ => Vec::new(),
    }
}

/// Reads what a step of the agent said: reasoning, message, calls.
pub fn read_response(step: &Value, unknown: &mut dyn FnMut(&str)) -> Vec<Value> {
    let mut wires = Vec::new();
    let thought = step["reasoning_content"].as_str().filter(|thought| !thought.is_empty());
    wires.extend(thought.map(|thought| json!({"type": "thinking", "thinking": thought})));
    wires.extend(read_parts(&step["message"], unknown));
    for call in step["tool_calls"].as_array().into_iter().flatten() {
        let input =
            if call["arguments"].is_object() { call["arguments"].clone() } else { json!({"arguments": call["arguments"]}) };
        let (id, name) = (call["tool_call_id"].as_str().unwrap_or_default(), call["function_name"].as_str().unwrap_or("unknown"));
        wires.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    wires
}

/// Reads the content of a result: a text, or blocks.
pub fn read_result(content: &Value, unknown: &mut dyn FnMut(&str)) -> Value {
    if let Value::String(text) = content {
        return text.as_str().into();
    }
    let wires = read_parts(content, unknown);
    match wires.as_slice() {
        [] => json!(""),
        [only] if only["type"] == "text" => only["text"].clone(),
        _ => Value::Array(wires),
    }
}

/// Writes blocks as a message, as far as it can hold them.
pub fn write_parts(wires: &[&Value]) -> Value {
    match wires {
        [] => json!(""),
        [only] if only["type"] == "text" => only["text"].clone(),
        wires => wires.iter().map(|wire| write_part(wire)).collect(),
    }
}

fn write_part(wire: &Value) -> Value {
    let source = &wire["source"];
    let text = |key: &str| source[key].as_str().unwrap_or_default();
    match (wire["type"].as_str().unwrap_or_default(), source["type"].as_str().unwrap_or_default()) {
        ("text", _) => json!({"type": "text", "text": wire["text"]}),
        ("image", "base64") => {
            let path = format!("data:{};base64,{}", text("media_type"), text("data"));
            json!({"type": "image", "source": {"media_type": text("media_type"), "path": path}})
        }
        ("image", "url") => json!({"type": "image", "source": {"media_type": "image/*", "path": text("url")}}),
        _ => json!({"type": "text", "text": wire.to_string()}),
    }
}

/// Writes what a response said, as far as a step can hold it.
pub fn write_response(wires: &[&Value]) -> Map<String, Value> {
    let of = |kinds: &[&str]| -> Vec<&Value> {
        wires.iter().copied().filter(|wire| kinds.contains(&wire["type"].as_str().unwrap_or_default())).collect()
    };
    let mut step = Map::new();
    let (thoughts, calls) = (of(&["thinking", "redacted_thinking"]), of(&["tool_use"]));
    let others: Vec<&Value> = wires.iter().copied().filter(|wire| !thoughts.contains(wire) && !calls.contains(wire)).collect();
    step.insert("message".to_owned(), write_parts(&others));
    let thought: Vec<&str> = thoughts.iter().filter_map(|thought| thought["thinking"].as_str()).collect();
    if !thought.is_empty() {
        step.insert("reasoning_content".to_owned(), thought.join("\n\n").into());
    }
    let call = |call: &&Value| json!({"tool_call_id": call["id"], "function_name": call["name"], "arguments": call["input"]});
    if !calls.is_empty() {
        step.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
    }
    step
}

/// Writes the content of a result, as far as it can be held.
pub fn write_result(content: &Value) -> Value {
    match content {
        Value::Array(parts) => {
            let parts: Vec<Value> = parts.iter().map(write_part).collect();
            parts.into()
        }
        Value::Null => json!(""),
        content => content.clone(),
    }
}
