//! Tool calls, and the messages with their results.

use serde_json::{Map, Value, json};

use super::part;

/// Fields of a message that a result may not have as its own.
const RESERVED: [&str; 5] = ["id", "replaces", "continues", "role", "tool_call_id"];

/// Returns whether a block can be written as a tool call.
pub(crate) fn is_call(block: &Value) -> bool {
    block["type"] == "tool_use"
        && block["id"].is_string()
        && block["name"].is_string()
        && block["input"].is_object()
        && block.get("function").is_none()
}

pub(crate) fn write_call(block: &Value) -> Value {
    let mut call = others(block, &["type", "id", "name", "input"]);
    let function = json!({ "name": block["name"], "arguments": block["input"].to_string() });
    let mut fields = Map::new();
    fields.insert("id".to_owned(), block["id"].clone());
    fields.insert("type".to_owned(), "function".into());
    fields.insert("function".to_owned(), function);
    fields.append(&mut call);
    Value::Object(fields)
}

pub(crate) fn read_call(call: Value) -> Result<Value, String> {
    let (id, name) = (&call["id"], &call["function"]["name"]);
    let arguments = call["function"]["arguments"].as_str().ok_or("`arguments` of a tool call is a text")?;
    let arguments = if arguments.is_empty() { "{}" } else { arguments };
    let input: Value =
        serde_json::from_str(arguments).map_err(|error| format!("`arguments` of the tool call {id} is not JSON: {error}"))?;
    let mut block = Map::new();
    block.insert("type".to_owned(), "tool_use".into());
    block.insert("id".to_owned(), id.clone());
    block.insert("name".to_owned(), name.clone());
    block.insert("input".to_owned(), input);
    block.append(&mut others(&call, &["type", "id", "function"]));
    Ok(Value::Object(block))
}

/// Returns whether a block can be written as the message of a tool.
pub(crate) fn is_result(block: &Value) -> bool {
    block["type"] == "tool_result"
        && block["tool_use_id"].is_string()
        && (block["content"].is_string() || block["content"].is_array())
        && RESERVED.iter().all(|field| block.get(field).is_none())
}

pub(crate) fn write_result(block: &Value) -> Map<String, Value> {
    let content = match &block["content"] {
        Value::Array(parts) => parts.iter().map(part::write).collect(),
        text => text.clone(),
    };
    let mut fields = Map::new();
    fields.insert("role".to_owned(), "tool".into());
    fields.insert("tool_call_id".to_owned(), block["tool_use_id"].clone());
    fields.insert("content".to_owned(), content);
    fields.append(&mut others(block, &["type", "tool_use_id", "content"]));
    fields
}

/// Reads the message of a tool, without its role.
pub(crate) fn read_result(mut fields: Map<String, Value>) -> Result<Value, String> {
    let id = fields.remove("tool_call_id").filter(Value::is_string).ok_or("a message of a tool has a `tool_call_id`")?;
    let content = match fields.remove("content") {
        Some(Value::Array(parts)) => Value::Array(parts.into_iter().map(part::read).collect()),
        Some(text) => text,
        None => return Err("a message of a tool has `content`".to_owned()),
    };
    let mut block = Map::new();
    block.insert("type".to_owned(), "tool_result".into());
    block.insert("tool_use_id".to_owned(), id);
    block.insert("content".to_owned(), content);
    block.append(&mut fields);
    Ok(Value::Object(block))
}

/// Returns the other fields of an object.
fn others(object: &Value, known: &[&str]) -> Map<String, Value> {
    let fields = object.as_object().into_iter().flatten();
    fields.filter(|(key, _)| !known.contains(&key.as_str())).map(|(key, value)| (key.clone(), value.clone())).collect()
}
