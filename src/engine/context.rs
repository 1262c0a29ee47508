//! What the model would be sent now, and the one place that edits it.
//!
//! There are four edits and no more: **rewrite** a block, **drop** elements, **fold** a span into other messages, **attach**
//! a message. A [`Context`] keeps the size of the whole by every measure up to date, knows which faults an API would refuse,
//! and logs what changed, so that an edit costs what it changes.

mod change;
mod edit;
mod message;
mod rewrite_cache;
mod validity;

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::tokens::block_sizes::Sizes;
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::{Block, BlockId, Conversation, Kind, Message, Origin, PairId, Role};

pub use change::{Cause, Change, ChangeKind};
pub use edit::{Edit, NewBlock, NewMessage};
pub use message::{ContextMessage, SyntheticBlock, block_of, sizes_of};
pub use rewrite_cache::{RewriteCache, RewrittenBlock};
use validity::Faults;
pub use validity::{Fault, FaultKind};

/// By each measure of the context's [`Sizes`], of which there are at most so many.
pub type MessageSizes = [u64; SizeUnit::MOST];

#[derive(Debug, Clone)]
pub struct Context<'a> {
    conversation: &'a Conversation,
    sizes: &'a Sizes,
    rewrites: &'a RewriteCache,
    made: Vec<SyntheticBlock>,
    messages: Vec<ContextMessage>,
    /// Sum of the messages' sizes, by each measure.
    totals: MessageSizes,
    /// Sum of the sizes of what was appended, ever, by each measure.
    appended: MessageSizes,
    faults: Faults,
    changes: Vec<Change>,
    newest_typed: Option<usize>,
    /// Counts the edits that moved messages, so that a remembered position knows whether it still holds.
    moves: u32,
}

impl<'a> Context<'a> {
    /// An empty one; `rewrites` are those of all contexts of the conversation by these sizes.
    pub fn new(conversation: &'a Conversation, sizes: &'a Sizes, rewrites: &'a RewriteCache) -> Self {
        Self {
            conversation,
            sizes,
            rewrites,
            made: Vec::new(),
            messages: Vec::new(),
            totals: [0; SizeUnit::MOST],
            appended: [0; SizeUnit::MOST],
            faults: Faults::new(conversation.pairs.len()),
            changes: Vec::new(),
            newest_typed: None,
            moves: 0,
        }
    }

