//! Positions of messages of four kinds, so that they are not searched for at every request.

use super::ContextMessage;

/// The messages that a user typed, those of them that begin a turn, those with thinking, and the newest response.
#[derive(Debug, Clone, Default)]
pub(super) struct Positions {
    /// Oldest first.
    pub typed: Vec<usize>,
    /// Oldest first: the typed messages without results. A turn that begins at another one would have results without their calls.
    pub turns: Vec<usize>,
    /// Oldest first.
    pub thinking: Vec<usize>,
    pub newest_response: Option<usize>,
}

/// Whether a message is in a list.
type Rule = fn(&ContextMessage) -> bool;

impl Positions {
    /// Follows an appended message.
    pub fn append(&mut self, at: usize, message: &ContextMessage) {
        for (list, is_listed) in self.lists() {
            if is_listed(message) {
                list.push(at);
            }
        }
        if message.is_response() {
            self.newest_response = Some(at);
        }
    }

    /// Follows an edit: from `start` on, `removed` messages were replaced by `added` others.
    pub fn replace(&mut self, start: usize, removed: usize, added: usize, messages: &[ContextMessage]) {
        for (list, is_listed) in self.lists() {
            let [from, to] = [start, start + removed].map(|end| list.partition_point(|at| *at < end));
            for at in &mut list[to..] {
                *at = *at - removed + added;
            }
            list.splice(from..to, (start..start + added).filter(|at| is_listed(&messages[*at])));
        }
        if self.newest_response.is_some_and(|at| at >= start)
            || messages[start..start + added].iter().any(ContextMessage::is_response)
        {
            self.newest_response = messages.iter().rposition(ContextMessage::is_response);
        }
    }

    /// Returns each list with the rule for what is in it.
    fn lists(&mut self) -> [(&mut Vec<usize>, Rule); 3] {
        [
            (&mut self.typed, |message| message.typed),
            (&mut self.turns, |message| message.typed && !message.has_results),
            (&mut self.thinking, |message| message.has_thinking),
        ]
    }
}
