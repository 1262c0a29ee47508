//! The turns of a list of messages, for a check of its faults that begins where something changed.

use super::message::ContextMessage;
use crate::transcript::conversation::{Block, BlockId, BlockKind, Role};

/// For each message, the turn up to it: the messages of one role that it ends.
#[derive(Debug, Clone, Default)]
pub(super) struct Turns(Vec<TurnSoFar>);

#[derive(Debug, Clone, Copy)]
struct TurnSoFar {
    /// Index of the first message.
    start: usize,
    has_calls: bool,
}

impl Turns {
    /// Returns the index where checking must start again: the assistant turn whose results may have changed, at most two turns back.
    /// An assistant turn without calls has no results.
    pub fn rescan_start(&self, messages: &[ContextMessage], changed: usize) -> usize {
        let mut at = changed.min(messages.len());
        for role in [Role::User, Role::Assistant] {
            let before = at.checked_sub(1).filter(|before| messages[*before].role == role).map(|before| self.0[before]);
            at = before.filter(|turn| role == Role::User || turn.has_calls).map_or(at, |turn| turn.start);
        }
        at
    }

    /// Takes in the messages from the first that changed.
    pub fn update<'a>(&mut self, messages: &[ContextMessage], changed: usize, block: &dyn Fn(BlockId) -> &'a Block) {
        self.0.truncate(changed);
        for (at, message) in messages.iter().enumerate().skip(self.0.len()) {
            let continued = self.0.last().copied().filter(|_| messages[at - 1].role == message.role);
            let TurnSoFar { start, has_calls } = continued.unwrap_or(TurnSoFar { start: at, has_calls: false });
            let calls = || message.blocks.iter().any(|id| matches!(block(*id).kind, BlockKind::ToolUse(_)));
            self.0.push(TurnSoFar { start, has_calls: has_calls || calls() });
        }
    }
}
