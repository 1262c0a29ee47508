//! The two ends of the history that stay in the copy that requests see, and what was removed between them: where the newest messages are
//! smaller, or thinking left, some of it comes back. So a request that extends the one before costs what it adds.

use std::collections::VecDeque;

use crate::engine::context::{Context, ContextMessage, Edit, NewBlock, NewMessage};
use crate::engine::layer::cut::CutRule;
use crate::tokens::meter::Meter;
use crate::transcript::conversation::BlockKind;

/// What the copy of the history that requests see lacks. It stays empty where a layer edits the stored history.
#[derive(Debug, Default)]
pub struct Ends {
    /// The removed messages, oldest first.
    removed: VecDeque<ContextMessage>,
    /// Number of the oldest of them whose thinking has left.
    without_thinking: usize,
    /// Number of messages of the copy in front of them.
    head: usize,
}

/// The most that may stay: a size by a meter.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    pub meter: Meter,
    pub max_tokens: u64,
}

impl Limit {
    fn allows(&self, messages: usize, sum: u64) -> bool {
        self.meter.apply(self.meter.unit.list(messages, sum)) <= self.max_tokens
    }

    fn size_of(&self, context: &Context, message: &ContextMessage) -> u64 {
        context.message_size(message, self.meter.unit)
    }
}

impl Ends {
    /// Returns whether the copy lacks messages.
    pub fn are_apart(&self) -> bool {
        !self.removed.is_empty()
    }

    /// Returns the edits after which the most messages of both ends stay that the limit allows: as many of the oldest as of the newest, or
    /// one more. The `keep_first` oldest stay in any case, and one message at least.
    pub fn trim(&mut self, context: &Context, keep_first: usize, limit: Limit) -> Vec<Edit> {
        let len = context.len() + self.removed.len();
        let size_of = |message| limit.size_of(context, message);
        let mut tail = (context.len() - self.head).min(len / 2).min(len.saturating_sub(keep_first));
        let mut head = (tail + 1).max(keep_first).max(self.head).min(len - tail);
        let mut sum = context.sum(limit.meter.unit);
        sum += self.removed.iter().take(head.saturating_sub(self.head)).map(size_of).sum::<u64>();
        // Without the thinking that left, older messages of both ends may fit again.
        while head + tail < len {
            let of_head = (head + tail + 1).div_ceil(2).max(keep_first) > head;
            let next = size_of(self.message(context, if of_head { head } else { len - tail - 1 }));
            if !limit.allows(head + tail + 1, sum + next) {
                break;
            }
            sum += next;
            *(if of_head { &mut head } else { &mut tail }) += 1;
        }
        while head + tail > keep_first.max(1) && !limit.allows(head + tail, sum) {
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

    /// Takes in that the thinking of earlier turns left.
    pub fn drop_thinking(&mut self, context: &Context) {
        for message in self.removed.range_mut(self.without_thinking..).filter(|message| message.has_thinking) {
            message.blocks.retain(|id| context.block(*id).kind != BlockKind::Thinking);
            message.has_thinking = false;
        }
        self.without_thinking = self.removed.len();
    }

    /// Returns the edits after which the newest of the removed messages are back, as many as the limit and the rule for the cut allow.
    pub fn bring_back(&mut self, context: &Context, keep_first: usize, limit: Limit, cut: CutRule) -> Vec<Edit> {
        // What stays behind the oldest because it is of their batch does not count.
        let of_batch = &context.messages()[keep_first.min(self.head)..self.head];
        let mut sum = context.sum(limit.meter.unit) - of_batch.iter().map(|message| limit.size_of(context, message)).sum::<u64>();
        let mut left = context.len() - of_batch.len();
        let fits = |message: &&ContextMessage| {
            (sum, left) = (sum + limit.size_of(context, message), left + 1);
            limit.allows(left, sum)
        };
        let oldest = self.removed.len() - self.removed.iter().rev().take_while(fits).count();
        let before = |at: usize| (self.head + at).checked_sub(1).map(|before| self.message(context, before));
        let may_begin = |at: &usize| cut.may_begin(context, &self.removed[*at], before(*at));
        let begin = (oldest..self.removed.len()).find(may_begin).unwrap_or(self.removed.len());
        self.move_to(context, self.head, context.len() - self.head + self.removed.len() - begin)
    }

    /// Returns a message of the whole history.
    fn message<'a>(&'a self, context: &'a Context, at: usize) -> &'a ContextMessage {
        match at.checked_sub(self.head) {
            None => &context.messages()[at],
            Some(behind) => self.removed.get(behind).unwrap_or_else(|| &context.messages()[at - self.removed.len()]),
        }
    }

    /// Returns the edits after which `head` messages of the oldest and `tail` of the newest are left.
    pub fn move_to(&mut self, context: &Context, head: usize, tail: usize) -> Vec<Edit> {
        // Without removed messages, they may begin anywhere.
        let start = if self.are_apart() { self.head } else { head };
        let to_head = head.saturating_sub(start).min(self.removed.len());
        let to_tail = (start + tail).saturating_sub(context.len()).min(self.removed.len() - to_head);
        let from = head.min(start.max(head.saturating_sub(self.removed.len())));
        let to = if to_tail > 0 { start.max(from) } else { context.len() - tail };
        let mut edits = Vec::new();
        if from < to {
            edits.push(Edit::Drop { messages: from..to });
        }
        let newest = self.removed.split_off(self.removed.len() - to_tail);
        let returned = self.removed.drain(..to_head).enumerate().map(|(at, message)| (start + at, message));
        let returned = returned.chain(newest.into_iter().enumerate().map(|(at, message)| (head + at, message)));
        edits.extend(returned.map(|(at, message)| Edit::Insert { at, message: again(message) }));
        let (older, newer) =
            context.messages()[from..to.max(from)].split_at(start.saturating_sub(from).min(to.saturating_sub(from)));
        self.note_thinking(to_head, older);
        older.iter().rev().for_each(|message| self.removed.push_front(message.clone()));
        self.removed.extend(newer.iter().cloned());
        self.head = if self.are_apart() { head } else { 0 };
        edits
    }

    /// Follows the messages that leave and join at the front of the removed ones.
    fn note_thinking(&mut self, leave: usize, join: &[ContextMessage]) {
        let left = self.without_thinking.saturating_sub(leave).min(self.removed.len());
        let has_thinking = join.iter().any(|message| message.has_thinking);
        self.without_thinking = if has_thinking { 0 } else { left + join.len() };
    }
}

fn again(message: ContextMessage) -> NewMessage {
    let ContextMessage { role, is_string_content, blocks, .. } = message;
    NewMessage { role, is_string_content, blocks: blocks.into_iter().map(NewBlock::Existing).collect() }
}
