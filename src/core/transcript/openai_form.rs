//! Blocks in the form of OpenAI's Chat Completions API and back, without loss: the roles `user`, `assistant` and `tool`, `tool_calls`
//! with their arguments as text, and images as `image_url`.
//!
//! What has no place of its own is written as Anthropic writes it, among the parts of `content`. Thinking is in `thinking_blocks`, as
//! some gateways write it. `order` is there only where the blocks are not in the usual order: thinking, content, tool calls.

pub(crate) mod part;
pub(crate) mod tool;

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use crate::transcript::conversation::Role;

/// The field of the thinking blocks.
pub(crate) const THINKING: &str = "thinking_blocks";
/// The field of texts, images and other parts.
pub(crate) const CONTENT: &str = "content";
/// The field of the tool calls.
pub(crate) const TOOL_CALLS: &str = "tool_calls";
/// The field that says in which order the blocks are, each by the field that it is in.
pub(crate) const ORDER: &str = "order";
/// The fields of a message in the usual order of their blocks.
const USUAL: [&str; 3] = [THINKING, CONTENT, TOOL_CALLS];

/// Writes the fields of a message of the user or the assistant.
pub(crate) fn write(role: Role, is_string_content: bool, blocks: &[&Value]) -> Map<String, Value> {
    let is_assistant = role == Role::Assistant;
    let mut fields = Map::new();
    let (mut thinking, mut content, mut calls, mut order) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        let kind = block["type"].as_str().unwrap_or_default();
        if is_assistant && matches!(kind, "thinking" | "redacted_thinking") {
            thinking.push((*block).clone());
            order.push(THINKING);
        } else if is_assistant && tool::is_call(block) {
            calls.push(tool::write_call(block));
            order.push(TOOL_CALLS);
        } else {
            content.push(part::write(block));
            order.push(CONTENT);
        }
    }
    let text = match &content[..] {
        [only] if is_string_content || blocks.len() > 1 => part::plain_text(only).map(Value::from),
        _ => None,
    };
    fields.insert("role".to_owned(), role.as_str().into());
    fields.insert(CONTENT.to_owned(), text.unwrap_or_else(|| if content.is_empty() { Value::Null } else { content.into() }));
    if !thinking.is_empty() {
        fields.insert(THINKING.to_owned(), thinking.into());
    }
    if !calls.is_empty() {
        fields.insert(TOOL_CALLS.to_owned(), calls.into());
    }
    if !order.is_sorted_by_key(|field| USUAL.iter().position(|usual| usual == field)) {
        fields.insert(ORDER.to_owned(), json!(order));
    }
    fields
}

/// Returns the blocks of the fields in the order that the message states, or else in the usual one.
///
/// # Errors
///
/// Fails if the order names a field more often than it has blocks.
pub(crate) fn in_order(fields: [Vec<Value>; 3], order: &[Value]) -> Result<Vec<Value>, String> {
    let mut fields = fields.map(VecDeque::from);
    let mut blocks = Vec::new();
    for name in order {
        let field = USUAL.iter().position(|usual| *name == **usual);
        let block = field.and_then(|field| fields[field].pop_front());
        blocks.push(block.ok_or_else(|| format!("`order` names {name} more often than there are blocks of it"))?);
    }
    blocks.extend(fields.into_iter().flatten());
    Ok(blocks)
}
