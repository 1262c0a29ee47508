//! Messages and blocks of a context.

use std::sync::Arc;

use serde_json::Value;

use super::rewrite_cache::RewrittenBlock;
use crate::tokens::block_sizes::BlockSizes;
use crate::transcript::conversation::{Block, BlockId, BlockKind, Conversation, Role};

/// A message of the context.
#[derive(Debug, Clone)]
pub struct ContextMessage {
    pub role: Role,
    /// The content is one string, not a list of blocks.
    pub is_string_content: bool,
    /// A block of it holds text that the user typed. A harness whose messages are smaller than [`MessageUnit::Whole`] cannot tell:
    /// for it, every message of the user's that holds no tool_result is typed, summaries included.
    ///
    /// [`MessageUnit::Whole`]: super::MessageUnit::Whole
    pub typed: bool,
    /// A block of it is thinking.
    pub has_thinking: bool,
    /// It is a user message with a tool_result.
    pub has_results: bool,
    pub blocks: Vec<BlockId>,
}

impl ContextMessage {
    /// Returns whether the agent wrote it.
    pub fn is_response(&self) -> bool {
        self.role == Role::Assistant
    }
}

/// A block that a layer wrote.
#[derive(Debug, Clone)]
pub struct SyntheticBlock {
    pub rewritten: Arc<RewrittenBlock>,
    /// The block that it replaces; `None` if it replaces no single block.
    pub replaces: Option<BlockId>,
}

/// Returns a block of a conversation, or one that a layer wrote.
pub fn block_of<'b>(conversation: &'b Conversation, synthetic: &'b [SyntheticBlock], id: BlockId) -> &'b Block {
    match id.index().checked_sub(conversation.blocks.len()) {
        None => conversation.block(id),
        Some(index) => &synthetic[index].rewritten.block,
    }
}

/// Returns the recorded block that a block is, or that it replaces; `None` for blocks that layers added.
pub fn recorded_block(conversation: &Conversation, synthetic: &[SyntheticBlock], mut id: BlockId) -> Option<BlockId> {
    while let Some(index) = id.index().checked_sub(conversation.blocks.len()) {
        id = synthetic.get(index)?.replaces?;
    }
    Some(id)
}

/// Returns the size of a block in one of the units of [`BlockSizes::units`].
pub fn size_of(conversation: &Conversation, sizes: &BlockSizes, synthetic: &[SyntheticBlock], id: BlockId, slot: usize) -> u64 {
    match id.index().checked_sub(conversation.blocks.len()) {
        None => sizes.block_sizes(id)[slot],
        Some(index) => synthetic[index].rewritten.size(sizes, slot),
    }
}

/// Returns the kind of a block that a layer writes. Such a block is part of no tool call.
pub(super) fn kind_of(wire: &Value) -> BlockKind {
    match wire.get("type").and_then(Value::as_str) {
        Some("text") => BlockKind::Text,
        Some("thinking" | "redacted_thinking") => BlockKind::Thinking,
        Some("image" | "document") => BlockKind::Media,
        _ => BlockKind::Other,
    }
}
