//! Removes the tool calls and results of a span, and remembers what it looked at, so that a request that extends the one before costs
//! what it adds.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{pairs_in, tool_pair};
use crate::engine::context::{Context, Edit};
use crate::transcript::conversation::{BlockId, PairId};

/// What was removed from the copy of the history that requests see.
#[derive(Debug, Default)]
pub struct Pruned {
    /// Pairs that are removed.
    removed: BTreeSet<PairId>,
    /// Number of messages of the copy at the last look.
    read: usize,
    /// Number of messages at the beginning of the copy whose pairs are all removed, or in `kept`.
    scanned: usize,
    /// Pairs of these messages that stay, because their other halves are outside of the span, and the first message with one.
    kept: BTreeSet<PairId>,
    first_kept: usize,
}

impl Pruned {
    /// Returns whether the copy is what pruning the whole history would give. A late result brings back its call, and the results
    /// that the call has already.
    pub fn still_holds(&self, context: &Context) -> bool {
        self.removed.is_empty() || pairs_in(context, &context.messages()[self.read..], tool_pair).is_disjoint(&self.removed)
    }

    /// Takes in that messages left the copy.
    pub fn move_by(&mut self, gone: &[usize]) {
        for at in [&mut self.read, &mut self.scanned, &mut self.first_kept] {
            *at -= gone.iter().filter(|gone| **gone < *at).count();
        }
    }

    /// Records that all messages were looked at.
    pub fn look_at(&mut self, context: &Context) {
        self.read = context.len();
    }

    /// Returns the edits that remove the tool calls and results of a span, but not those with a half outside of it. Later messages come
    /// first, so that the positions of earlier ones stay valid.
    pub fn prune(&mut self, context: &Context, span: Range<usize>) -> Vec<Edit> {
        if self.scanned >= span.end && self.kept.is_empty() {
            return Vec::new();
        }
        let messages = context.messages();
        let outside = [&messages[..span.start], &messages[span.end..]];
        let outside: BTreeSet<PairId> = outside.into_iter().flat_map(|messages| pairs_in(context, messages, tool_pair)).collect();
        if !self.kept.is_subset(&outside) {
            self.scanned = self.first_kept;
            self.kept.clear();
        }
        let (mut edits, mut gone) = (Vec::new(), 0);
        for (index, message) in messages.iter().enumerate().take(span.end).skip(span.start.max(self.scanned)) {
            let pair_of = |id: &BlockId| tool_pair(context.block(*id).kind);
            let (kept, removed): (Vec<_>, Vec<_>) =
                message.blocks.iter().filter_map(pair_of).partition(|pair| outside.contains(pair));
            if self.kept.is_empty() && !kept.is_empty() {
                self.first_kept = index - gone;
            }
            self.kept.extend(kept);
            if !removed.is_empty() {
                let stays = |id: &BlockId| pair_of(id).is_none_or(|pair| outside.contains(&pair));
                let keep: Vec<_> = message.blocks.iter().copied().filter(stays).collect();
                gone += usize::from(keep.is_empty());
                edits.push(Edit::Retain { message: index, keep });
            }
            self.removed.extend(removed);
        }
        self.scanned = span.end - gone;
        self.read -= gone;
        edits.reverse();
        edits
    }
}
