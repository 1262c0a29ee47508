//! The messages that the model would receive now, and the only code that edits them.
//!
//! There are five edits, the variants of [`Edit`]: **rewrite** a field of a block, **drop** messages, **retain** some blocks of
//! a message, **replace** a span by other messages, **insert** a message. A [`Context`] updates its total size in every unit,
//! its list of faults that an API would refuse, and a log of changes incrementally: the cost of an edit depends on the size
//! of the edit, not of the context.

mod build;
mod change;
mod edit;
mod message;
mod message_unit;
mod positions;
mod rewrite_cache;
mod signed_thinking;
mod totals;
mod turns;
mod validity;
mod wire;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::tokens::block_sizes::BlockSizes;
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::{Block, BlockId, BlockKind, Conversation, PairId};

pub use change::{Cause, Change, ChangeKind};
pub use edit::{Edit, NewBlock, NewMessage};
pub use message::{ContextMessage, SyntheticBlock, block_of, recorded_block, size_of};
pub use message_unit::MessageUnit;
use positions::Positions;
pub use rewrite_cache::{RewriteCache, RewrittenBlock};
use signed_thinking::SignedThinking;
use validity::Faults;
pub use validity::{Fault, FaultKind};

/// Sizes in the units that a context tracks, each at its index in [`BlockSizes::units`]; the other entries are 0.
pub type MessageSizes = [u64; SizeUnit::MAX_UNITS];

/// The messages of the next request, with running sizes. Layers propose edits; only the context applies them.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    conversation: &'a Conversation,
    sizes: &'a BlockSizes,
    rewrites: &'a RewriteCache,
    unit: MessageUnit,
    /// Indices of the units that it tracks, in [`BlockSizes::units`].
    slots: Vec<usize>,
    synthetic: Vec<SyntheticBlock>,
    messages: Vec<ContextMessage>,
    /// Sum of the message sizes, in each unit.
    totals: MessageSizes,
    /// Sum of the sizes of all messages ever appended, in each unit.
    appended: MessageSizes,
    /// Index of the message with the last rewritten block, and the sums of its block sizes; `None` if messages changed since.
    rewritten_last: Option<(usize, MessageSizes)>,
    faults: Faults,
    signed_thinking: SignedThinking,
    changes: Vec<Change>,
    positions: Positions,
    /// Number of edits that moved messages. A stored position is valid as long as this number does not change.
    moves: u32,
    /// Number of edits.
    edits: u32,
}

impl<'a> Context<'a> {
    /// Returns an empty context of a harness that stores messages of this unit. All contexts of a conversation with these sizes
    /// share `rewrites`.
    pub fn new(conversation: &'a Conversation, sizes: &'a BlockSizes, rewrites: &'a RewriteCache, unit: MessageUnit) -> Self {
        Self {
            conversation,
            sizes,
            rewrites,
            unit,
            slots: (0..sizes.units().len()).collect(),
            synthetic: Vec::new(),
            messages: Vec::new(),
            totals: [0; SizeUnit::MAX_UNITS],
            appended: [0; SizeUnit::MAX_UNITS],
            rewritten_last: None,
            faults: Faults::new(conversation.pairs.len()),
            signed_thinking: SignedThinking::default(),
            changes: Vec::new(),
            positions: Positions::default(),
            moves: 0,
            edits: 0,
        }
    }

    /// Limits the sizes that it tracks to some units. All replays of a conversation share its sizes, and each needs a few of them.
    pub fn tracking(mut self, units: &BTreeSet<SizeUnit>) -> Self {
        self.slots.retain(|slot| units.contains(&self.sizes.units()[*slot]));
        self
    }

