//! Ways to get back a tool result that a policy removed: the rule of soft misses, for whole blocks.

use std::ops::Range;

use crate::engine::journal::{Journal, Request};
use crate::facts::references::{FactId, References};
use crate::transcript::conversation::{BlockId, Conversation};

use super::archives::Archives;
use super::recover::{Handle, find_handle};
use super::visible_facts::VisibleFacts;

/// Tracks, request by request, by which handles tool results can be fetched again.
pub struct RecoveryPaths<'a> {
    conversation: &'a Conversation,
    references: &'a References,
    journal: &'a Journal,
    visible: VisibleFacts<'a>,
    archives: Archives,
    /// Messages of the conversation that have entered.
    messages_read: usize,
    /// For each block, the range of archives written between its entry and its first removal.
    archive_spans: Vec<Range<usize>>,
}

impl<'a> RecoveryPaths<'a> {
    /// Begins before the first request.
    pub fn new(conversation: &'a Conversation, references: &'a References, journal: &'a Journal) -> Self {
        let visible = VisibleFacts::new(conversation, references, journal);
        let archives = visible.archives().clone();
        let archive_spans = vec![0..usize::MAX; conversation.blocks.len()];
        Self { conversation, references, journal, visible, archives, messages_read: 0, archive_spans }
    }

    /// Advances to the next request.
    pub fn advance(&mut self, request: &Request) {
        self.archives.advance_to_call(request.call);
        let response = self.conversation.calls[request.call].response;
        for block in self.conversation.messages[self.messages_read..response].iter().flat_map(|message| &message.blocks) {
            self.archive_spans[block.index()].start = self.archives.count();
        }
        self.messages_read = response;
        for change in request.edits() {
            self.archives.advance_to_change(request.call, change.cause);
            let recorded = |id: &BlockId| self.journal.recorded_block(self.conversation, *id);
            for block in change.removed.iter().filter_map(recorded) {
                let span = &mut self.archive_spans[block.index()];
                span.end = span.end.min(self.archives.count());
            }
        }
        self.visible.advance(request);
    }

    /// Returns the paths and URLs that lead back to a tool result: the result can be fetched while one of them is visible.
    pub fn paths_of(&self, result: BlockId, call: Option<BlockId>) -> Vec<FactId> {
        let span = self.archive_spans[result.index()].clone();
        let archives = self.archives.paths(span.start..span.end.min(self.archives.count()));
        let handles = [Some(result), call].into_iter().flatten().flat_map(|block| self.references.handles(block));
        handles.chain(self.visible.moved_to(result)).copied().chain(archives).collect()
    }

    /// Returns the facts that left since the previous request; some of them may be back.
    pub fn disappeared(&self) -> &[FactId] {
        self.visible.disappeared()
    }

    /// Returns whether a path or URL that a block reads or writes is visible, even if the file was written since.
    pub fn names_handle(&self, block: BlockId) -> bool {
        self.references.handles(block).iter().any(|handle| self.visible.hit(*handle).is_some())
    }

    /// Returns the best handle to a block of the conversation in the current request, which is the request of `call`.
    pub fn best_handle(&self, block: BlockId, call: usize) -> Option<Handle> {
        let span = self.archive_spans[block.index()].clone();
        let written = span.start..span.end.min(self.archives.count());
        let archived = self.archives.paths(written).any(|path| self.visible.hit(path).is_some());
        find_handle(self.references, &self.visible, block, call as u32, archived)
    }
}
