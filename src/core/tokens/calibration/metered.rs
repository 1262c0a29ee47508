//! Applies a harness's meter to the messages between two calls.

use super::deltas::{Delta, new_messages};
use crate::tokens::meter::{Meter, SizeUnit};
use crate::transcript::conversation::{Conversation, Message};

/// Returns the meter's estimate and the recorded tokens of each delta.
pub fn metered(conversation: &Conversation, deltas: &[Delta], meter: &Meter) -> Vec<(f64, u64)> {
    let measure = meter.unit;
    let size = |delta: &Delta| {
        let messages = new_messages(conversation, delta.call);
        let sum = messages.iter().map(|message| message_size(conversation, message, measure)).sum();
        // The growth of a list of messages; its brackets existed before.
        measure.list(messages.len() + 1, sum) - measure.list(1, 0)
    };
    deltas.iter().map(|delta| (meter.apply(size(delta)) as f64, delta.tokens)).collect()
}

/// Returns the size of a recorded message.
pub fn message_size(conversation: &Conversation, message: &Message, measure: SizeUnit) -> u64 {
    let blocks = message.blocks.iter().map(|id| measure.block(conversation.block(*id), message.is_string_content));
    measure.message(message.role, message.is_string_content, message.blocks.len(), blocks.sum())
}
