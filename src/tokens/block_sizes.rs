//! The sizes of every block of a conversation, by every measure a study needs: computed once, read by every replay.

use crate::tokens::meter::{Meter, SizeUnit};
use crate::transcript::conversation::{BlockId, Conversation};

#[derive(Debug, Clone)]
pub struct Sizes {
    measures: Vec<SizeUnit>,
    /// One after another: the sizes of block 0 by each measure, then those of block 1, …
    sizes: Vec<u64>,
}

impl Sizes {
    pub fn new(conversation: &Conversation, measures: impl IntoIterator<Item = SizeUnit>) -> Self {
        let measures: Vec<_> = std::collections::BTreeSet::from_iter(measures).into_iter().collect();
        let mut plain = vec![false; conversation.blocks.len()];
        let folded = conversation.compactions.iter().flat_map(|compaction| compaction.edit.messages());
        for message in conversation.messages.iter().chain(folded).filter(|message| message.plain) {
            for block in &message.blocks {
                plain[block.index()] = true;
            }
        }
        let of_block = |(block, plain)| measures.iter().map(move |measure| measure.block(block, plain));
        let sizes = conversation.blocks.iter().zip(plain).flat_map(of_block).collect();
        Self { measures, sizes }
    }

    /// Puts others in place of the sizes by one measure, a size a block.
    pub fn with(mut self, measure: SizeUnit, sizes: &[u64]) -> Self {
        if let Some(slot) = self.slot(measure) {
            for (of_block, size) in self.sizes.chunks_exact_mut(self.measures.len()).zip(sizes) {
                of_block[slot] = *size;
            }
        }
        self
    }

    pub fn measures(&self) -> &[SizeUnit] {
        &self.measures
    }

    /// The sizes of a block, in the order of [`Sizes::measures`].
    pub fn of(&self, block: BlockId) -> &[u64] {
        let width = self.measures.len();
        &self.sizes[block.index() * width..][..width]
    }

    /// The size of a block by one measure; 0 by a measure that was not asked for.
    pub fn size(&self, block: BlockId, measure: SizeUnit) -> u64 {
        self.slot(measure).map_or(0, |slot| self.of(block)[slot])
    }

    /// Where a measure stands among [`Sizes::measures`].
    pub fn slot(&self, measure: SizeUnit) -> Option<usize> {
        self.measures.iter().position(|known| *known == measure)
    }
}

/// Tokens of system prompt and tools: what the first recorded usage holds beyond the messages of its request, else the system
/// prompt, where the transcript has it.
pub fn overhead(conversation: &Conversation, sizes: &Sizes, counter: Meter) -> u64 {
    let mut known = conversation.calls.iter().filter_map(|call| Some((call.response, call.billed()?.request())));
    match known.next() {
        Some((response, usage)) => {
            let blocks = conversation.messages[..response].iter().flat_map(|message| &message.blocks);
            let counted = blocks.map(|block| sizes.size(*block, counter.measure)).sum();
            usage.saturating_sub(counter.apply(counted))
        }
        None => conversation.system.as_deref().map_or(0, |system| counter.apply(counter.measure.text(system))),
    }
}
