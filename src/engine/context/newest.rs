//! Positions of the newest messages of two kinds, so that they are not searched for at every request.

use super::ContextMessage;
use crate::transcript::conversation::Role;

/// The newest message that a user typed, and the newest response.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Newest {
    pub typed: Option<usize>,
    pub response: Option<usize>,
}

type IsWanted = fn(&ContextMessage) -> bool;

impl Newest {
    /// Follows an appended message.
    pub fn append(&mut self, at: usize, message: &ContextMessage) {
        for (newest, is_wanted) in self.kinds() {
            *newest = Some(at).filter(|_| is_wanted(message)).or(*newest);
        }
    }

    /// Follows an edit: the messages from `start` on, `added` of them new, were others before.
    pub fn replace(&mut self, start: usize, added: usize, messages: &[ContextMessage]) {
        for (newest, is_wanted) in self.kinds() {
            let stays = newest.is_none_or(|at| at < start) && !messages[start..start + added].iter().any(is_wanted);
            if !stays {
                *newest = messages.iter().rposition(is_wanted);
            }
        }
    }

    fn kinds(&mut self) -> [(&mut Option<usize>, IsWanted); 2] {
        [(&mut self.typed, |message| message.typed), (&mut self.response, |message| message.role == Role::Assistant)]
    }
}
