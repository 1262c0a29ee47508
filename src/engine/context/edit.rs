//! The edits a layer may propose: four and no more.

use std::ops::Range;

use serde_json::Value;

use crate::transcript::conversation::{BlockId, Origin, Role, text_wire};

/// What a layer proposes. Positions are those at the moment the edit is applied: edits are applied in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Another value in one field of a block's wire form; its kind and ids stay.
    Rewrite { message: usize, block: usize, field: &'static str, value: Value },
    /// Whole messages leave.
    Drop { messages: Range<usize> },
    /// Of one message, only these blocks stay; without any, the message leaves.
    Retain { message: usize, keep: Vec<BlockId> },
    /// Messages stand in place of a span.
    Replace { messages: Range<usize>, into: Vec<NewMessage> },
    /// A message is put in.
    Insert { at: usize, message: NewMessage },
}

/// A message a layer puts in.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    pub role: Role,
    pub plain: bool,
    pub blocks: Vec<NewBlock>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum NewBlock {
    /// A block of the conversation itself.
    Kept(BlockId),
    Made {
        wire: Value,
        origin: Origin,
    },
}

impl NewMessage {
    /// A message whose content is one string.
    pub fn plain(role: Role, text: impl Into<String>) -> Self {
        let wire = text_wire(text);
        Self { role, plain: true, blocks: vec![NewBlock::Made { wire, origin: Origin::Compaction }] }
    }
}
