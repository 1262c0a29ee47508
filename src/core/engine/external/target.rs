//! The messages that the context will have after an answer.

use serde_json::Value;

use super::WrittenMessage;
use super::align::align;
use super::seen::{PlannedUnit, Unit};
use crate::engine::context::{Context, NewBlock, NewMessage};
use crate::transcript::conversation::{BlockId, Origin, Role};

/// A message of the context after an answer.
#[derive(Debug)]
pub(super) struct TargetMessage {
    /// The message of the context that it is made of; `None`: it is new.
    pub from: Option<usize>,
    pub role: Role,
    pub is_string_content: bool,
    pub blocks: Vec<TargetBlock>,
}

/// A block of such a message.
#[derive(Debug)]
pub(super) enum TargetBlock {
    /// A block of the context, with new values of some fields.
    Old {
        block: BlockId,
        rewrites: Vec<(&'static str, Value)>,
    },
    New(Value),
}

/// The messages after an answer, and the units that they consist of.
#[derive(Debug, Default)]
pub(super) struct Targets {
    pub messages: Vec<TargetMessage>,
    pub units: Vec<PlannedUnit>,
    /// The message of the context that further units may join.
    open: Option<usize>,
    /// The newest message of the context that a target is made of.
    last: Option<usize>,
}

impl Targets {
    /// Adds a unit as it is. `message` is its message of the context.
    pub fn keep(&mut self, unit: &Unit, message: usize, context: &Context) {
        let old = &context.messages()[message];
        let blocks = unit.blocks.iter().map(|block| TargetBlock::Old { block: *block, rewrites: Vec::new() }).collect();
        self.add(Some(unit.id), Some(message), old.role, old.is_string_content, blocks);
    }

    /// Adds a message that the policy wrote. `replaced` are the units that it replaces, `message` is the message of the context
    /// that they are all part of.
    pub(super) fn write(
        &mut self,
        written: WrittenMessage,
        replaced: &[&Unit],
        message: Option<usize>,
        context: &Context,
    ) -> Result<(), String> {
        let WrittenMessage { replaces, role, is_string_content, blocks } = written;
        let old: Vec<BlockId> = replaced.iter().flat_map(|unit| unit.blocks.iter().copied()).collect();
        let blocks = align(context, &old, blocks)?;
        let message = message.filter(|at| context.messages()[*at].role == role);
        self.add(replaces.first().copied(), message, role, is_string_content, blocks);
        Ok(())
    }

    fn add(&mut self, id: Option<u64>, from: Option<usize>, role: Role, is_string_content: bool, blocks: Vec<TargetBlock>) {
        let count = blocks.len();
        let continues = from.is_some() && self.open == from;
        match self.messages.last_mut().filter(|_| continues) {
            Some(message) => {
                message.blocks.extend(blocks);
                message.is_string_content = false;
            }
            None => {
                // What is written between two parts of a message makes two messages of it.
                let is_first = from.is_some_and(|at| self.last.is_none_or(|last| last < at));
                let from_context = from.filter(|_| is_first);
                self.messages.push(TargetMessage { from: from_context, role, is_string_content, blocks });
                self.last = self.last.max(from);
            }
        }
        self.open = from;
        self.units.push(PlannedUnit { id, blocks: count, continues });
    }
}

impl TargetMessage {
    /// Returns the message as an edit adds it, before its blocks are rewritten.
    pub fn to_new(&self) -> NewMessage {
        let block = |block: &TargetBlock| match block {
            TargetBlock::Old { block, .. } => NewBlock::Existing(*block),
            TargetBlock::New(wire) => NewBlock::Synthetic { wire: wire.clone(), origin: Origin::Compaction },
        };
        NewMessage { role: self.role, is_string_content: self.is_string_content, blocks: self.blocks.iter().map(block).collect() }
    }
}
