//! Sizes of messages, and the running totals of a context, in the units that it tracks.

use super::message::{ContextMessage, size_of};
use super::{Context, MessageSizes};
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::{BlockId, BlockKind};

impl Context<'_> {
    /// Returns the units that it tracks, each with its index in the sizes of the conversation's blocks.
    pub(super) fn units(&self) -> impl Iterator<Item = (usize, SizeUnit)> {
        self.slots.iter().map(|slot| (*slot, self.sizes.units()[*slot]))
    }

    /// Returns the index of a unit, if it tracks it.
    pub(super) fn slot(&self, unit: SizeUnit) -> Option<usize> {
        self.units().find(|(_, tracked)| *tracked == unit).map(|(slot, _)| slot)
    }

    pub(super) fn size_in(&self, id: BlockId, slot: usize) -> u64 {
        size_of(self.conversation, self.sizes, &self.synthetic, id, slot)
    }

    pub(super) fn sizes_of(&self, id: BlockId) -> MessageSizes {
        let mut sizes = [0; SizeUnit::MAX_UNITS];
        for slot in &self.slots {
            sizes[*slot] = self.size_in(id, *slot);
        }
        sizes
    }

    pub(super) fn sizes_of_message(&self, message: &ContextMessage) -> MessageSizes {
        self.with_frame(message, self.sums_of_blocks(message))
    }

    /// Returns the sums of the sizes of a message's blocks.
    pub(super) fn sums_of_blocks(&self, message: &ContextMessage) -> MessageSizes {
        let mut sums = [0; SizeUnit::MAX_UNITS];
        for id in &message.blocks {
            for slot in &self.slots {
                sums[*slot] += self.size_in(*id, *slot);
            }
        }
        sums
    }

    /// Adds what a message has besides its blocks to the sums of their sizes.
    pub(super) fn with_frame(&self, message: &ContextMessage, mut sums: MessageSizes) -> MessageSizes {
        for (slot, unit) in self.units() {
            sums[slot] = unit.message(message.role, message.is_string_content, message.blocks.len(), sums[slot]);
        }
        sums
    }

    /// Adds a message to the totals and returns its sizes.
    pub(super) fn add_to_totals(&mut self, message: &ContextMessage) -> MessageSizes {
        self.rewritten_last = None;
        let sizes = self.sizes_of_message(message);
        for (total, size) in self.totals.iter_mut().zip(sizes) {
            *total += size;
        }
        for id in &message.blocks {
            if let BlockKind::ToolUse(pair) = self.block(*id).kind {
                self.faults.add_tool_use(pair);
            }
        }
        sizes
    }

    pub(super) fn subtract_from_totals(&mut self, message: &ContextMessage) {
        self.rewritten_last = None;
        let sizes = self.sizes_of_message(message);
        for (total, size) in self.totals.iter_mut().zip(sizes) {
            *total -= size;
        }
        for id in &message.blocks {
            if let BlockKind::ToolUse(pair) = self.block(*id).kind {
                self.faults.remove_tool_use(pair);
            }
        }
    }
}

/// Replaces one summand of each sum.
pub(super) fn exchange(sums: &mut MessageSizes, before: &MessageSizes, after: &MessageSizes) {
    for (sum, (before, after)) in sums.iter_mut().zip(before.iter().zip(after)) {
        *sum = *sum - before + after;
    }
}
