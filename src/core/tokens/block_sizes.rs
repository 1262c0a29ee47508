//! The size of every block of a conversation in every unit a study needs; computed once and shared by all replays.

use crate::tokens::meter::{Meter, SizeUnit};
use crate::transcript::conversation::{BlockId, Conversation};

/// The sizes of all blocks in several units.
#[derive(Debug, Clone)]
pub struct BlockSizes {
    /// Sorted, without duplicates.
    measures: Vec<SizeUnit>,
    /// Row-major: the sizes of block 0 in each unit, then those of block 1, …
    sizes: Vec<u64>,
}

impl BlockSizes {
    /// Measures all blocks of a conversation, in parallel, in these units.
    pub fn new(conversation: &Conversation, measures: impl IntoIterator<Item = SizeUnit>) -> Self {
        let measures: Vec<_> = std::collections::BTreeSet::from_iter(measures).into_iter().collect();
        let mut is_plain = vec![false; conversation.blocks.len()];
        let compacted = conversation.compactions.iter().flat_map(|compaction| compaction.edit.messages());
        for message in conversation.messages.iter().chain(compacted).filter(|message| message.is_string_content) {
            for block in &message.blocks {
                is_plain[block.index()] = true;
            }
        }
        let block_sizes = |(block, is_plain)| measures.iter().map(move |measure| measure.block(block, is_plain));
        let sizes = conversation.blocks.iter().zip(is_plain).flat_map(block_sizes).collect();
        Self { measures, sizes }
    }

    /// Adds the sizes in one more unit; `sizes` has one size per block.
    pub fn with(self, unit: SizeUnit, sizes: &[u64]) -> Self {
        let width = self.measures.len();
        let slot = self.measures.partition_point(|known| *known < unit);
        let row = |(block, size): (usize, u64)| {
            let (before, after) = self.sizes[block * width..][..width].split_at(slot);
            before.iter().copied().chain([size]).chain(after.iter().copied())
        };
        let sizes = sizes.iter().copied().enumerate().flat_map(row).collect();
        let measures = [&self.measures[..slot], &[unit], &self.measures[slot..]].concat();
        Self { measures, sizes }
    }

    /// Returns the units in which the blocks were measured.
    pub fn units(&self) -> &[SizeUnit] {
        &self.measures
    }

    /// Returns the sizes of a block, in the order of [`BlockSizes::units`].
    pub fn block_sizes(&self, block: BlockId) -> &[u64] {
        let width = self.measures.len();
        &self.sizes[block.index() * width..][..width]
    }

    /// Returns the size of a block in one unit; 0 if the unit is not in [`BlockSizes::units`].
    pub fn size(&self, block: BlockId, measure: SizeUnit) -> u64 {
        self.slot(measure).map_or(0, |slot| self.block_sizes(block)[slot])
    }

    /// Returns the index of a unit in [`BlockSizes::units`].
    pub fn slot(&self, measure: SizeUnit) -> Option<usize> {
        self.measures.iter().position(|known| *known == measure)
    }
}

/// Returns the tokens of system prompt and tools: the first recorded usage minus the messages of its request. Without a
/// recorded usage, the system prompt is counted, if the transcript has it.
pub fn overhead(conversation: &Conversation, sizes: &BlockSizes, counter: Meter) -> u64 {
    let mut usages = conversation.calls.iter().filter_map(|call| Some((call.response, call.billed()?.request())));
    match usages.next() {
        Some((response, usage)) => {
            let blocks = conversation.messages[..response].iter().flat_map(|message| &message.blocks);
            let counted = blocks.map(|block| sizes.size(*block, counter.unit)).sum();
            usage.saturating_sub(counter.apply(counted))
        }
        None => conversation.system.as_deref().map_or(0, |system| counter.apply(counter.unit.text(system))),
    }
}