    /// Returns the recorded conversation.
    pub fn conversation(&self) -> &'a Conversation {
        self.conversation
    }

    /// Returns what the harness stores as one message.
    pub fn unit(&self) -> MessageUnit {
        self.unit
    }

    /// Returns the messages, oldest first.
    pub fn messages(&self) -> &[ContextMessage] {
        &self.messages
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Number of edits so far that moved messages: stored positions are invalid after it changes.
    pub fn moves(&self) -> u32 {
        self.moves
    }

    /// Number of edits so far: a stored size of messages is invalid after it changes.
    pub fn edits(&self) -> u32 {
        self.edits
    }

    /// Index of the newest message with text that the user typed: the current turn begins there.
    pub fn newest_typed(&self) -> Option<usize> {
        self.typed().last().copied()
    }

    /// Indices of the messages with text that the user typed, oldest first.
    pub fn typed(&self) -> &[usize] {
        &self.positions.typed
    }

    /// Indices of the messages that begin a turn, oldest first: what the user typed, without results.
    pub fn turn_starts(&self) -> &[usize] {
        &self.positions.turns
    }

    /// Indices of the messages with thinking, oldest first.
    pub fn with_thinking(&self) -> &[usize] {
        &self.positions.thinking
    }

    /// Index of the newest response.
    pub fn newest_response(&self) -> Option<usize> {
        self.positions.newest_response
    }

    /// Returns a block of the conversation, or one that a layer wrote.
    pub fn block(&self, id: BlockId) -> &Block {
        block_of(self.conversation, &self.synthetic, id)
    }

    /// Returns whether a layer wrote this block.
    pub fn is_synthetic(&self, id: BlockId) -> bool {
        id.index() >= self.conversation.blocks.len()
    }

    /// Returns the recorded block that a block is, or that it replaces; `None` for blocks that layers added.
    pub fn recorded_block(&self, id: BlockId) -> Option<BlockId> {
        recorded_block(self.conversation, &self.synthetic, id)
    }

    /// Size of one block; 0 in a unit that this context does not track.
    pub fn block_size(&self, id: BlockId, unit: SizeUnit) -> u64 {
        self.slot(unit).map_or(0, |slot| self.size_in(id, slot))
    }

    /// Returns whether this context tracks sizes in this unit.
    pub fn tracks(&self, unit: SizeUnit) -> bool {
        self.slot(unit).is_some()
    }

    /// Size of one message.
    pub fn message_size(&self, message: &ContextMessage, unit: SizeUnit) -> u64 {
        self.slot(unit).map_or(0, |slot| self.sizes_of_message(message)[slot])
    }

    /// Size of the whole list of messages, separators included.
    pub fn size(&self, unit: SizeUnit) -> u64 {
        unit.list(self.messages.len(), self.sum(unit))
    }

    /// Sum of the message sizes, without separators.
    pub fn sum(&self, unit: SizeUnit) -> u64 {
        self.slot(unit).map_or(0, |slot| self.totals[slot])
    }

    /// Sum of the sizes of all messages ever appended. The difference of two values is the size of what was appended in between.
    pub fn appended(&self, unit: SizeUnit) -> u64 {
        self.slot(unit).map_or(0, |slot| self.appended[slot])
    }

    /// Sums of the sizes of all messages ever appended, in each unit.
    pub fn all_appended(&self) -> MessageSizes {
        self.appended
    }

    /// Name of the tool that a tool_use or tool_result belongs to: `unknown` if the tool_use is missing.
    pub fn tool_name(&self, pair: PairId) -> &str {
        &self.conversation.pair(pair).name
    }

    /// Applies one edit and logs what it changed.
    pub fn apply(&mut self, edit: Edit, cause: Cause) {
        self.edits += 1;
        match edit {
            Edit::Rewrite { message, block, field, value } => self.rewrite(message, block, field, value, cause),
            Edit::Drop { messages } => self.replace(messages, Vec::new(), ChangeKind::Drop, cause),
            Edit::Retain { message, keep } => self.retain(message, keep, cause),
            Edit::Replace { messages, into } => {
                let into = into.into_iter().map(|message| self.build_message(message)).collect();
                self.replace(messages, into, ChangeKind::Replace, cause);
            }
            Edit::Insert { at, message } => {
                let message = self.build_message(message);
                self.replace(at..at, vec![message], ChangeKind::Insert, cause);
            }
        }
    }

    /// Returns what an API would refuse in the current messages. New faults get `cause` as their cause.
    pub fn faults(&mut self, cause: Cause) -> &[Fault] {
        let Self { faults, messages, conversation, synthetic, .. } = self;
        faults.update(messages, &|id| block_of(conversation, synthetic, id), cause);
        self.faults.faults()
    }

    /// Gives the faults that another copy has, too, the causes that they have there.
    pub fn adopt_causes(&mut self, other: &Context) {
        self.faults.adopt_causes(other.faults.faults());
    }

    /// Returns what an API would refuse, and how many faults at the beginning of the list did not change since this method was last
    /// called.
    pub fn changed_faults(&mut self) -> (usize, &[Fault]) {
        self.faults(Cause::Record);
        (self.faults.mark_unchanged(), self.faults.faults())
    }

    /// Takes the log of changes since the last call of this method.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Blocks that layers wrote; their ids continue those of the conversation.
    pub fn synthetic_blocks(&self) -> &[SyntheticBlock] {
        &self.synthetic
    }

    /// Returns a copy that layers may edit for one request, without the synthetic blocks: see [`Context::swap_synthetic_blocks`].
    pub fn view(&self) -> Self {
        Self {
            conversation: self.conversation,
            sizes: self.sizes,
            rewrites: self.rewrites,
            unit: self.unit,
            slots: self.slots.clone(),
            synthetic: Vec::new(),
            messages: self.messages.clone(),
            totals: self.totals,
            appended: self.appended,
            rewritten_last: None,
            faults: self.faults.clone(),
            signed_thinking: self.signed_thinking.clone(),
            changes: Vec::new(),
            positions: self.positions.clone(),
            moves: self.moves,
            edits: self.edits,
        }
    }

    /// Swaps the synthetic blocks with those of another context. History and view share one sequence of ids, and only one of
    /// them holds the blocks at a time.
    pub fn swap_synthetic_blocks(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.synthetic, &mut other.synthetic);
    }

    /// Returns whether something changed since the changes were last taken.
    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Returns whether a layer changed something since the changes were last taken.
    pub fn was_edited_by_layers(&self) -> bool {
        self.changes.iter().any(Change::is_of_layer)
    }

    /// Returns whether recorded messages came back since the changes were last taken.
    pub fn got_messages_back(&self) -> bool {
        let is_recorded = |change: &Change| change.added.iter().any(|block| !self.is_synthetic(*block));
        self.changes.iter().any(|change| change.kind == ChangeKind::Insert && is_recorded(change))
    }

    /// Returns the blocks that layers wrote, in the order of their ids.
    pub fn into_synthetic_blocks(self) -> Vec<SyntheticBlock> {
        self.synthetic
    }

    fn retain(&mut self, message: usize, keep: Vec<BlockId>, cause: Cause) {
        let old = &self.messages[message];
        // That the first message is not the user's is a fault of its first block, and thinking may leave it.
        if let (Some(first), Some(next)) = (old.blocks.first(), keep.first())
            && first != next
            && self.block(*first).kind == BlockKind::Thinking
        {
            self.faults.replace_block(message, *first, *next);
        }
        let into = if keep.is_empty() { Vec::new() } else { vec![self.new_message(old.role, old.is_string_content, keep)] };
        self.replace(message..message + 1, into, ChangeKind::Drop, cause);
    }

    fn replace(&mut self, span: Range<usize>, into: Vec<ContextMessage>, kind: ChangeKind, cause: Cause) {
        for message in &into {
            self.add_to_totals(message);
        }
        let blocks_of = |messages: &[ContextMessage]| messages.iter().flat_map(|m| m.blocks.iter().copied()).collect::<Vec<_>>();
        let (mut removed, mut added) = (blocks_of(&self.messages[span.clone()]), blocks_of(&into));
        if kind != ChangeKind::Replace && !added.is_empty() {
            let leaves = change::is_not_in(&added);
            removed.retain(|block| leaves(*block));
        }
        added.retain(|_| kind != ChangeKind::Drop);
        self.moves += u32::from(span.len() != into.len());
        self.faults.invalidate_from(span.start);
        let (at, inserted) = (span.start, into.len());
        let replaced: Vec<_> = self.messages.splice(span, into).collect();
        self.positions.replace(at, replaced.len(), inserted, &self.messages);
        for message in &replaced {
            self.subtract_from_totals(message);
        }
        self.log(Change { kind, cause, at, removed, added });
    }

    fn log(&mut self, change: Change) {
        self.signed_thinking.note(&change);
        self.changes.push(change);
    }
}
