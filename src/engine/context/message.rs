//! What a context holds.

use std::sync::Arc;

use super::rewrite_cache::RewrittenBlock;
use crate::tokens::block_sizes::Sizes;
use crate::transcript::conversation::{Block, BlockId, Conversation, Role};

/// A message of the context.
#[derive(Debug, Clone)]
pub struct ContextMessage {
    pub role: Role,
    pub plain: bool,
    /// It holds something a person typed.
    pub typed: bool,
    pub blocks: Vec<BlockId>,
}

/// A block that a layer wrote.
#[derive(Debug, Clone)]
pub struct SyntheticBlock {
    pub written: Arc<RewrittenBlock>,
    /// The block it stands in place of.
    pub instead_of: Option<BlockId>,
}

/// A block of a conversation, or one that a layer wrote.
pub fn block_of<'b>(conversation: &'b Conversation, made: &'b [SyntheticBlock], id: BlockId) -> &'b Block {
    match id.index().checked_sub(conversation.blocks.len()) {
        None => conversation.block(id),
        Some(index) => &made[index].written.block,
    }
}

/// The sizes of such a block, in the order of [`Sizes::measures`].
pub fn sizes_of<'b>(conversation: &Conversation, sizes: &'b Sizes, made: &'b [SyntheticBlock], id: BlockId) -> &'b [u64] {
    match id.index().checked_sub(conversation.blocks.len()) {
        None => sizes.of(id),
        Some(index) => &made[index].written.sizes,
    }
}
