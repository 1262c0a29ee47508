//! A response of the model under construction.

use super::super::batch::Stamp;
use crate::transcript::conversation::{BlockId, BlockKind, Call, ConversationBuilder, Message, Role, Usage};

/// A response whose items are being read.
#[derive(Debug)]
pub struct Response {
    pub at: Stamp,
    pub blocks: Vec<BlockId>,
    /// The blocks that are encrypted reasoning.
    pub reasoning: Vec<BlockId>,
    pub usage: Option<Usage>,
    model: Option<String>,
    /// The response is complete: the next item of the model begins another one.
    pub ended: bool,
}

impl Response {
    pub fn new(at: Stamp, usage: Option<Usage>, model: Option<String>) -> Self {
        Self { at, blocks: Vec::new(), reasoning: Vec::new(), usage, model, ended: false }
    }

    /// Returns whether this is the summary that a compaction put into its message. Since 0.169 Codex records it as an item of the
    /// model, although it is no call of the agent.
    pub fn is_summary(&self, message: &str, builder: &ConversationBuilder) -> bool {
        let blocks = || self.blocks.iter().map(|id| builder.so_far().block(*id));
        let text: String = blocks().filter(|block| block.kind == BlockKind::Text).map(|block| block.text()).collect();
        let is_prose = blocks().all(|block| matches!(block.kind, BlockKind::Text | BlockKind::Thinking));
        is_prose && !text.trim().is_empty() && message.trim_end().ends_with(text.trim_end())
    }

    /// Appends the response to the conversation: as a call, unless the parent made the call. Returns the number of reasoning blocks
    /// without a known size.
    pub fn close(self, is_call: bool, builder: &mut ConversationBuilder) -> usize {
        let reasoning_tokens = self.usage.and_then(|usage| usage.reasoning);
        if let Some(tokens) = reasoning_tokens {
            // The record has one number for all of them; the first block gets it.
            for (index, block) in self.reasoning.iter().enumerate() {
                builder.set_recorded_tokens(*block, if index == 0 { tokens } else { 0 });
            }
        }
        let Stamp { line, time } = self.at;
        let message = Message { role: Role::Assistant, is_string_content: false, blocks: self.blocks, time, line };
        if is_call {
            builder.response(message, Call { usage: self.usage, model: self.model, time, ..Call::default() });
        } else {
            builder.message(message);
        }
        if reasoning_tokens.is_some() { 0 } else { self.reasoning.len() }
    }
}
