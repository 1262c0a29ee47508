//! What is left of each recorded block in each request: the block itself, something in its place, or nothing.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::engine::journal::{Request, SentBlock};
use crate::engine::layer::LayerSpec;
use crate::findings::timeline::{ReplayView, RequestCursor};
use crate::transcript::conversation::{BlockId, Kind, Origin};

/// What stands in the present request of a recorded block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Whole,
    /// A block that a layer wrote stands in its place.
    Written(BlockId),
    Gone,
}

/// Follows a replay from request to request. A step costs what differs between two requests.
pub struct VisibleBlocks<'a> {
    replay: ReplayView<'a>,
    sent: RequestCursor,
    /// The blocks of the present request.
    blocks: FxHashSet<BlockId>,
    /// What layers wrote in place of recorded blocks, by those.
    in_place: FxHashMap<BlockId, BlockId>,
    /// Texts that compactions put in, the record's among them: summaries, restored files, markers.
    added: BTreeSet<BlockId>,
    /// Which blocks are of the unrolled conversation; the others its recorded compactions put in.
    in_history: Vec<bool>,
}

impl<'a> VisibleBlocks<'a> {
    pub fn new(replay: &ReplayView<'a>) -> Self {
        let mut in_history = vec![false; replay.conversation.blocks.len()];
        for id in replay.conversation.messages.iter().flat_map(|message| &message.blocks) {
            in_history[id.index()] = true;
        }
        Self {
            in_history,
            replay: *replay,
            sent: RequestCursor::default(),
            blocks: FxHashSet::default(),
            in_place: FxHashMap::default(),
            added: BTreeSet::new(),
        }
    }

    /// Goes on to the next request, of which none may be left out. Gives the blocks that are not in sight any more, then those
    /// that came into sight.
    pub fn advance(&mut self, request: &Request) -> (Vec<BlockId>, Vec<BlockId>) {
        let of = |blocks: &[SentBlock]| blocks.iter().map(|sent| sent.block).collect::<FxHashSet<_>>();
        let (before, now) = (of(&self.sent.advance(request)), of(&request.delta.appended));
        let mut left: Vec<_> = before.difference(&now).copied().collect();
        let mut came: Vec<_> = now.difference(&before).copied().collect();
        left.sort_unstable();
        came.sort_unstable();
        left.iter().for_each(|block| self.leaves(*block));
        came.iter().for_each(|block| self.enters(*block));
        (left, came)
    }

    /// Whether a block stands in the present request.
    pub fn holds(&self, block: BlockId) -> bool {
        self.blocks.contains(&block)
    }

    pub fn form(&self, recorded: BlockId) -> Form {
        match (self.holds(recorded), self.in_place.get(&recorded)) {
            (true, _) => Form::Whole,
            (false, Some(written)) => Form::Written(*written),
            (false, None) => Form::Gone,
        }
    }

    /// The texts in the present request that compactions put in: summaries, restored files, markers.
    pub fn added(&self) -> impl Iterator<Item = BlockId> {
        self.added.iter().copied()
    }

    /// Whether one of those holds this text whole: a result that was folded and restored is in sight.
    pub fn restores(&self, text: &str) -> bool {
        let text = text.trim();
        !text.is_empty() && self.added().any(|block| self.replay.block(block).text().contains(text))
    }

    /// Whether a whole tool result in the present request has this very text.
    pub fn has_result(&self, text: &str) -> bool {
        let is_result = |id: &&BlockId| matches!(self.replay.block(**id).kind, Kind::ToolResult(_));
        self.blocks.iter().filter(is_result).any(|id| self.replay.block(*id).text() == text)
    }

    fn enters(&mut self, block: BlockId) {
        self.blocks.insert(block);
        if let Some(recorded) = self.stands_for(block) {
            self.in_place.insert(recorded, block);
        }
        let put_in = self.replay.block(block);
        let is_recorded = self.in_history.get(block.index()) == Some(&true);
        if put_in.kind == Kind::Text
            && (put_in.origin == Origin::Compaction || (!is_recorded && self.stands_for(block).is_none()))
        {
            self.added.insert(block);
        }
    }

    fn leaves(&mut self, block: BlockId) {
        self.blocks.remove(&block);
        self.added.remove(&block);
        if let Some(recorded) = self.stands_for(block)
            && self.in_place.get(&recorded) == Some(&block)
        {
            self.in_place.remove(&recorded);
        }
    }

    /// The recorded block in whose place a layer wrote this one.
    fn stands_for(&self, block: BlockId) -> Option<BlockId> {
        let ReplayView { conversation, journal, .. } = self.replay;
        journal.recorded_block(conversation, block).filter(|recorded| *recorded != block)
    }
}

/// What was done to a recorded block before one request, from the first change to the last.
pub fn done_to(request: &Request, block: BlockId) -> Vec<&Change> {
    let (mut at, mut done) = (Some(block), Vec::new());
    for change in request.edits() {
        let Some(now) = at else { break };
        if change.removed.contains(&now) && !change.added.contains(&now) {
            done.push(change);
            at = change.added.first().copied().filter(|_| change.kind == ChangeKind::Rewrite);
        }
    }
    done
}

/// The layer that took what a block said away and left nothing of it; none where it left a part, or a file to read it from.
pub fn taker(replay: &ReplayView, change: &Change) -> Option<usize> {
    let Cause::Layer(layer) = change.cause else { return None };
    let empties = matches!(replay.policy.layers[layer].spec, LayerSpec::Clear(_) | LayerSpec::Dedupe(_) | LayerSpec::Recorded(_));
    let takes = match change.kind {
        ChangeKind::Rewrite => empties,
        ChangeKind::Drop | ChangeKind::Replace => true,
        ChangeKind::Insert => false,
    };
    takes.then_some(layer)
}

/// Whether a layer only points to a copy of what it took away.
pub fn points_to_copy(replay: &ReplayView, layer: usize) -> bool {
    matches!(replay.policy.layers[layer].spec, LayerSpec::Dedupe(_))
}
