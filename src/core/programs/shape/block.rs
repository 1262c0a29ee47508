//! What a block from a program must have, so that it can be measured.

use serde_json::Value;

/// Checks a block in Anthropic's form.
pub(super) fn check(block: &Value) -> Result<(), String> {
    let kind = block.as_object().and_then(|block| block.get("type")?.as_str());
    let kind = kind.ok_or("a block is an object with a `type`")?;
    let is_text = |field: &str| block[field].is_string();
    let (field, is_right, what) = match kind {
        "text" => ("text", is_text("text"), "a text"),
        "thinking" => ("thinking", is_text("thinking"), "a text"),
        "tool_use" if !is_text("id") => ("id", false, "a text"),
        "tool_use" if !is_text("name") => ("name", false, "a text"),
        "tool_use" => ("input", block["input"].is_object(), "an object"),
        "tool_result" if !is_text("tool_use_id") => ("tool_use_id", false, "a text"),
        "tool_result" => {
            let content = &block["content"];
            let is_list = content.as_array().is_some_and(|parts| parts.iter().all(Value::is_object));
            ("content", content.is_null() || content.is_string() || is_list, "a text or a list of blocks")
        }
        _ => return Ok(()),
    };
    if is_right { Ok(()) } else { Err(format!("`{field}` of a {kind} block is {what}")) }
}
