//! Applies a harness's meter to the messages between two calls.

use super::deltas::{Delta, new_messages};
use crate::tokens::block_sizes::BlockSizes;
use crate::tokens::meter::{Meter, SizeUnit};
use crate::transcript::conversation::{BlockId, Conversation, Message};

/// Returns the meter's estimate and the recorded tokens of each delta. `known`: sizes that are not measured again.
pub fn metered(conversation: &Conversation, deltas: &[Delta], meter: &Meter, known: Option<&BlockSizes>) -> Vec<(f64, u64)> {
    let measure = meter.unit;
    let known = known.and_then(|sizes| Some((sizes, sizes.slot(measure)?)));
    let block_size = |id: BlockId, plain: bool| match known {
        Some((sizes, slot)) => sizes.block_sizes(id)[slot],
        None => measure.block(conversation.block(id), plain),
    };
    let size = |delta: &Delta| {
        let messages = new_messages(conversation, delta.call);
        let sum = messages.iter().map(|message| size_of(message, measure, block_size)).sum();
        // The growth of a list of messages; its brackets existed before.
        measure.list(messages.len() + 1, sum) - measure.list(1, 0)
    };
    deltas.iter().map(|delta| (meter.apply(size(delta)) as f64, delta.tokens)).collect()
}

/// Returns the size of a recorded message.
pub fn message_size(conversation: &Conversation, message: &Message, measure: SizeUnit) -> u64 {
    size_of(message, measure, |id, plain| measure.block(conversation.block(id), plain))
}

/// Returns the size of a recorded message whose blocks have these sizes. `block_size` also gets whether the content is a bare string.
fn size_of(message: &Message, measure: SizeUnit, block_size: impl Fn(BlockId, bool) -> u64) -> u64 {
    let blocks = message.blocks.iter().map(|id| block_size(*id, message.is_string_content));
    measure.message(message.role, message.is_string_content, message.blocks.len(), blocks.sum())
}
