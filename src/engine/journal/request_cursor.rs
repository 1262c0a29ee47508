//! Follows the blocks of a replay from request to request.

use super::{Request, SentBlock};

/// The blocks of the current request, and how they differ from the previous one. A step takes time in proportion to the difference.
#[derive(Debug, Default)]
pub struct RequestCursor {
    blocks: Vec<SentBlock>,
    shared_prefix: usize,
    removed: Vec<SentBlock>,
}

impl RequestCursor {
    /// Advances to the next request. Visit all requests in order, because each is a difference from the one before.
    pub fn advance(&mut self, request: &Request) {
        self.shared_prefix = request.delta.shared_prefix.min(self.blocks.len());
        self.removed.clear();
        self.removed.extend(self.blocks.drain(self.shared_prefix..));
        self.blocks.extend(&request.delta.appended);
    }

    /// The blocks of the current request.
    pub fn blocks(&self) -> &[SentBlock] {
        &self.blocks
    }

    /// Number of first blocks that the current request shares with the previous one.
    pub fn shared_prefix(&self) -> usize {
        self.shared_prefix
    }

    /// The blocks of the current request behind the prefix that it shares with the previous one.
    pub fn added(&self) -> &[SentBlock] {
        &self.blocks[self.shared_prefix..]
    }

    /// The blocks of the previous request behind that prefix. The current request may have some of them at another position.
    pub fn removed(&self) -> &[SentBlock] {
        &self.removed
    }
}
