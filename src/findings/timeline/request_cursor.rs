//! Restores the blocks of each request from the journal's request deltas.

use crate::engine::journal::{Request, SentBlock};

/// Cursor over the requests of a replay. Holds the blocks of the current request.
#[derive(Debug, Default)]
pub struct RequestCursor {
    blocks: Vec<SentBlock>,
}

impl RequestCursor {
    /// Advances to the next request, and returns the blocks of the previous request after the prefix that both share. The journal stores
    /// each request as a delta of the previous one, so visit all requests in order.
    pub fn advance(&mut self, request: &Request) -> Vec<SentBlock> {
        let old = self.blocks.split_off(request.delta.shared_prefix.min(self.blocks.len()));
        self.blocks.extend(&request.delta.appended);
        old
    }

    /// Returns the blocks of the current request.
    pub fn blocks(&self) -> &[SentBlock] {
        &self.blocks
    }
}
