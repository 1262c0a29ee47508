//! Decides whether a fact that is not visible can be fetched again, and predicts the tokens.

use rustc_hash::FxHashMap;

use crate::engine::journal::Journal;
use crate::facts::references::{FactId, References, Use, cost_to_fetch};
use crate::transcript::conversation::{BlockId, Conversation};

use super::visible_facts::VisibleFacts;
use super::{Reread, UseOutcome};

pub(super) struct Recovery<'a> {
    conversation: &'a Conversation,
    references: &'a References,
    tokens: &'a dyn Fn(BlockId) -> u64,
    /// For how many calls the policy left each block visible; 0 if it did not remove it.
    visible_calls: Vec<u32>,
    /// Last call at which a block that was fetched again is visible.
    refetched_until: FxHashMap<BlockId, u32>,
    rereads: Vec<Reread>,
}

impl<'a> Recovery<'a> {
    pub fn new(
        conversation: &'a Conversation,
        references: &'a References,
        journal: &'a Journal,
        tokens: &'a dyn Fn(BlockId) -> u64,
    ) -> Self {
        let mut visible_calls = vec![0; conversation.blocks.len()];
        for request in &journal.requests {
            let removed = request.edits().flat_map(|change| &change.removed);
            for block in removed {
                if let Some(visible_calls @ 0) = visible_calls.get_mut(block.index()) {
                    *visible_calls = (request.call as u32).saturating_sub(references.after(*block)).max(1);
                }
            }
        }
        Self { conversation, references, tokens, visible_calls, refetched_until: FxHashMap::default(), rereads: Vec::new() }
    }

    /// Returns the outcome of a use that missed. If the fact can be fetched, its cheapest source is fetched, unless that is
    /// still visible from an earlier fetch.
    pub fn outcome(&mut self, used: &Use, visible: &VisibleFacts) -> UseOutcome {
        let entered = |id: &&BlockId| self.references.after(**id) <= used.call;
        let mut stale = false;
        let sources = self.references.sources(used.fact).iter().take_while(entered).filter_map(|id| {
            let archived = visible.archive_of(used.fact).is_some_and(|path| visible.hit(path).is_some());
            let quoted = match find_handle(self.references, visible, *id, used.call, archived)? {
                Handle::Fresh => false,
                Handle::Stale => {
                    stale = true;
                    true
                }
            };
            (!quoted || self.is_quoted_from(used, *id)).then_some((*id, quoted))
        });
        let cost = |id: BlockId| cost_to_fetch(self.conversation, id, self.tokens);
        let is_refetched = |id: BlockId| self.refetched_until.get(&id).is_some_and(|until| used.call <= *until);
        let Some((source, quoted)) = sources.min_by_key(|(id, quoted)| (*quoted, !is_refetched(*id), cost(*id))) else {
            return if stale { UseOutcome::Stale } else { UseOutcome::Hard };
        };
        if !is_refetched(source) {
            self.rereads.push(Reread { call: used.call, tokens: cost(source) });
            self.refetched_until.insert(source, used.call + self.visible_calls[source.index()].max(1));
        }
        UseOutcome::Soft { quoted }
    }

    /// Returns whether the call quotes the fact from a file of this block that it edits: then the file contains it, whatever was
    /// written to it before.
    fn is_quoted_from(&self, used: &Use, id: BlockId) -> bool {
        used.in_file && self.references.handles(id).iter().any(|file| self.references.writes(used.call, *file))
    }

    /// Returns all predicted fetches.
    pub fn rereads(self) -> Vec<Reread> {
        self.rereads
    }
}

/// Returns the best visible handle to a block's content at a call. `archived`: the name of an archive that contains it is
/// visible.
pub(super) fn find_handle(
    references: &References,
    visible: &VisibleFacts,
    id: BlockId,
    call: u32,
    archived: bool,
) -> Option<Handle> {
    let handles = references.handles(id);
    let is_fresh = |file: &FactId| !references.written_since(*file, id, call);
    let is_visible = |handle: FactId| visible.hit(handle).is_some();
    let named = || handles.iter().filter(|handle| is_visible(**handle));
    if named().any(is_fresh) {
        return Some(Handle::Fresh);
    }
    let moved = visible.moved_to(id).iter().any(|path| is_visible(*path));
    let copied = moved || archived;
    if copied && handles.iter().filter(|handle| !references.is_command(**handle)).all(is_fresh) {
        return Some(Handle::Fresh);
    }
    (copied || named().next().is_some()).then_some(Handle::Stale)
}

/// A visible path or URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handle {
    Fresh,
    /// The file was written since.
    Stale,
}
