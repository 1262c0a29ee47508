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
    has_results: bool,
}

impl Turns {
    /// Returns the index where checking must start again: the assistant turn whose results may have changed, at most two turns back. An
    /// assistant turn without calls has no results. Behind one, a user turn that has no results yet can be continued: every result in
    /// it is without a call, whatever is before it in the turn.
    pub fn rescan_start(&self, messages: &[ContextMessage], changed: usize) -> usize {
        let changed = changed.min(messages.len());
        let turn_before = |at: usize, role: Role| {
            let before = at.checked_sub(1).filter(|before| messages[*before].role == role);
            before.map(|before| self.0[before])
        };
        let user = turn_before(changed, Role::User);
        let user_start = user.map_or(changed, |turn| turn.start);
        match turn_before(user_start, Role::Assistant) {
            Some(assistant) if assistant.has_calls => assistant.start,
            _ if user.is_some_and(|turn| turn.has_results) => user_start,
            _ => changed,
        }
    }

    /// Takes in the messages from the first that changed.
    pub fn update<'a>(&mut self, messages: &[ContextMessage], changed: usize, block: &dyn Fn(BlockId) -> &'a Block) {
        self.0.truncate(changed);
        for (at, message) in messages.iter().enumerate().skip(self.0.len()) {
            let continued = self.0.last().copied().filter(|_| messages[at - 1].role == message.role);
            let mut turn = continued.unwrap_or(TurnSoFar { start: at, has_calls: false, has_results: false });
            for id in &message.blocks {
                match block(*id).kind {
                    BlockKind::ToolUse(_) => turn.has_calls = true,
                    BlockKind::ToolResult(_) => turn.has_results = true,
                    _ => {}
                }
            }
            self.0.push(turn);
        }
    }
}
