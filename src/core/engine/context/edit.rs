//! The five edits that a layer may propose.

use std::ops::Range;

use serde_json::Value;

use crate::transcript::conversation::{BlockId, Origin, Role, text_wire};

/// One edit. Edits are applied in order; each position is valid at the moment when its edit is applied.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Replaces the value of one field in a block's wire form. Kind and ids of the block stay.
    Rewrite { message: usize, block: usize, field: &'static str, value: Value },
    /// Removes whole messages.
    Drop { messages: Range<usize> },
    /// Removes all blocks of a message except `keep`; removes the message if `keep` is empty.
    Retain { message: usize, keep: Vec<BlockId> },
    /// Replaces a span of messages by other messages.
    Replace { messages: Range<usize>, into: Vec<NewMessage> },
    /// Inserts a message.
    Insert { at: usize, message: NewMessage },
}

impl Edit {
    /// Returns whether it removes a message because it keeps none of its blocks.
    pub fn removes_message(&self) -> bool {
        matches!(self, Self::Retain { keep, .. } if keep.is_empty())
    }
}

/// A message that a layer inserts.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    pub role: Role,
    pub is_string_content: bool,
    pub blocks: Vec<NewBlock>,
}

/// A block of a message that an edit adds.
#[derive(Debug, Clone, PartialEq)]
pub enum NewBlock {
    /// A block of the conversation.
    Existing(BlockId),
    /// A block that the layer writes.
    Synthetic { wire: Value, origin: Origin },
}

impl NewMessage {
    /// Returns a message whose content is one string.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        let wire = text_wire(text);
        Self { role, is_string_content: true, blocks: vec![NewBlock::Synthetic { wire, origin: Origin::Compaction }] }
    }
}
