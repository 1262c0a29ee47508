//! Where in a transcript something stands, as findings name it.

use serde::Serialize;

use crate::transcript::conversation::{Block, Conversation, Kind, Origin};

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    pub line: u32,
    /// The call that is made or answered there, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// What stands there: `tool result`, `typed text`, `file`.
    pub block: &'static str,
}

/// The blocks of a conversation with the places they stand at, each once.
pub fn blocks(conversation: &Conversation) -> Vec<(&Block, Place)> {
    let mut calls = vec![None; conversation.blocks.len()];
    for (at, message) in conversation.messages.iter().enumerate() {
        let call = conversation.calls.partition_point(|call| call.response < at);
        let call = (call < conversation.calls.len()).then_some(call + 1);
        message.blocks.iter().for_each(|id| calls[id.index()] = call);
    }
    let place = |(block, call): (&'_ Block, Option<usize>)| Place { line: block.line, call, block: name(block) };
    conversation.blocks.iter().zip(calls).map(|(block, call)| (block, place((block, call)))).collect()
}

/// What a block is, for people.
fn name(block: &Block) -> &'static str {
    match (block.kind, block.origin) {
        (Kind::Thinking, _) => "thinking",
        (Kind::ToolUse(_), _) => "tool use",
        (Kind::ToolResult(_), _) => "tool result",
        (Kind::Media, _) => "image or document",
        (Kind::Other, _) => "other",
        (Kind::Text, Origin::Agent) => "assistant text",
        (Kind::Text, Origin::User) => "typed text",
        (Kind::Text, Origin::Compaction) => "summary",
        (Kind::Text, _) => "injected text",
    }
}
