//! The output of each call, where a record may hold only the first tokens of a stream.

use crate::tokens::block_sizes::BlockSizes;
use crate::tokens::meter::{Meter, SizeUnit};
use crate::transcript::conversation::{BlockId, Call, Conversation};

/// Returns the recorded output of each call; the counted tokens of the response if the record contains only the placeholder
/// that a stream began with.
pub fn outputs(conversation: &Conversation, sizes: &BlockSizes, counter: Meter) -> Vec<u64> {
    let of_call = |call: &Call| {
        let blocks = || conversation.messages[call.response].blocks.iter();
        let recorded = call.usage.map_or(0, |usage| usage.output);
        if call.recorded_output() * PLACEHOLDER_FACTOR > counter.apply(blocks().map(|id| sizes.size(*id, counter.unit)).sum()) {
            return recorded;
        }
        // A calibrated size in a request also contains what the harness added unseen. Counting with a vocabulary gives the
        // same and is expensive.
        let alone = |id: &BlockId| match counter.unit {
            SizeUnit::O200k | SizeUnit::Cl100k => sizes.size(*id, counter.unit),
            measure => measure.block(conversation.block(*id), false),
        };
        let counted = counter.apply(blocks().map(alone).sum());
        recorded.max(counted + RESPONSE_FRAME_TOKENS)
    };
    conversation.calls.iter().map(of_call).collect()
}

/// A recorded output is a placeholder if the response has this many times its tokens: a stream begins with 1 to 26.
const PLACEHOLDER_FACTOR: u64 = 4;

/// Tokens of a response beside its text, thinking and calls. With these, 763 recorded responses of Claude Code whose output
/// is not a placeholder add up to 317,398 tokens by their calibrated rates, and to 316,670 by the record.
const RESPONSE_FRAME_TOKENS: u64 = 57;
