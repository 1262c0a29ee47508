//! Messages as OpenAI's Chat Completions API has them: the roles `user`, `assistant` and `tool`, `tool_calls` with their arguments
//! as text, and images as `image_url`.
//!
//! Thinking is in `thinking_blocks`, as some gateways write it. `order` is there only where the blocks are not in the usual order:
//! thinking, content, tool calls.

mod part;
mod tool;

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::{read_role, refuse_others};
use crate::engine::external::ShownMessage;
use crate::transcript::conversation::{Role, text_wire};

const THINKING: &str = "thinking_blocks";
const CONTENT: &str = "content";
const TOOL_CALLS: &str = "tool_calls";
/// The fields of a message in the usual order of their blocks.
const USUAL: [&str; 3] = [THINKING, CONTENT, TOOL_CALLS];

pub(super) fn write(message: &ShownMessage) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), message.id.into());
    match (message.role, &message.blocks[..]) {
        (Role::User, [only]) if tool::is_result(only) => fields.extend(tool::write_result(only)),
        _ => write_parts(message, &mut fields),
    }
    if message.continues {
        fields.insert("continues".to_owned(), true.into());
    }
    fields
}

/// Writes a message of the user or the assistant.
fn write_parts(message: &ShownMessage, fields: &mut Map<String, Value>) {
    let is_assistant = message.role == Role::Assistant;
    let (mut thinking, mut content, mut calls, mut order) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for block in &message.blocks {
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
        [only] if message.is_string_content || message.blocks.len() > 1 => part::plain_text(only).map(Value::from),
        _ => None,
    };
    fields.insert("role".to_owned(), message.role.as_str().into());
    fields.insert(CONTENT.to_owned(), text.unwrap_or_else(|| if content.is_empty() { Value::Null } else { content.into() }));
    if !thinking.is_empty() {
        fields.insert(THINKING.to_owned(), thinking.into());
    }
    if !calls.is_empty() {
        fields.insert(TOOL_CALLS.to_owned(), calls.into());
    }
    if !order.is_sorted_by_key(|field| USUAL.iter().position(|usual| usual == field)) {
        fields.insert("order".to_owned(), json!(order));
    }
}

pub(super) fn read(mut fields: Map<String, Value>) -> Result<(Role, bool, Vec<Value>), String> {
    let role = match read_role(fields.remove("role"))?.as_str() {
        "tool" => return Ok((Role::User, false, vec![tool::read_result(fields)?])),
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => return Err(format!("the role `{other}` is unknown (known: user, assistant, tool)")),
    };
    let is_text = matches!(fields.get(CONTENT), Some(Value::String(_)));
    let content = match fields.remove(CONTENT) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => vec![text_wire(text)],
        Some(Value::Array(parts)) => parts.into_iter().map(part::read).collect(),
        Some(_) => return Err("`content` is a text, a list of parts, or null".to_owned()),
    };
    let thinking = read_list(fields.remove(THINKING), THINKING)?;
    let calls = read_list(fields.remove(TOOL_CALLS), TOOL_CALLS)?;
    let calls = calls.into_iter().map(tool::read_call).collect::<Result<Vec<_>, _>>()?;
    let order = read_list(fields.remove("order"), "order")?;
    refuse_others(&fields, "id, replaces, continues, role, content, tool_calls, tool_call_id, thinking_blocks, order")?;
    let is_string_content = is_text && thinking.is_empty() && calls.is_empty();
    let blocks = in_order([thinking, content, calls], &order)?;
    Ok((role, is_string_content, blocks))
}

fn read_list(value: Option<Value>, field: &str) -> Result<Vec<Value>, String> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(format!("`{field}` is a list")),
    }
}

/// Returns the blocks of the fields in the order that the message states, or else in the usual one.
fn in_order(fields: [Vec<Value>; 3], order: &[Value]) -> Result<Vec<Value>, String> {
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
