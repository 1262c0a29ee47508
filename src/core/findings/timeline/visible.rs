//! Tracks what is left of each recorded block in each request: the block itself, a replacement, or nothing.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::engine::journal::{Request, RequestCursor, SentBlock};
use crate::findings::timeline::ReplayView;
use crate::transcript::conversation::{BlockId, BlockKind, Origin};

/// How a recorded block appears in the current request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Whole,
    /// A layer wrote this block in its place.
    Written(BlockId),
    Gone,
}

/// Follows a replay from request to request. Each step takes time in proportion to the difference between two requests.
pub struct VisibleBlocks<'a> {
    replay: ReplayView<'a>,
    cursor: RequestCursor,
    /// The blocks of the current request.
    blocks: FxHashSet<BlockId>,
    /// The replacements that layers wrote, by recorded block.
    replacements: FxHashMap<BlockId, BlockId>,
    /// Texts that compactions of layers or of the record inserted: summaries, restored files, markers.
    inserted: BTreeSet<BlockId>,
    /// For each recorded block, whether it is part of the conversation's messages; recorded compactions inserted the others.
    in_history: Vec<bool>,
}

impl<'a> VisibleBlocks<'a> {
    /// Begins before the first request.
    pub fn new(replay: &ReplayView<'a>) -> Self {
        let mut in_history = vec![false; replay.conversation.blocks.len()];
        for id in replay.conversation.messages.iter().flat_map(|message| &message.blocks) {
            in_history[id.index()] = true;
        }
        Self {
            in_history,
            replay: *replay,
            cursor: RequestCursor::default(),
            blocks: FxHashSet::default(),
            replacements: FxHashMap::default(),
            inserted: BTreeSet::new(),
        }
    }

    /// Advances to the next request; requests must be visited in order, without gaps. Returns `(removed, added)`.
    pub fn advance(&mut self, request: &Request) -> (Vec<BlockId>, Vec<BlockId>) {
        let ids = |blocks: &[SentBlock]| blocks.iter().map(|sent| sent.block).collect::<FxHashSet<_>>();
        self.cursor.advance(request);
        let (before, now) = (ids(self.cursor.removed()), ids(self.cursor.added()));
        let mut removed: Vec<_> = before.difference(&now).copied().collect();
        let mut added: Vec<_> = now.difference(&before).copied().collect();
        removed.sort_unstable();
        added.sort_unstable();
        removed.iter().for_each(|block| self.remove(*block));
        added.iter().for_each(|block| self.add(*block));
        (removed, added)
    }

    /// Whether a block is in the current request.
    pub fn contains(&self, block: BlockId) -> bool {
        self.blocks.contains(&block)
    }

    /// Returns how a recorded block appears in the current request.
    pub fn form(&self, recorded: BlockId) -> Form {
        match (self.contains(recorded), self.replacements.get(&recorded)) {
            (true, _) => Form::Whole,
            (false, Some(written)) => Form::Written(*written),
            (false, None) => Form::Gone,
        }
    }

    /// Returns the texts in the current request that compactions inserted: summaries, restored files, markers.
    pub fn inserted(&self) -> impl Iterator<Item = BlockId> {
        self.inserted.iter().copied()
    }

    /// Whether an inserted text contains this whole text, so that a result that was summarised and restored is visible.
    pub fn restores(&self, text: &str) -> bool {
        let text = text.trim();
        !text.is_empty() && self.inserted().any(|block| self.replay.block(block).text().contains(text))
    }

    /// Whether a tool result in the current request has exactly this text.
    pub fn has_result(&self, text: &str) -> bool {
        let is_result = |id: &&BlockId| matches!(self.replay.block(**id).kind, BlockKind::ToolResult(_));
        self.blocks.iter().filter(is_result).any(|id| self.replay.block(*id).text() == text)
    }

    fn add(&mut self, id: BlockId) {
        self.blocks.insert(id);
        if let Some(recorded) = self.replaced_block(id) {
            self.replacements.insert(recorded, id);
        }
        let block = self.replay.block(id);
        let is_recorded = self.in_history.get(id.index()) == Some(&true);
        if block.kind == BlockKind::Text
            && (block.origin == Origin::Compaction || (!is_recorded && self.replaced_block(id).is_none()))
        {
            self.inserted.insert(id);
        }
    }

    fn remove(&mut self, id: BlockId) {
        self.blocks.remove(&id);
        self.inserted.remove(&id);
        if let Some(recorded) = self.replaced_block(id)
            && self.replacements.get(&recorded) == Some(&id)
        {
            self.replacements.remove(&recorded);
        }
    }

    /// Returns the recorded block that a layer replaced with this one.
    fn replaced_block(&self, block: BlockId) -> Option<BlockId> {
        let ReplayView { conversation, journal, .. } = self.replay;
        journal.recorded_block(conversation, block).filter(|recorded| *recorded != block)
    }
}

/// The edits before one request, by the blocks that they removed.
pub struct RequestEdits<'r> {
    /// For each block, the edits that removed it, with their positions in the order of the edits.
    by_removed: FxHashMap<BlockId, Vec<(usize, &'r Change)>>,
}

impl<'r> RequestEdits<'r> {
    /// Indexes the edits before one request.
    pub fn new(request: &'r Request) -> Self {
        let mut by_removed: FxHashMap<BlockId, Vec<(usize, &Change)>> = FxHashMap::default();
        for (position, change) in request.edits().enumerate() {
            for block in change.gone() {
                by_removed.entry(block).or_default().push((position, change));
            }
        }
        Self { by_removed }
    }

    /// Returns the edits that removed this block, in order.
    pub fn removals_of(&self, block: BlockId) -> impl Iterator<Item = &'r Change> {
        self.by_removed.get(&block).into_iter().flatten().map(|(_, change)| *change)
    }

    /// Returns the changes of a recorded block and its replacements, from first to last.
    pub fn changes_of(&self, block: BlockId) -> Vec<&'r Change> {
        let (mut current, mut next, mut changes) = (Some(block), 0, Vec::new());
        while let Some(id) = current {
            let edits = self.by_removed.get(&id).map_or(&[][..], Vec::as_slice);
            let Some((position, change)) = edits.get(edits.partition_point(|(position, _)| *position < next)) else { break };
            changes.push(*change);
            next = position + 1;
            current = change.added.first().copied().filter(|_| change.kind == ChangeKind::Rewrite);
        }
        changes
    }
}

/// Returns the layer that removed the whole content of a block. `None` if it left a part, or a file with the content.
pub fn remover(replay: &ReplayView, change: &Change) -> Option<usize> {
    let Cause::Layer(layer) = change.cause else { return None };
    let traits = replay.traits(layer);
    let empties = traits.empties_blocks() || (traits.program.is_some() && !leaves_part(replay, change));
    let removes = match change.kind {
        ChangeKind::Rewrite => empties,
        ChangeKind::Drop | ChangeKind::Replace => true,
        ChangeKind::Insert => false,
    };
    removes.then_some(layer)
}

/// Returns whether a program that rewrote a block left a part of its text, or a file with it. No setting says so, as for other layers.
pub fn leaves_part(replay: &ReplayView, change: &Change) -> bool {
    let (Some(old), Some(new)) = (change.removed.first(), change.added.first()) else { return false };
    let (before, after) = (replay.block(*old).text(), replay.block(*new).text());
    let first_line = after.lines().map(str::trim).find(|line| !line.is_empty());
    let recorded = replay.journal.recorded_block(replay.conversation, *old);
    first_line.is_some_and(|line| before.contains(line))
        || recorded.is_some() && replay.journal.files.iter().any(|file| file.block == recorded)
}
