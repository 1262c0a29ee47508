//! Keeps as many of the oldest messages as of the newest, and remembers the middle, from which messages come back when the newest ones
//! are smaller. So a request that extends the one before costs what it adds.

use std::collections::VecDeque;

use crate::engine::context::{Context, ContextMessage, Edit, NewBlock, NewMessage};
use crate::tokens::meter::Meter;

/// What the copy of the history that requests see lacks. It stays empty where a layer edits the stored history.
#[derive(Debug, Default)]
pub struct Ends {
    /// The removed messages, oldest first.
    removed: VecDeque<ContextMessage>,
    /// Number of messages of the copy in front of them.
    head: usize,
}

impl Ends {
    /// Returns the edits after which the most messages of both ends stay that are together at most this large by the meter. The
    /// `keep_first` oldest stay in any case, and one message at least.
    pub fn trim(&mut self, context: &Context, keep_first: usize, meter: Meter, max_tokens: u64) -> Vec<Edit> {
        let len = context.len() + self.removed.len();
        let size_of = |message: &ContextMessage| context.message_size(message, meter.unit);
        // The newest end never begins earlier than in the request before, so nothing else need be tried.
        let mut tail = (context.len() - self.head).min(len / 2).min(len.saturating_sub(keep_first));
        let mut head = (tail + 1).max(keep_first).max(self.head).min(len - tail);
        let mut sum = context.sum(meter.unit);
        sum += self.removed.iter().take(head.saturating_sub(self.head)).map(size_of).sum::<u64>();
        while head + tail > keep_first.max(1) && meter.apply(meter.unit.list(head + tail, sum)) > max_tokens {
            let middle = ((head + tail) / 2).max(keep_first);
            if middle < head {
                head -= 1;
                sum -= size_of(self.message(context, head));
            } else {
                sum -= size_of(self.message(context, len - tail));
                tail -= 1;
            }
        }
        self.move_to(context, head, tail)
    }

    /// Returns a message of the whole history.
    fn message<'a>(&'a self, context: &'a Context, at: usize) -> &'a ContextMessage {
        match at.checked_sub(self.head) {
            None => &context.messages()[at],
            Some(behind) => self.removed.get(behind).unwrap_or_else(|| &context.messages()[at - self.removed.len()]),
        }
    }

    /// Returns the edits after which `head` messages of the oldest and `tail` of the newest are left.
    fn move_to(&mut self, context: &Context, head: usize, tail: usize) -> Vec<Edit> {
        let back = head.saturating_sub(self.head).min(self.removed.len());
        let from = head.min(self.head.max(head.saturating_sub(self.removed.len())));
        let to = context.len() - tail;
        let mut edits = Vec::new();
        if from < to {
            edits.push(Edit::Drop { messages: from..to });
        }
        let start = self.head;
        let returned = self.removed.drain(..back).enumerate();
        edits.extend(returned.map(|(at, message)| Edit::Insert { at: start + at, message: again(message) }));
        let (older, newer) = context.messages()[from..to].split_at(self.head.saturating_sub(from).min(to - from));
        older.iter().rev().for_each(|message| self.removed.push_front(message.clone()));
        self.removed.extend(newer.iter().cloned());
        self.head = if self.removed.is_empty() { 0 } else { head };
        edits
    }
}

fn again(message: ContextMessage) -> NewMessage {
    let ContextMessage { role, is_string_content, blocks, .. } = message;
    NewMessage { role, is_string_content, blocks: blocks.into_iter().map(NewBlock::Existing).collect() }
}
