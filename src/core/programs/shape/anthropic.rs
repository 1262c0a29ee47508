//! Messages as Anthropic's Messages API has them: `role`, and `content` as a text or a list of blocks.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{read_role, refuse_others};
use crate::engine::external::{MessageId, ShownMessage};
use crate::transcript::conversation::{Role, text_wire};

/// A message; its blocks are written as they are.
#[derive(Serialize)]
pub(super) struct Wire<'a> {
    id: MessageId,
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Blocks(Vec<&'a Value>),
}

impl<'a> Wire<'a> {
    pub fn new(message: &ShownMessage<'a>) -> Self {
        let text = message.blocks.first().filter(|_| message.is_string_content).and_then(|block| block["text"].as_str());
        let content = text.map_or_else(|| Content::Blocks(message.blocks.clone()), Content::Text);
        Self { id: message.id, role: message.role.as_str(), content }
    }
}

pub(super) fn read(mut fields: Map<String, Value>) -> Result<(Role, bool, Vec<Value>), String> {
    let role = match read_role(fields.remove("role"))?.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => return Err(format!("the role `{other}` is unknown (known: user, assistant)")),
    };
    let content = fields.remove("content");
    refuse_others(&fields, "id, replaces, role, content")?;
    match content {
        Some(Value::String(text)) => Ok((role, true, vec![text_wire(text)])),
        Some(Value::Array(blocks)) => Ok((role, false, blocks)),
        _ => Err("`content` is a text or a list of blocks".to_owned()),
    }
}
