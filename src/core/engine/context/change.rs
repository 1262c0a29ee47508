//! The log of edits: what each edit changed, and what caused it.

use rustc_hash::FxHashSet;

use crate::transcript::conversation::BlockId;

/// What changed the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The recording itself: new messages, and what providers do (they remove the thinking of earlier turns).
    Record,
    /// The layer with this index in the policy.
    Layer(usize),
}

/// What a change did to blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    Rewrite,
    Drop,
    Replace,
    Insert,
}

/// One applied edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeKind,
    pub cause: Cause,
    /// Index of the first changed message, at the time of the edit.
    pub at: usize,
    pub removed: Vec<BlockId>,
    pub added: Vec<BlockId>,
}

impl Change {
    /// Returns whether a layer made the edit.
    pub fn is_of_layer(&self) -> bool {
        self.cause != Cause::Record
    }

    /// Returns the blocks that the edit removed and did not put back.
    pub fn gone(&self) -> impl Iterator<Item = BlockId> {
        let is_other = is_not_in(&self.added);
        self.removed.iter().copied().filter(move |block| is_other(*block))
    }
}

/// Up to this many blocks, a list is searched faster than a set is built. Most edits add one block.
const FEW: usize = 8;

/// Returns a test for blocks that are not among these.
pub(super) fn is_not_in(blocks: &[BlockId]) -> impl Fn(BlockId) -> bool {
    let set: Option<FxHashSet<BlockId>> = (blocks.len() > FEW).then(|| blocks.iter().copied().collect());
    move |block| !set.as_ref().map_or_else(|| blocks.contains(&block), |set| set.contains(&block))
}
