//! What a context holds.

use crate::conversation::{Block, BlockId, Role};

/// A message of the context.
#[derive(Debug, Clone)]
pub struct Sent {
    pub role: Role,
    pub plain: bool,
    /// It holds something a person typed.
    pub typed: bool,
    pub blocks: Vec<BlockId>,
}

/// A block that a layer wrote.
#[derive(Debug, Clone)]
pub struct Made {
    pub block: Block,
    /// The block it stands in place of.
    pub instead_of: Option<BlockId>,
    /// By each measure of the context's sizes.
    pub(super) sizes: Box<[u64]>,
}

impl Made {
    /// Its sizes, by each measure of the [`crate::sizes::Sizes`] it was made under.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }
}
