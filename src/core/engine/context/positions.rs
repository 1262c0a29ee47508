//! Positions of messages of two kinds, so that they are not searched for at every request.

use super::ContextMessage;
use crate::transcript::conversation::Role;

/// The messages that a user typed, and the newest response.
#[derive(Debug, Clone, Default)]
pub(super) struct Positions {
    /// Oldest first.
    pub typed: Vec<usize>,
    pub newest_response: Option<usize>,
}

impl Positions {
    /// Follows an appended message.
    pub fn append(&mut self, at: usize, message: &ContextMessage) {
        if message.typed {
            self.typed.push(at);
        }
        if is_response(message) {
            self.newest_response = Some(at);
        }
    }

    /// Follows an edit: from `start` on, `removed` messages were replaced by `added` others.
    pub fn replace(&mut self, start: usize, removed: usize, added: usize, messages: &[ContextMessage]) {
        let [from, to] = [start, start + removed].map(|end| self.typed.partition_point(|at| *at < end));
        for at in &mut self.typed[to..] {
            *at = *at - removed + added;
        }
        self.typed.splice(from..to, (start..start + added).filter(|at| messages[*at].typed));
        if self.newest_response.is_some_and(|at| at >= start) || messages[start..start + added].iter().any(is_response) {
            self.newest_response = messages.iter().rposition(is_response);
        }
    }
}

fn is_response(message: &ContextMessage) -> bool {
    message.role == Role::Assistant
}
