//! Where the messages that stay begin if the older ones leave in steps of a size, each up to a position where a cut may be.

use crate::engine::context::Context;
use crate::engine::layer::cut::{CutRule, Snap};
use crate::tokens::meter::Meter;

/// Removes messages in steps until those that stay are small enough.
pub struct Steps {
    pub meter: Meter,
    /// Maximum size of the messages that stay.
    pub max_tokens: u64,
    /// Minimum size of a step.
    pub step: u64,
    pub cut: CutRule,
}

impl Steps {
    /// Returns where the messages that stay begin, at or behind `from`. It looks at the messages that leave, and at those of one step.
    pub fn start(&self, context: &Context, from: usize) -> usize {
        let unit = self.meter.unit;
        let (mut start, mut sum) = (from, context.sum(unit));
        let left = |start: usize| context.len() - (start - from);
        while start + 1 < context.len() && self.meter.apply(unit.list(left(start), sum)) > self.max_tokens {
            let Some(next) = self.next(context, start) else { break };
            sum -= context.messages()[start..next].iter().map(|message| context.message_size(message, unit)).sum::<u64>();
            start = next;
        }
        start
    }

    /// Returns where a step ends that begins at `start`; `None` if there is no position for a cut behind it.
    fn next(&self, context: &Context, start: usize) -> Option<usize> {
        let last = match self.cut {
            CutRule::Turn | CutRule::Typed => *context.turn_starts().last()?,
            _ => context.len() - 1,
        };
        if last <= start {
            return None;
        }
        let mut size = 0;
        let is_too_small = |at: &usize| {
            size += context.message_size(&context.messages()[*at], self.meter.unit);
            self.meter.apply(size) < self.step
        };
        let end = (start + 1 + (start..last - 1).take_while(is_too_small).count()).min(last);
        let next = self.cut.adjust_tail(Snap::Either, context, end);
        (next > start).then_some(next)
    }
}
