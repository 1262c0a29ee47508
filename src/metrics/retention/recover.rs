//! Whether what is out of sight can be had again, and what that is predicted to cost.

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
    /// For how many calls the policy left each block in sight; 0 where it did not take it away.
    stay: Vec<u32>,
    /// Up to which call a block that was fetched again is in sight.
    back_until: FxHashMap<BlockId, u32>,
    rereads: Vec<Reread>,
}

impl<'a> Recovery<'a> {
    pub fn new(
        conversation: &'a Conversation,
        references: &'a References,
        journal: &'a Journal,
        tokens: &'a dyn Fn(BlockId) -> u64,
    ) -> Self {
        let mut stay = vec![0; conversation.blocks.len()];
        for request in &journal.requests {
            let removed = request.edits().flat_map(|change| &change.removed);
            for block in removed {
                if let Some(stay @ 0) = stay.get_mut(block.index()) {
                    *stay = (request.call as u32).saturating_sub(references.after(*block)).max(1);
                }
            }
        }
        Self { conversation, references, tokens, stay, back_until: FxHashMap::default(), rereads: Vec::new() }
    }

    /// What becomes of a use that missed: if it can be had again its cheapest source is fetched, unless it still is in sight from
    /// an earlier time it was fetched.
    pub fn outcome(&mut self, used: &Use, sight: &VisibleFacts) -> UseOutcome {
        let entered = |id: &&BlockId| self.references.after(**id) <= used.call;
        let mut stale = false;
        let can = self.references.sources(used.fact).iter().take_while(entered).filter(|id| {
            let archived = sight.archive_of(used.fact).is_some_and(|path| sight.hit(path).is_some());
            let handle = handle(self.references, sight, **id, used.call, archived);
            stale |= handle == Some(Handle::Stale);
            handle == Some(Handle::Fresh)
        });
        let cost = |id: &BlockId| cost_to_fetch(self.conversation, *id, self.tokens);
        let back = |id: &BlockId| self.back_until.get(id).is_some_and(|until| used.call <= *until);
        let Some(source) = can.copied().min_by_key(|id| (!back(id), cost(id))) else { return UseOutcome::Hard { stale } };
        if !back(&source) {
            self.rereads.push(Reread { call: used.call, tokens: cost(&source) });
            self.back_until.insert(source, used.call + self.stay[source.index()].max(1));
        }
        UseOutcome::Soft
    }

    /// All that was fetched again.
    pub fn rereads(self) -> Vec<Reread> {
        self.rereads
    }
}

/// What is in sight by which a block's content could be had again at a call; `archived`: an archive that holds it is named.
pub(super) fn handle(references: &References, sight: &VisibleFacts, id: BlockId, call: u32, archived: bool) -> Option<Handle> {
    let handles = references.handles(id);
    let is_fresh = |file: &FactId| !references.written_since(*file, id, call);
    let in_sight = |handle: FactId| sight.hit(handle).is_some();
    let named = || handles.iter().filter(|handle| in_sight(**handle));
    if named().any(is_fresh) {
        return Some(Handle::Fresh);
    }
    let moved = sight.moved_to(id).iter().any(|path| in_sight(*path));
    match moved || archived {
        true if handles.iter().all(is_fresh) => Some(Handle::Fresh),
        copied => (copied || named().next().is_some()).then_some(Handle::Stale),
    }
}

/// A path or URL in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handle {
    Fresh,
    /// The file was written since.
    Stale,
}
