//! Follows the blocks of a replay from request to request.

use super::{Request, SentBlock};

/// The blocks of the current request, and how they differ from the previous one. A step takes time in proportion to the difference.
#[derive(Debug, Default)]
pub struct RequestCursor {
    blocks: Vec<SentBlock>,
    shared_prefix: usize,
    removed: Vec<SentBlock>,
    /// Number of messages that the blocks of the shared prefix open, and of those that all blocks open.
    shared_messages: usize,
    messages: usize,
}

impl RequestCursor {
    /// Advances to the next request. Visit all requests in order, because each is a difference from the one before.
    pub fn advance(&mut self, request: &Request) {
        self.shared_prefix = request.delta.shared_prefix.min(self.blocks.len());
        self.removed.clear();
        self.removed.extend(self.blocks.drain(self.shared_prefix..));
        self.blocks.extend(&request.delta.appended);
        self.shared_messages = self.messages - opened(&self.removed);
        self.messages = self.shared_messages + opened(self.added());
    }

    /// Index of the message that a block is in, by its position in [`RequestCursor::added`].
    pub fn message_of_added(&self, position: usize) -> usize {
        let added = self.added();
        (self.shared_messages + opened(&added[..added.len().min(position + 1)])).saturating_sub(1)
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

/// Returns the number of messages that blocks open.
fn opened(blocks: &[SentBlock]) -> usize {
    blocks.iter().filter(|sent| sent.opens.is_some()).count()
}
