//! Signed thinking of the newest response, which an API wants back as it was while the results of its calls are sent.
//!
//! Anthropic: *during tool use, you must pass thinking blocks back to the API for the last assistant message*, and *include the complete
//! unmodified block* (platform.claude.com/docs: extended thinking). It refuses the request otherwise. The thinking of earlier responses
//! may be left out.

use super::change::{Cause, Change};
use super::validity::{Fault, FaultKind};
use super::{Context, ContextMessage};
use crate::transcript::conversation::{Block, BlockId, BlockKind, Message, PairId, Role};

/// The newest response with its signed thinking, and what layers did to it.
#[derive(Debug, Clone, Default)]
pub(super) struct SignedThinking {
    calls: Vec<PairId>,
    thinking: Vec<BlockId>,
    /// The blocks of `thinking` that a layer removed or changed.
    lost: Vec<(BlockId, Cause)>,
}

impl SignedThinking {
    /// Takes in an edit.
    pub fn note(&mut self, change: &Change) {
        if let (false, Cause::Layer(_)) = (self.calls.is_empty(), change.cause) {
            let lost = self.thinking.iter().filter(|id| change.removed.contains(id) && !change.added.contains(id));
            self.lost.extend(lost.map(|id| (*id, change.cause)));
        }
    }
}

impl Context<'_> {
    /// Takes in a message of the conversation.
    pub(super) fn note_response(&mut self, message: &Message) {
        if message.role == Role::Assistant {
            let thinking = message.blocks.iter().copied().filter(|id| is_signed(self.block(*id)));
            let calls = message.blocks.iter().filter_map(|id| match self.block(*id).kind {
                BlockKind::ToolUse(pair) => Some(pair),
                _ => None,
            });
            self.signed_thinking = SignedThinking { thinking: thinking.collect(), calls: calls.collect(), lost: Vec::new() };
        }
    }

    /// Says that the provider needs the thinking so far no more: a new turn began.
    pub fn release_thinking(&mut self) {
        self.signed_thinking = SignedThinking::default();
    }

    /// Returns a fault for each signed thinking block of the newest response that a layer removed or changed, if the call of a tool with
    /// which the response ended is still there.
    pub fn thinking_faults(&self) -> Vec<Fault> {
        let SignedThinking { calls, lost, .. } = &self.signed_thinking;
        if lost.is_empty() {
            return Vec::new();
        }
        let is_call = |id: &BlockId| matches!(self.block(*id).kind, BlockKind::ToolUse(pair) if calls.contains(&pair));
        let has_call = |message: &ContextMessage| message.is_response() && message.blocks.iter().any(is_call);
        let Some(message) = self.messages.iter().rposition(has_call) else { return Vec::new() };
        let is_there = |block: BlockId| self.messages[..=message].iter().rev().any(|message| message.blocks.contains(&block));
        let fault = |(block, cause)| Fault { kind: FaultKind::ThinkingChanged, block, message, cause };
        lost.iter().copied().filter(|(block, _)| !is_there(*block)).map(fault).collect()
    }
}

/// Returns whether a provider signed a block of thinking: it has a signature, or is encrypted.
fn is_signed(block: &Block) -> bool {
    let has = |field: &str| block.field(field).and_then(|value| value.as_str()).is_some_and(|text| !text.is_empty());
    block.kind == BlockKind::Thinking && (has("signature") || has("data"))
}
