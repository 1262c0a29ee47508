//! Messages of OpenAI's chat API, one a line: calls in `tool_calls`, each result as a message of the role `tool`.

use serde_json::{Map, Value, json};

use super::{System, Target, lines, wires};
use crate::transcript::conversation::{Block, BlockKind, Call, Conversation, Message, Role, Usage};
use crate::transcript::format::says_failed;
use crate::transcript::openai_form::{self, tool};

pub(super) const TARGET: Target =
    Target { name: "openai-chat", about: "OpenAI chat messages, one a line", ending: "jsonl", write };

fn write(conversation: &Conversation, system: System) -> String {
    lines(conversation, system, |message, call| match message.role {
        Role::User => user(conversation, message),
        Role::Assistant => {
            let blocks = wires(conversation, &message.blocks);
            let mut fields = openai_form::write(message.role, message.is_string_content, &blocks);
            if let Some(call) = call {
                add_call(call, &mut fields);
            }
            vec![fields]
        }
    })
}

/// Returns the messages for one of the user: each result is one, and so are the blocks between two results.
fn user(conversation: &Conversation, message: &Message) -> Vec<Map<String, Value>> {
    let mut messages = Vec::new();
    let mut others: Vec<&Value> = Vec::new();
    let end = |others: &mut Vec<&Value>, messages: &mut Vec<_>| {
        if !others.is_empty() {
            messages.push(openai_form::write(Role::User, message.is_string_content, others));
            others.clear();
        }
    };
    for block in message.blocks.iter().map(|block| conversation.block(*block)) {
        if matches!(block.kind, BlockKind::ToolResult(_)) && block.wire["tool_use_id"].is_string() {
            end(&mut others, &mut messages);
            messages.push(result(block));
        } else {
            others.push(&block.wire);
        }
    }
    end(&mut others, &mut messages);
    messages
}

/// Returns the message of a result. The API has no field for errors, so readers ask its text: where the record says something else,
/// Anthropic's field says it, with null for a result that the record does not mark.
fn result(block: &Block) -> Map<String, Value> {
    let mut fields = tool::write_result(&block.wire);
    if block.field("is_error").is_none() && says_failed(&block.wire["content"]) != block.says_failed {
        fields.insert("is_error".to_owned(), if block.says_failed { true.into() } else { Value::Null });
    }
    fields
}

/// Adds what is recorded of a response, in the fields in which recorders keep it.
fn add_call(call: &Call, fields: &mut Map<String, Value>) {
    fields.extend(call.model.as_ref().map(|model| ("model".to_owned(), model.as_str().into())));
    fields.extend(call.usage.map(|usage| ("usage".to_owned(), usage_fields(usage))));
}

fn usage_fields(usage: Usage) -> Value {
    let Usage { cache_read, cache_write_5m, cache_write_1h, output, reasoning, .. } = usage;
    let mut fields =
        json!({"prompt_tokens": usage.request(), "completion_tokens": output, "total_tokens": usage.request() + output});
    let mut details = Map::new();
    if cache_read > 0 {
        details.insert("cached_tokens".to_owned(), cache_read.into());
    }
    if cache_write_5m + cache_write_1h > 0 {
        details.insert("cache_creation_tokens".to_owned(), (cache_write_5m + cache_write_1h).into());
    }
    if cache_write_1h > 0 {
        let lives = json!({"ephemeral_5m_input_tokens": cache_write_5m, "ephemeral_1h_input_tokens": cache_write_1h});
        details.insert("cache_creation_token_details".to_owned(), lives);
    }
    if !details.is_empty() {
        fields["prompt_tokens_details"] = Value::Object(details);
    }
    if let Some(reasoning) = reasoning {
        fields["completion_tokens_details"] = json!({ "reasoning_tokens": reasoning });
    }
    fields
}
