//! The ways back to a tool result that a policy took away: the same notion as that of a soft miss, for a whole block.

use std::ops::Range;

use crate::engine::journal::{Journal, Request};
use crate::facts::references::References;
use crate::transcript::conversation::{BlockId, Conversation};

use super::archives::Archives;
use super::recover::{Handle, handle};
use super::visible_facts::VisibleFacts;

/// What is in sight, request by request, by which tool results can be had again.
pub struct RecoveryPaths<'a> {
    conversation: &'a Conversation,
    references: &'a References,
    journal: &'a Journal,
    sight: VisibleFacts<'a>,
    archives: Archives,
    /// Messages of the conversation that have entered.
    read: usize,
    /// How many archives had been written when each block came, and when it left for the first time.
    stood: Vec<Range<usize>>,
}

impl<'a> RecoveryPaths<'a> {
    pub fn new(conversation: &'a Conversation, references: &'a References, journal: &'a Journal) -> Self {
        let sight = VisibleFacts::new(conversation, references, journal);
        let archives = sight.archives().clone();
        let stood = vec![0..usize::MAX; conversation.blocks.len()];
        Self { conversation, references, journal, sight, archives, read: 0, stood }
    }

    /// Goes on to the next request.
    pub fn advance(&mut self, request: &Request) {
        self.archives.until(request.call);
        let response = self.conversation.calls[request.call].response;
        for block in self.conversation.messages[self.read..response].iter().flat_map(|message| &message.blocks) {
            self.stood[block.index()].start = self.archives.count();
        }
        self.read = response;
        for change in request.edits() {
            self.archives.before(request.call, change.cause);
            let recorded = |id: &BlockId| self.journal.recorded_block(self.conversation, *id);
            for block in change.removed.iter().filter_map(recorded) {
                let stood = &mut self.stood[block.index()];
                stood.end = stood.end.min(self.archives.count());
            }
        }
        self.sight.advance(request);
    }

    /// Whether a path or URL that a block reads or writes is in sight, whatever was done to the file since.
    pub fn names(&self, block: BlockId) -> bool {
        self.references.handles(block).iter().any(|handle| self.sight.hit(*handle).is_some())
    }

    /// The best way back to a block of the conversation that the present request, that of `call`, shows.
    pub fn to(&self, block: BlockId, call: usize) -> Option<Handle> {
        let stood = self.stood[block.index()].clone();
        let written = stood.start..stood.end.min(self.archives.count());
        let archived = self.archives.paths(written).any(|path| self.sight.hit(path).is_some());
        handle(self.references, &self.sight, block, call as u32, archived)
    }
}
