//! Ways to get back a tool result that a policy removed: the rule of soft misses, for whole blocks.

use std::ops::Range;

use crate::engine::journal::{Journal, Request};
use crate::facts::references::{FactId, References};
use crate::transcript::conversation::{BlockId, Conversation};

use super::archives::Archives;
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

    /// Returns a visible path or URL that leads back to a tool result or to the file that its call wrote, even if the file was written
    /// since; `None` if there is none. The result can be fetched at least while this path is visible.
    pub fn way_back(&self, result: BlockId, call: Option<BlockId>) -> Option<FactId> {
        let span = self.archive_spans[result.index()].clone();
        let archives = self.archives.paths(span.start..span.end.min(self.archives.count()));
        let handles = [Some(result), call].into_iter().flatten().flat_map(|block| self.references.handles(block));
        let mut paths = handles.chain(self.visible.moved_to(result)).copied().chain(archives);
        paths.find(|path| self.is_visible(*path))
    }

    /// Returns the facts that left since the previous request; some of them may be back.
    pub fn disappeared(&self) -> &[FactId] {
        self.visible.disappeared()
    }

    /// Returns whether a fact is in the current request.
    pub fn is_visible(&self, fact: FactId) -> bool {
        self.visible.hit(fact).is_some()
    }
}
