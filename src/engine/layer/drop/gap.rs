//! What a `drop` removed from the copy of the history that requests see. The next request extends this copy, so that a call costs
//! what it adds. In the whole history the span would begin at the same message, and end at the same one or a later one.

use std::collections::BTreeSet;

use crate::transcript::conversation::PairId;

/// The messages that are gone from the copy. Of the stored history, nothing is counted here: what is gone from it never was there.
#[derive(Debug, Default)]
pub struct Gap {
    /// Where the span began; `None` before anything was removed.
    pub head: Option<usize>,
    /// Messages that are gone from the span, or from behind it because their calls are.
    pub inside: usize,
    /// Messages that are gone from before the span, because their results are.
    pub before: usize,
    /// The text of the marker at `head`.
    pub marker: Option<String>,
    /// Tool calls and results that stay in the span, because their other halves are outside of it, and the first message with one.
    pub waiting: BTreeSet<PairId>,
    pub first_waiting: usize,
    /// Messages of the span before this one have no others.
    pub scanned: usize,
    /// Tool calls and results of the span that are gone, and how many messages of the copy were looked at for more of them.
    pub pairs: BTreeSet<PairId>,
    pub read: usize,
}

impl Gap {
    /// Returns the number of markers in the copy.
    pub fn markers(&self) -> usize {
        usize::from(self.marker.is_some())
    }

    /// Returns where a message is in the whole history, of which this is the position in the copy.
    pub fn in_history(&self, position: usize) -> usize {
        (position + self.inside + self.before).saturating_sub(self.markers())
    }

    /// Returns where a message of the whole history is in the copy; a position in the gap becomes one at or before `head`.
    pub fn in_copy(&self, position: usize) -> usize {
        (position + self.markers()).saturating_sub(self.inside + self.before)
    }
}
