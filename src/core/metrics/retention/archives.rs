//! Transcript archives that a policy writes: each contains everything visible at that time. A fact that leaves is in the
//! newest archive written since it appeared; so the time grows with the facts that appear and leave, not with archives ×
//! facts.

use std::ops::Range;

use crate::engine::context::Cause;
use crate::engine::journal::{EventKind, Journal};
use crate::facts::references::FactId;

#[derive(Clone)]
pub(super) struct Archives {
    archives: Vec<Archive>,
    /// Number of archives written by now.
    count: usize,
    /// Number of archives written when each fact became visible.
    count_at_entry: Vec<usize>,
    /// Path of the newest archive that contains each fact that left.
    newest_of_fact: Vec<Option<FactId>>,
}

/// An archive that was written just before a layer acted.
#[derive(Clone)]
struct Archive {
    call: usize,
    layer: Option<usize>,
    /// Its path, as a fact.
    path: Option<FactId>,
}

impl Archives {
    /// `paths` are the paths of the journal's archives, in order.
    pub fn new(journal: &Journal, paths: Vec<Option<FactId>>, facts: usize) -> Self {
        let events = journal.events.iter().enumerate().filter(|(_, event)| event.kind == EventKind::Wrote);
        let archives = events.zip(paths).map(|((at, event), path)| Archive {
            call: event.call,
            layer: journal.events.get(at + 1).map(|next| next.layer),
            path,
        });
        Self { archives: archives.collect(), count: 0, count_at_entry: vec![0; facts], newest_of_fact: vec![None; facts] }
    }

    /// Advances past all archives written before the requests of earlier calls.
    pub fn advance_to_call(&mut self, call: usize) {
        while self.archives.get(self.count).is_some_and(|next| next.call < call) {
            self.count += 1;
        }
    }

    /// Advances past all archives written just before this change.
    pub fn advance_to_change(&mut self, call: usize, cause: Cause) {
        let belongs_to_change = |next: &Archive| next.layer.is_some_and(|layer| cause == Cause::Layer(layer));
        while self.archives.get(self.count).is_some_and(|next| next.call < call || next.call == call && belongs_to_change(next)) {
            self.count += 1;
        }
    }

    /// Returns the number of archives written by now.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the paths of the archives in an index range.
    pub fn paths(&self, range: Range<usize>) -> impl Iterator<Item = FactId> {
        self.archives.get(range).unwrap_or_default().iter().filter_map(|archive| archive.path)
    }

    pub fn appears(&mut self, fact: FactId) {
        self.count_at_entry[fact as usize] = self.count;
    }

    pub fn disappears(&mut self, fact: FactId) {
        if self.count > self.count_at_entry[fact as usize] {
            self.newest_of_fact[fact as usize] = self.archives[self.count - 1].path;
        }
    }

    /// Returns the path of the newest archive that contains a fact that left.
    pub fn newest_of(&self, fact: FactId) -> Option<FactId> {
        self.newest_of_fact[fact as usize]
    }
}
