//! What counts as one message. Harnesses differ, and so do their counts of messages, their cuts and their meters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transcript::conversation::{BlockId, BlockKind, Role};

/// What the harness stores as one message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MessageUnit {
    /// A response, and all that enters before the next one, as in Anthropic's API: the tool results first, then texts.
    #[default]
    Whole,
    /// The tool results together, and the texts beside them apart (AutoGen, Vercel's AI SDK).
    ResultsApart,
    /// Each tool result alone, and the texts beside them apart, as in OpenAI's chat API (LangChain, Semantic Kernel).
    EachResult,
    /// Each tool result and each tool call alone; a text of the response goes with its first call (events of OpenHands).
    Event,
}

impl MessageUnit {
    /// Returns whether all that enters is one message.
    pub fn is_whole(&self) -> bool {
        *self == Self::Whole
    }

    /// Splits the blocks of a message into those of the harness's messages, in order.
    pub(super) fn split(self, role: Role, blocks: Vec<BlockId>, kind_of: impl Fn(BlockId) -> BlockKind) -> Vec<Vec<BlockId>> {
        if role == Role::Assistant && self == Self::Event {
            let is_call = |id: &BlockId| matches!(kind_of(*id), BlockKind::ToolUse(_));
            return blocks.chunk_by(|before, after| !(is_call(before) && is_call(after))).map(<[BlockId]>::to_vec).collect();
        }
        if role == Role::Assistant || self.is_whole() {
            return vec![blocks];
        }
        let is_result = |id: &BlockId| matches!(kind_of(*id), BlockKind::ToolResult(_));
        let stay_together = |before: &BlockId, after: &BlockId| {
            is_result(before) == is_result(after) && (self == Self::ResultsApart || !is_result(before))
        };
        blocks.chunk_by(stay_together).map(<[BlockId]>::to_vec).collect()
    }
}
