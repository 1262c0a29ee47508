//! Places in transcripts, as findings name them.

use serde::Serialize;

use crate::transcript::conversation::{Block, BlockKind, Conversation, Origin};

/// A place in a transcript or another file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    pub line: u32,
    /// Number of the call that is made or answered there, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// Kind of the block: `tool result`, `typed text`, or `file` outside of transcripts.
    pub block: &'static str,
}

/// Returns each block of a conversation with its place.
pub fn blocks(conversation: &Conversation) -> Vec<(&Block, Place)> {
    let mut calls = vec![None; conversation.blocks.len()];
    for (at, message) in conversation.messages.iter().enumerate() {
        let call = conversation.calls.partition_point(|call| call.response < at);
        let call = (call < conversation.calls.len()).then_some(call + 1);
        message.blocks.iter().for_each(|id| calls[id.index()] = call);
    }
    let place = |(block, call): (&'_ Block, Option<usize>)| Place { line: block.line, call, block: kind_name(block) };
    conversation.blocks.iter().zip(calls).map(|(block, call)| (block, place((block, call)))).collect()
}

/// Returns the kind of a block as a readable name.
fn kind_name(block: &Block) -> &'static str {
    match (block.kind, block.origin) {
        (BlockKind::Thinking, _) => "thinking",
        (BlockKind::ToolUse(_), _) => "tool use",
        (BlockKind::ToolResult(_), _) => "tool result",
        (BlockKind::Media, _) => "image or document",
        (BlockKind::Other, _) => "other",
        (BlockKind::Text, Origin::Agent) => "assistant text",
        (BlockKind::Text, Origin::User) => "typed text",
        (BlockKind::Text, Origin::Compaction) => "summary",
        (BlockKind::Text, _) => "injected text",
    }
}
