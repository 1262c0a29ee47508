//! What a policy from outside was shown: which message of the context has which id.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::in_place::Place;
use super::plan::PlannedUnits;
use super::{MessageId, Shape, ShownMessage};
use crate::engine::context::{Context, ContextMessage};
use crate::transcript::conversation::{BlockId, BlockKind};

/// The messages of the context, as the policy knows them.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    units: Vec<Unit>,
    /// Number of messages of the context that the units make up.
    messages: usize,
    next_id: MessageId,
}

/// A message of the context, or a part of one, with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub id: MessageId,
    pub blocks: Vec<BlockId>,
    /// It is part of the same message of the context as the unit before it.
    pub continues: bool,
}

/// A unit of the context as it will be after an answer was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedUnit {
    /// `None`: it gets a new id.
    pub id: Option<MessageId>,
    /// Number of its blocks.
    pub blocks: usize,
    pub continues: bool,
}

/// What changed since the policy was last asked, as positions of units.
#[derive(Debug, Default)]
pub struct News {
    pub gone: Vec<MessageId>,
    pub changed: Vec<usize>,
    pub new: Range<usize>,
    /// Index of the context's message that the first new unit begins.
    pub first_message: usize,
}

impl Seen {
    /// The units, in the order of the context.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Takes in what the recording did to the context since the last call.
    pub fn update(&mut self, context: &Context, shape: Shape) -> News {
        let mut news = News::default();
        // Only the thinking of earlier turns leaves a history by itself, which happens once per turn.
        if context.has_changes() {
            self.remove_lost_blocks(context, &mut news);
        }
        let first = self.units.len();
        news.first_message = self.messages;
        for message in &context.messages()[self.messages..] {
            for (part, blocks) in parts(context, message, shape).into_iter().enumerate() {
                self.units.push(Unit { id: self.next_id, blocks, continues: part > 0 });
                self.next_id += 1;
            }
        }
        self.messages = context.len();
        news.new = first..self.units.len();
        news
    }

    fn remove_lost_blocks(&mut self, context: &Context, news: &mut News) {
        let present: FxHashSet<BlockId> = context.messages().iter().flat_map(|message| message.blocks.iter().copied()).collect();
        let (mut left, mut begins): (Vec<Unit>, bool) = (Vec::new(), false);
        self.messages = 0;
        for mut unit in std::mem::take(&mut self.units) {
            let before = unit.blocks.len();
            unit.blocks.retain(|block| present.contains(block));
            begins |= !unit.continues;
            if unit.blocks.is_empty() && before > 0 {
                news.gone.push(unit.id);
                continue;
            }
            if unit.blocks.len() < before {
                news.changed.push(left.len());
            }
            self.messages += usize::from(begins);
            left.push(Unit { continues: !begins, ..unit });
            begins = false;
        }
        self.units = left;
    }

    /// Takes in the context after an answer was applied to it. Returns the ids of the messages that the answer inserted.
    pub fn settle(&mut self, planned: PlannedUnits, context: &Context) -> Vec<MessageId> {
        let mut inserted = Vec::new();
        let planned = match planned {
            PlannedUnits::All(units) => units,
            PlannedUnits::Rewritten(places) => {
                for Place { unit, message, first_block } in places {
                    let after = &context.messages()[message].blocks[first_block..];
                    self.units[unit].blocks.iter_mut().zip(after).for_each(|(block, after)| *block = *after);
                }
                return inserted;
            }
        };
        let mut blocks = context.messages().iter().flat_map(|message| message.blocks.iter().copied());
        let units = planned.into_iter().map(|unit| Unit {
            id: unit.id.unwrap_or_else(|| {
                inserted.push(self.next_id);
                self.next_id += 1;
                self.next_id - 1
            }),
            blocks: blocks.by_ref().take(unit.blocks).collect(),
            continues: unit.continues,
        });
        self.units = units.collect();
        self.messages = context.len();
        inserted
    }

    /// Returns the new messages as the policy is shown them.
    pub fn shown_new<'a>(&self, news: &News, context: &'a Context) -> Vec<ShownMessage<'a>> {
        let mut next = news.first_message;
        let show = |at: usize| {
            next += usize::from(!self.units[at].continues);
            self.show(at, next - 1, context)
        };
        news.new.clone().map(show).collect()
    }

    /// Returns the changed messages as the policy is shown them.
    pub fn shown_changed<'a>(&self, news: &News, context: &'a Context) -> Vec<ShownMessage<'a>> {
        if news.changed.is_empty() {
            return Vec::new();
        }
        let messages = self.messages_of_units();
        news.changed.iter().map(|at| self.show(*at, messages[*at], context)).collect()
    }

    fn show<'a>(&self, at: usize, message: usize, context: &'a Context) -> ShownMessage<'a> {
        let (unit, message) = (&self.units[at], &context.messages()[message]);
        ShownMessage {
            id: unit.id,
            role: message.role,
            is_string_content: message.is_string_content,
            continues: unit.continues,
            blocks: unit.blocks.iter().map(|id| context.block(*id).wire()).collect(),
        }
    }

    /// Returns the index of the context's message that each unit is part of.
    pub fn messages_of_units(&self) -> Vec<usize> {
        let mut begun: usize = 0;
        let message = |unit: &Unit| {
            begun += usize::from(!unit.continues);
            begun.saturating_sub(1)
        };
        self.units.iter().map(message).collect()
    }
}

/// Returns the parts of a message that have an id each: in OpenAI's form each result of a tool is a message.
fn parts(context: &Context, message: &ContextMessage, shape: Shape) -> Vec<Vec<BlockId>> {
    let is_result = |id: &BlockId| matches!(context.block(*id).kind, BlockKind::ToolResult(_));
    match shape {
        Shape::Anthropic => vec![message.blocks.clone()],
        Shape::OpenAi => {
            message.blocks.chunk_by(|one, next| !is_result(one) && !is_result(next)).map(<[BlockId]>::to_vec).collect()
        }
    }
}
