//! What a harness's meter makes of what entered between two calls.

use super::deltas::{Delta, messages};
use crate::tokens::meter::{Meter, SizeUnit};
use crate::transcript::conversation::{Conversation, Message};

/// The meter's estimate of each delta, and the tokens that its record tells.
pub fn metered(conversation: &Conversation, deltas: &[Delta], meter: &Meter) -> Vec<(f64, u64)> {
    let measure = meter.measure;
    let size = |delta: &Delta| {
        let entered = messages(conversation, delta.call);
        let sum = entered.iter().map(|message| message_size(conversation, message, measure)).sum();
        // What a list grows by: the brackets of one with a single message were there before.
        measure.list(entered.len() + 1, sum) - measure.list(1, 0)
    };
    deltas.iter().map(|delta| (meter.apply(size(delta)) as f64, delta.tokens)).collect()
}

/// The size of a recorded message as it stands.
pub fn message_size(conversation: &Conversation, message: &Message, measure: SizeUnit) -> u64 {
    let blocks = message.blocks.iter().map(|id| measure.block(conversation.block(*id), message.plain));
    measure.message(message.role, message.plain, message.blocks.len(), blocks.sum())
}
