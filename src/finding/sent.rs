//! The requests of a replay, one after another, with all their blocks.

use crate::journal::{Request, SentBlock};

/// The blocks of the present request.
#[derive(Debug, Default)]
pub struct Sent {
    pub(super) blocks: Vec<SentBlock>,
}

impl Sent {
    /// Goes on to the next request, and gives its blocks. A journal tells a request by the one before, so none may be left out.
    pub fn advance(&mut self, request: &Request) -> &[SentBlock] {
        self.blocks.truncate(request.tail.kept);
        self.blocks.extend(&request.tail.then);
        &self.blocks
    }
}
