//! Positions of messages of three kinds, so that they are not searched for at every request.

use super::ContextMessage;
use crate::transcript::conversation::Role;

/// The messages that a user typed, those with thinking, and the newest response.
#[derive(Debug, Clone, Default)]
pub(super) struct Positions {
    /// Oldest first.
    pub typed: Vec<usize>,
    /// Oldest first.
    pub thinking: Vec<usize>,
    pub newest_response: Option<usize>,
}

impl Positions {
    /// Follows an appended message.
    pub fn append(&mut self, at: usize, message: &ContextMessage) {
        if message.typed {
            self.typed.push(at);
        }
        if message.has_thinking {
            self.thinking.push(at);
        }
        if is_response(message) {
            self.newest_response = Some(at);
        }
    }

    /// Follows an edit: from `start` on, `removed` messages were replaced by `added` others.
    pub fn replace(&mut self, start: usize, removed: usize, added: usize, messages: &[ContextMessage]) {
        for (list, is_listed) in [(&mut self.typed, is_typed as fn(&_) -> _), (&mut self.thinking, has_thinking)] {
            let [from, to] = [start, start + removed].map(|end| list.partition_point(|at| *at < end));
            for at in &mut list[to..] {
                *at = *at - removed + added;
            }
            list.splice(from..to, (start..start + added).filter(|at| is_listed(&messages[*at])));
        }
        if self.newest_response.is_some_and(|at| at >= start) || messages[start..start + added].iter().any(is_response) {
            self.newest_response = messages.iter().rposition(is_response);
        }
    }
}

fn is_typed(message: &ContextMessage) -> bool {
    message.typed
}

fn has_thinking(message: &ContextMessage) -> bool {
    message.has_thinking
}

fn is_response(message: &ContextMessage) -> bool {
    message.role == Role::Assistant
}
