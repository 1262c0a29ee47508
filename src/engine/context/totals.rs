//! Sizes of messages, and the running totals of a context.

use super::message::{ContextMessage, sizes_of};
use super::{Context, MessageSizes};
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::{BlockId, BlockKind};

impl Context<'_> {
    pub(super) fn sizes_of_message(&self, message: &ContextMessage) -> MessageSizes {
        self.with_frame(message, self.sums_of_blocks(message))
    }

    /// Returns the sums of the sizes of a message's blocks.
    pub(super) fn sums_of_blocks(&self, message: &ContextMessage) -> MessageSizes {
        let mut sums = [0; SizeUnit::MAX_UNITS];
        for id in &message.blocks {
            for (sum, size) in sums.iter_mut().zip(self.sizes_of(*id)) {
                *sum += size;
            }
        }
        sums
    }

    /// Adds what a message has besides its blocks to the sums of their sizes.
    pub(super) fn with_frame(&self, message: &ContextMessage, mut sums: MessageSizes) -> MessageSizes {
        for (size, unit) in sums.iter_mut().zip(self.sizes.units()) {
            *size = unit.message(message.role, message.is_string_content, message.blocks.len(), *size);
        }
        sums
    }

    pub(super) fn sizes_of(&self, id: BlockId) -> &[u64] {
        sizes_of(self.conversation, self.sizes, &self.synthetic, id)
    }

    pub(super) fn unit_index(&self, unit: SizeUnit) -> Option<usize> {
        self.sizes.units().iter().position(|m| *m == unit)
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
