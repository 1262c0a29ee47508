//! Messages of Anthropic's API, one a line, as harnesses archive them.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{System, Target, lines};
use crate::transcript::conversation::{Block, BlockKind, Call, Conversation, Message, Usage};

pub(super) const TARGET: Target = Target { name: "messages", about: "Anthropic messages, one a line", ending: "jsonl", write };

fn write(conversation: &Conversation, system: System) -> String {
    lines(conversation, system, |message, call| {
        let mut fields = message_fields(conversation, message);
        if let Some(call) = call {
            add_call(call, &mut fields);
        }
        vec![fields]
    })
}

fn message_fields(conversation: &Conversation, message: &Message) -> Map<String, Value> {
    let blocks: Vec<&Block> = message.blocks.iter().map(|block| conversation.block(*block)).collect();
    let content = match blocks[..] {
        [only] if message.is_string_content && only.kind == BlockKind::Text => only.wire["text"].clone(),
        _ => blocks.into_iter().map(|block| flagged(block).into_owned()).collect(),
    };
    Map::from_iter([("role".to_owned(), message.role.as_str().into()), ("content".to_owned(), content)])
}

/// Returns the wire form of a block. A result whose text says that its tool failed gets the field for that.
fn flagged(block: &Block) -> Cow<'_, Value> {
    if !block.says_failed {
        return Cow::Borrowed(&block.wire);
    }
    let mut wire = block.wire.clone();
    wire["is_error"] = true.into();
    Cow::Owned(wire)
}

/// Adds what is recorded of a response, in the fields that the API returns it in.
fn add_call(call: &Call, fields: &mut Map<String, Value>) {
    let id = call.message_id.as_ref().filter(|id| id.starts_with("msg_"));
    fields.extend(id.map(|id| ("id".to_owned(), id.as_str().into())));
    fields.extend(call.model.as_ref().map(|model| ("model".to_owned(), model.as_str().into())));
    fields.extend(call.usage.map(|usage| ("usage".to_owned(), usage_fields(usage))));
}

fn usage_fields(usage: Usage) -> Value {
    let Usage { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning } = usage;
    let mut fields = json!({"input_tokens": input, "cache_creation_input_tokens": cache_write_5m + cache_write_1h,
        "cache_read_input_tokens": cache_read, "output_tokens": output});
    if cache_write_1h > 0 {
        fields["cache_creation"] =
            json!({"ephemeral_5m_input_tokens": cache_write_5m, "ephemeral_1h_input_tokens": cache_write_1h});
    }
    if let Some(reasoning) = reasoning {
        fields["output_tokens_details"] = json!({ "reasoning_tokens": reasoning });
    }
    fields
}
