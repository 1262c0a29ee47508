//! The requests of a replay, one after another, with all their blocks.

use crate::engine::journal::{Request, SentBlock};

/// The blocks of the present request.
#[derive(Debug, Default)]
pub struct RequestCursor {
    blocks: Vec<SentBlock>,
}

impl RequestCursor {
    /// Goes on to the next request, and gives the blocks that the one before had behind those they have in common. A journal tells a
    /// request by the one before, so none may be left out.
    pub fn advance(&mut self, request: &Request) -> Vec<SentBlock> {
        let old = self.blocks.split_off(request.delta.shared_prefix.min(self.blocks.len()));
        self.blocks.extend(&request.delta.appended);
        old
    }

    /// The blocks of the present request.
    pub fn blocks(&self) -> &[SentBlock] {
        &self.blocks
    }
}
