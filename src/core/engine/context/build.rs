//! Builds the messages of a context: recorded ones as the harness stores them, and those that layers write.

use std::sync::Arc;

use super::message::{ContextMessage, SyntheticBlock, kind_of};
use super::rewrite_cache::RewrittenBlock;
use super::{Context, MessageUnit, NewBlock, NewMessage};
use crate::transcript::conversation::{Block, BlockId, BlockKind, Message, Origin, Role};

impl Context<'_> {
    /// Appends a message of the conversation, a new input message or a response, as the messages that the harness stores of it.
    /// Returns their number.
    pub fn append(&mut self, message: &Message, without_thinking: bool) -> usize {
        let is_kept = |id: &&BlockId| !(without_thinking && self.block(**id).kind == BlockKind::Thinking);
        let blocks: Vec<_> = message.blocks.iter().filter(is_kept).copied().collect();
        if !without_thinking {
            self.note_response(message);
        }
        if blocks.is_empty() {
            return 0;
        }
        let parts = self.unit.split(message.role, blocks, |id| self.block(id).kind);
        let appended = parts.len();
        for blocks in parts {
            let appended = self.new_message(message.role, message.is_string_content, blocks);
            let sizes = self.add_to_totals(&appended);
            for (sum, size) in self.appended.iter_mut().zip(sizes) {
                *sum += size;
            }
            self.faults.invalidate_from(self.messages.len());
            self.positions.append(self.messages.len(), &appended);
            self.messages.push(appended);
        }
        appended
    }

    /// Returns a message that a layer writes.
    pub(super) fn build_message(&mut self, message: NewMessage) -> ContextMessage {
        let blocks = message.blocks.into_iter().map(|block| match block {
            NewBlock::Existing(id) => id,
            NewBlock::Synthetic { wire, origin } => {
                let block = Block { kind: kind_of(&wire), origin, line: 0, recorded_tokens: None, says_failed: false, wire };
                self.add_synthetic(Arc::new(RewrittenBlock::new(block, message.is_string_content, self.sizes)), None)
            }
        });
        let blocks = blocks.collect();
        self.new_message(message.role, message.is_string_content, blocks)
    }

    /// Adds a block that a layer wrote, and returns its id.
    pub(super) fn add_synthetic(&mut self, rewritten: Arc<RewrittenBlock>, replaces: Option<BlockId>) -> BlockId {
        let id = self.conversation.blocks.len() + self.synthetic.len();
        self.synthetic.push(SyntheticBlock { rewritten, replaces });
        BlockId(u32::try_from(id).unwrap_or(u32::MAX))
    }

    pub(super) fn new_message(&self, role: Role, is_string_content: bool, blocks: Vec<BlockId>) -> ContextMessage {
        let holds = |is_wanted: &dyn Fn(&Block) -> bool| blocks.iter().any(|id| is_wanted(self.block(*id)));
        let has_results = role == Role::User && holds(&|block| matches!(block.kind, BlockKind::ToolResult(_)));
        let typed = match self.unit {
            MessageUnit::Whole => holds(&|block| block.origin == Origin::User),
            _ => role == Role::User && !has_results,
        };
        let has_thinking = holds(&|block| block.kind == BlockKind::Thinking);
        ContextMessage { role, is_string_content, typed, has_thinking, has_results, blocks }
    }
}
