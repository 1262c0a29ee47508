//! What an edit changed, and who is to thank or to blame.

use crate::transcript::conversation::BlockId;

/// Who changed the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The record itself: what entered, and what providers do with it (thinking of earlier turns leaves).
    Record,
    /// The layer with this index in the policy.
    Layer(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    Rewrite,
    Drop,
    Replace,
    Insert,
}

/// One edit as it was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeKind,
    pub cause: Cause,
    /// Index of the first message it touched, as the context stood then.
    pub at: usize,
    pub removed: Vec<BlockId>,
    pub added: Vec<BlockId>,
}
