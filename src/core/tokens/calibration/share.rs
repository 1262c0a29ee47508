//! Distributes the recorded growth of requests over the blocks that were added.

use super::deltas::{Delta, compactions_before, new_messages, sent_blocks};
use crate::tokens::block_sizes::{BlockSizes, overhead};
use crate::tokens::meter::{Meter, Rates, scaled};
use crate::transcript::conversation::{BlockId, BlockKind, Conversation, RecordedEdit};

/// A block gets at most this many times its estimated tokens. The rest belongs to content that the harness added and the
/// transcript does not show.
const MAX_FACTOR: u64 = 2;

/// Returns the size of every block of a conversation in ten-thousandths of a token.
///
/// The new blocks of a call share the recorded growth in proportion to their estimated sizes. The previous response gets the
/// rest, because message frames and reminders come with it. So the sizes of a history that nothing edits add up to the recorded
/// usage. If the transcript does not show what the tokens belong to, blocks keep their estimated sizes.
pub fn apportion(conversation: &Conversation, rates: Rates, deltas: &[Delta]) -> Vec<u64> {
    let meter = Meter::fitted(rates);
    let raw = BlockSizes::new(conversation, [meter.unit]);
    let overhead = overhead(conversation, &raw, meter);
    let ids = (0..conversation.blocks.len()).map(|index| BlockId(index as u32));
    let mut shares =
        BlockShares { sizes: ids.map(|id| raw.size(id, meter.unit)).collect(), is_fixed: vec![false; conversation.blocks.len()] };
    let responses = conversation.calls.iter().map(|call| &conversation.messages[call.response].blocks);
    // The recorded size of a text has the frame of its response in it.
    let is_whole = |id: &BlockId| {
        let block = conversation.block(*id);
        block.kind == BlockKind::Text && block.recorded_tokens.is_some()
    };
    for block in responses.filter_map(|blocks| remainder_block(conversation, blocks)).filter(|id| !is_whole(id)) {
        shares.sizes[block.index()] += rates.call_size();
    }
    let mut deltas = deltas.iter().peekable();
    for call in 0..conversation.calls.len() {
        if let Some(delta) = deltas.next_if(|delta| delta.call == call) {
            shares.distribute(
                conversation,
                sent_blocks(conversation, new_messages(conversation, call)).collect(),
                scaled(delta.tokens),
            );
        } else if let Some(blocks) = blocks_after_compaction(conversation, call)
            && let Some(usage) = conversation.calls[call].usage
        {
            shares.distribute(conversation, blocks, scaled(usage.request().saturating_sub(overhead)));
        }
    }
    shares.sizes
}

/// Returns the blocks of a request right after a compaction replaced the whole history: the replacement and everything after it.
fn blocks_after_compaction(conversation: &Conversation, call: usize) -> Option<Vec<BlockId>> {
    let last = compactions_before(conversation, call).last()?;
    let RecordedEdit::Fold { into } = &last.edit else { return None };
    let since = conversation.messages.get(last.message_index..conversation.calls[call].response)?;
    Some(sent_blocks(conversation, into).chain(sent_blocks(conversation, since)).collect())
}

/// Returns the block that gets the tokens that belong to no text: the first that is not thinking, because thinking is removed
/// later; or else the first.
fn remainder_block(conversation: &Conversation, blocks: &[BlockId]) -> Option<BlockId> {
    let is_permanent = |id: &&BlockId| conversation.block(**id).kind != BlockKind::Thinking;
    blocks.iter().find(is_permanent).or(blocks.first()).copied()
}

struct BlockShares {
    /// Size of every block in ten-thousandths of a token.
    sizes: Vec<u64>,
    /// Whether the size comes from recorded usage.
    is_fixed: Vec<bool>,
}

impl BlockShares {
    /// Distributes `total` over blocks: blocks with a fixed size keep it, the others share the rest.
    fn distribute(&mut self, conversation: &Conversation, blocks: Vec<BlockId>, total: u64) {
        let (fixed, free): (Vec<BlockId>, Vec<BlockId>) = blocks.into_iter().partition(|id| self.is_fixed[id.index()]);
        let sum = |blocks: &[BlockId]| blocks.iter().map(|id| self.sizes[id.index()]).sum::<u64>();
        let (rest, estimated) = (total.saturating_sub(sum(&fixed)), sum(&free));
        let Some(remainder_block) = remainder_block(conversation, &free).filter(|_| rest > 0) else { return };
        let shared = rest.min(estimated * MAX_FACTOR);
        let mut left = rest;
        for id in &free {
            let size = &mut self.sizes[id.index()];
            *size = (u128::from(*size) * u128::from(shared)).checked_div(u128::from(estimated)).unwrap_or(0) as u64;
            left -= *size;
            self.is_fixed[id.index()] = true;
        }
        self.sizes[remainder_block.index()] += left;
    }
}
