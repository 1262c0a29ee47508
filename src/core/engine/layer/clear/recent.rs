//! Which results are old by the size of those behind them.
//!
//! The size of the newest results is kept from run to run: a run adds what is new and subtracts what has become old, so that it looks at
//! each result twice, however many of them stay.

use super::{Clear, ClearState};
use crate::engine::context::Context;
use crate::engine::layer::result_filter::{Candidate, results_between};
use crate::engine::layer::{BlockPosition, LayerInput};

/// The size of the newest results.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RecentSize {
    /// Position of the first of them.
    start: BlockPosition,
    /// The results up to this position are counted.
    end: BlockPosition,
    /// Their size, in the unit of the policy's meter.
    size: u64,
    /// Number of edits of the context when they were counted. A later edit may have changed them.
    edits: u32,
}

impl RecentSize {
    /// Takes in the edits of the layer itself, which change only older results.
    pub fn settle(&mut self, context: &Context) {
        self.edits = context.edits();
    }
}

impl Clear {
    /// Returns the results in front of the message `turns` that are old: those behind them have more than this size, or would have it
    /// with them. Of those, this many of the newest stay, too.
    pub(super) fn take_old_by_size<'a>(
        &self,
        input: &LayerInput<'a>,
        state: &mut ClearState,
        turns: usize,
        max_size: u64,
        more: usize,
    ) -> Vec<Candidate<'a>> {
        let context = input.context;
        let undecided = state.cursor.start(context);
        if state.recent.edits != context.edits() {
            state.recent = RecentSize { start: undecided, end: undecided, size: 0, edits: context.edits() };
        }
        self.count(input, &mut state.recent, turns, max_size);
        let first_recent = state.recent.start;
        let mut old: Vec<_> = results_between(context, undecided, first_recent).collect();
        let kept = old.len().saturating_sub(more);
        state.cursor.set(old.get(kept).map_or(first_recent, |candidate| candidate.position), context);
        old.truncate(kept);
        old.retain(|candidate| self.filter.may_edit(context, candidate));
        old
    }

    /// Counts the new results in front of the message `turns`, and moves the start until what is behind it has at most this size.
    fn count(&self, input: &LayerInput, recent: &mut RecentSize, turns: usize, max_size: u64) {
        let (context, meter) = (input.context, input.meter);
        let seen = if self.filter.protect_unseen { context.newest_response().map_or(0, |last| last + 1) } else { context.len() };
        let end = recent.end.max(BlockPosition { message: turns.min(seen), block: 0 });
        let size = |candidate: Candidate| {
            if self.counts(context, &candidate) { context.block_size(candidate.id, meter.unit) } else { 0 }
        };
        let results = |from| results_between(context, from, end);
        recent.size += results(recent.end).map(size).sum::<u64>();
        recent.end = end;
        let mut oldest = results(recent.start).peekable();
        while meter.apply(recent.size) > max_size
            && let Some(candidate) = oldest.next()
        {
            recent.size -= size(candidate);
            recent.start = oldest.peek().map_or(end, |next| next.position);
        }
    }

    /// Returns whether a result counts among the newest.
    fn counts(&self, context: &Context, candidate: &Candidate) -> bool {
        self.filter.may_edit(context, candidate) && !self.is_cleared(context, candidate)
    }
}