    pub fn conversation(&self) -> &'a Conversation {
        self.conversation
    }

    pub fn messages(&self) -> &[ContextMessage] {
        &self.messages
    }

    pub fn len(&self) -> usize {
        self.messages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub fn moves(&self) -> u32 {
        self.moves
    }

    /// Index of the newest message that holds something typed: where the present turn begins.
    pub fn newest_typed(&self) -> Option<usize> {
        self.newest_typed
    }

    /// A block of the conversation, or one a layer wrote.
    pub fn block(&self, id: BlockId) -> &Block {
        block_of(self.conversation, &self.made, id)
    }

    /// Whether a layer wrote this block.
    pub fn is_made(&self, id: BlockId) -> bool {
        id.index() >= self.conversation.blocks.len()
    }

    /// The size of one block, 0 by a measure this context does not keep.
    pub fn block_size(&self, id: BlockId, measure: SizeUnit) -> u64 {
        self.slot(measure).map_or(0, |slot| self.sizes_of(id)[slot])
    }

    /// Whether sizes by this measure are kept.
    pub fn keeps(&self, measure: SizeUnit) -> bool {
        self.slot(measure).is_some()
    }

    /// The size of one message.
    pub fn message_size(&self, message: &ContextMessage, measure: SizeUnit) -> u64 {
        self.slot(measure).map_or(0, |slot| self.sizes_of_message(message)[slot])
    }

    /// The size of the whole list of messages, separators included.
    pub fn size(&self, measure: SizeUnit) -> u64 {
        measure.list(self.messages.len(), self.sum(measure))
    }

    /// The sum of the messages' sizes, without what stands between them.
    pub fn sum(&self, measure: SizeUnit) -> u64 {
        self.slot(measure).map_or(0, |slot| self.totals[slot])
    }

    /// The sum of the sizes of all messages that were ever appended: a difference of two tells what came in between.
    pub fn appended(&self, measure: SizeUnit) -> u64 {
        self.slot(measure).map_or(0, |slot| self.appended[slot])
    }

    /// The same by each measure.
    pub fn all_appended(&self) -> MessageSizes {
        self.appended
    }

    /// Name of the tool a block belongs to: `unknown` without its tool_use.
    pub fn tool_name(&self, pair: PairId) -> &str {
        &self.conversation.pair(pair).name
    }

    /// The wire form of the request: `{"role", "content"}`, as Anthropic's Messages API takes it.
    pub fn wire(&self, message: &ContextMessage) -> Value {
        let content = match (message.plain, message.blocks.first()) {
            (true, Some(only)) => Value::String(self.block(*only).text().into_owned()),
            _ => Value::Array(message.blocks.iter().map(|id| self.block(*id).wire.clone()).collect()),
        };
        let mut wire = Map::new();
        wire.insert("role".to_owned(), message.role.as_str().into());
        wire.insert("content".to_owned(), content);
        Value::Object(wire)
    }

    /// Appends a message of the conversation: what entered since the last call, or a response.
    pub fn append(&mut self, message: &Message, without_thinking: bool) {
        let is_kept = |id: &&BlockId| !(without_thinking && self.block(**id).kind == Kind::Thinking);
        let blocks: Vec<_> = message.blocks.iter().filter(is_kept).copied().collect();
        if blocks.is_empty() {
            return;
        }
        let sent = self.sent(message.role, message.plain, blocks);
        let sizes = self.enter(&sent);
        for (sum, size) in self.appended.iter_mut().zip(sizes) {
            *sum += size;
        }
        self.faults.touched_from(self.messages.len());
        self.newest_typed = Some(self.messages.len()).filter(|_| sent.typed).or(self.newest_typed);
        self.messages.push(sent);
    }

    /// Applies one edit and logs what it changed.
    pub fn apply(&mut self, edit: Edit, cause: Cause) {
        match edit {
            Edit::Rewrite { message, block, field, value } => self.rewrite(message, block, field, value, cause),
            Edit::Drop { messages } => self.replace(messages, Vec::new(), ChangeKind::Drop, cause),
            Edit::Retain { message, keep } => self.thin(message, keep, cause),
            Edit::Replace { messages, into } => {
                let into = into.into_iter().map(|message| self.make(message)).collect();
                self.replace(messages, into, ChangeKind::Replace, cause);
            }
            Edit::Insert { at, message } => {
                let message = self.make(message);
                self.replace(at..at, vec![message], ChangeKind::Insert, cause);
            }
        }
    }

    /// What an API would refuse about the present messages; faults that are new are put down to `cause`.
    pub fn faults(&mut self, cause: Cause) -> &[Fault] {
        let Self { faults, messages, conversation, made, .. } = self;
        faults.update(messages, &|id| block_of(conversation, made, id), cause);
        self.faults.found()
    }

    /// Takes the log of changes since the last time.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// The blocks that layers wrote, which continue the numbering of the conversation's.
    pub fn made(&self) -> &[SyntheticBlock] {
        &self.made
    }

    /// A copy that layers may edit for one request. The blocks that layers wrote stay here: see [`Context::swap_synthetic_blocks`].
    pub fn view(&self) -> Self {
        Self {
            conversation: self.conversation,
            sizes: self.sizes,
            rewrites: self.rewrites,
            made: Vec::new(),
            messages: self.messages.clone(),
            totals: self.totals,
            appended: self.appended,
            faults: self.faults.clone(),
            changes: Vec::new(),
            newest_typed: self.newest_typed,
            moves: self.moves,
        }
    }

    /// Exchanges the blocks that layers wrote with another context's. History and view number theirs in one row, and only one
    /// of the two holds them at a time.
    pub fn swap_synthetic_blocks(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.made, &mut other.made);
    }

    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    pub fn into_made(self) -> Vec<SyntheticBlock> {
        self.made
    }

    fn thin(&mut self, message: usize, keep: Vec<BlockId>, cause: Cause) {
        let old = &self.messages[message];
        let into = if keep.is_empty() { Vec::new() } else { vec![self.sent(old.role, old.plain, keep)] };
        self.replace(message..message + 1, into, ChangeKind::Drop, cause);
    }

    fn replace(&mut self, span: Range<usize>, into: Vec<ContextMessage>, kind: ChangeKind, cause: Cause) {
        for message in &into {
            self.enter(message);
        }
        let blocks = |messages: &[ContextMessage]| messages.iter().flat_map(|m| m.blocks.iter().copied()).collect::<Vec<_>>();
        let (mut removed, mut added) = (blocks(&self.messages[span.clone()]), blocks(&into));
        removed.retain(|block| kind == ChangeKind::Replace || !added.contains(block));
        added.retain(|_| kind != ChangeKind::Drop);
        if span.len() != into.len() {
            self.moves += 1;
        }
        self.faults.touched_from(span.start);
        let typed_stays = self.newest_typed.is_none_or(|at| at < span.start) && into.iter().all(|sent| !sent.typed);
        let at = span.start;
        let left: Vec<_> = self.messages.splice(span, into).collect();
        if !typed_stays {
            self.newest_typed = self.messages.iter().rposition(|sent| sent.typed);
        }
        for message in &left {
            self.leave(message);
        }
        self.changes.push(Change { kind, cause, at, removed, added });
    }

    fn make(&mut self, message: NewMessage) -> ContextMessage {
        let blocks = message.blocks.into_iter().map(|block| match block {
            NewBlock::Kept(id) => id,
            NewBlock::Made { wire, origin } => {
                let block = Block { kind: Kind::Text, origin, line: 0, recorded_tokens: None, wire };
                self.add_made(Arc::new(RewrittenBlock::new(block, message.plain, self.sizes)), None)
            }
        });
        let blocks = blocks.collect();
        self.sent(message.role, message.plain, blocks)
    }

    fn add_made(&mut self, written: Arc<RewrittenBlock>, instead_of: Option<BlockId>) -> BlockId {
        let id = self.conversation.blocks.len() + self.made.len();
        self.made.push(SyntheticBlock { written, instead_of });
        BlockId(u32::try_from(id).unwrap_or(u32::MAX))
    }

    fn sent(&self, role: Role, plain: bool, blocks: Vec<BlockId>) -> ContextMessage {
        let typed = blocks.iter().any(|id| self.block(*id).origin == Origin::User);
        ContextMessage { role, plain, typed, blocks }
    }

    fn sizes_of_message(&self, message: &ContextMessage) -> MessageSizes {
        let mut sizes = [0; SizeUnit::MOST];
        for id in &message.blocks {
            for (sum, size) in sizes.iter_mut().zip(self.sizes_of(*id)) {
                *sum += size;
            }
        }
        for (size, measure) in sizes.iter_mut().zip(self.sizes.measures()) {
            *size = measure.message(message.role, message.plain, message.blocks.len(), *size);
        }
        sizes
    }

    fn sizes_of(&self, id: BlockId) -> &[u64] {
        sizes_of(self.conversation, self.sizes, &self.made, id)
    }

    fn slot(&self, measure: SizeUnit) -> Option<usize> {
        self.sizes.measures().iter().position(|m| *m == measure)
    }

    /// Counts a message in, and gives its sizes.
    fn enter(&mut self, message: &ContextMessage) -> MessageSizes {
        let sizes = self.sizes_of_message(message);
        for (total, size) in self.totals.iter_mut().zip(sizes) {
            *total += size;
        }
        for id in &message.blocks {
            if let Kind::ToolUse(pair) = self.block(*id).kind {
                self.faults.use_enters(pair);
            }
        }
        sizes
    }

    fn leave(&mut self, message: &ContextMessage) {
        let sizes = self.sizes_of_message(message);
        for (total, size) in self.totals.iter_mut().zip(sizes) {
            *total -= size;
        }
        for id in &message.blocks {
            if let Kind::ToolUse(pair) = self.block(*id).kind {
                self.faults.use_leaves(pair);
            }
        }
    }
}
