//! Messages as OpenAI's Chat Completions API has them: the form of [`openai_form`], with the id of each message.

use serde_json::{Map, Value};

use super::{read_role, refuse_others};
use crate::engine::external::ShownMessage;
use crate::transcript::conversation::{Role, text_wire};
use crate::transcript::openai_form::{self, CONTENT, ORDER, THINKING, TOOL_CALLS, in_order, part, tool};

pub(super) fn write(message: &ShownMessage) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), message.id.into());
    match (message.role, &message.blocks[..]) {
        (Role::User, [only]) if tool::is_result(only) => fields.extend(tool::write_result(only)),
        _ => fields.extend(openai_form::write(message.role, message.is_string_content, &message.blocks)),
    }
    if message.continues {
        fields.insert("continues".to_owned(), true.into());
    }
    fields
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
    let order = read_list(fields.remove(ORDER), ORDER)?;
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
