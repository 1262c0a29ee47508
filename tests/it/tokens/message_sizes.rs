//! Returns the size of messages, as the sum over their blocks, as a replay computes it.

use recompact::tokens::meter::SizeUnit;
use recompact::transcript::conversation::{ConversationBuilder, Origin, Role, Thinking};
use serde_json::Value;

/// The size of `[{"role": …, "content": …}, …]`.
pub fn size(measure: SizeUnit, messages: &[Value]) -> u64 {
    measure.list(messages.len(), messages.iter().map(|message| message_size(measure, message)).sum())
}

fn message_size(measure: SizeUnit, message: &Value) -> u64 {
    let role = if message["role"] == "user" { Role::User } else { Role::Assistant };
    let mut builder = ConversationBuilder::new("main", "test", Thinking::All);
    let (plain, blocks) = match &message["content"] {
        Value::String(text) => (true, vec![builder.text(text, Origin::User, 1)]),
        Value::Array(content) => (false, content.iter().map(|wire| builder.block(wire.clone(), Origin::Agent, 1)).collect()),
        other => panic!("content is a string or a list, not {other}"),
    };
    let sum = blocks.iter().map(|id| measure.block(builder.so_far().block(*id), plain)).sum();
    measure.message(role, plain, blocks.len(), sum)
}
