//! Counts how many blocks of the current request contain each fact and each rule.

use std::ops::Range;

use crate::facts::references::FactId;

/// Number of visible blocks that contain a fact.
#[derive(Debug, Clone, Copy, Default)]
struct BlockCount {
    in_text: i32,
    in_summaries: i32,
    /// Part of `in_text`: blocks of the conversation, as they were recorded.
    untouched: i32,
}

impl BlockCount {
    fn add(&mut self, by: i32, place: BlockPlace) {
        *(if place.is_summary { &mut self.in_summaries } else { &mut self.in_text }) += by;
        self.untouched += if place.is_untouched { by } else { 0 };
    }
}

/// Where a block is that enters or leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockPlace {
    /// In the view made for the current request, not in the stored history.
    pub of_view: bool,
    pub is_summary: bool,
    /// It is a block of the conversation, and no layer wrote it.
    pub is_untouched: bool,
}

impl BlockPlace {
    /// In the history, and not a summary.
    pub const TEXT: BlockPlace = BlockPlace { of_view: false, is_summary: false, is_untouched: true };
}

/// Whether a fact became visible or left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VisibilityChange {
    Appeared,
    Disappeared,
}

pub(super) struct FactCounts {
    history: Vec<BlockCount>,
    /// Difference between the view of the current request and the history; and the facts that differ.
    view: Vec<BlockCount>,
    facts_in_view: Vec<FactId>,
    /// Range of fact ids that are rules.
    rules: Range<usize>,
    rules_held: usize,
}

impl FactCounts {
    pub fn new(fact_count: usize, rules: Range<usize>) -> Self {
        let none = vec![BlockCount::default(); fact_count];
        Self { history: none.clone(), view: none, facts_in_view: Vec::new(), rules, rules_held: 0 }
    }

    /// Adds `by` (1 or −1) blocks that contain a fact. Returns the change of its visibility, if any.
    pub fn add(&mut self, fact: FactId, by: i32, place: BlockPlace) -> Option<VisibilityChange> {
        let was_visible = self.hit(fact).is_some();
        let counts = if place.of_view { &mut self.view } else { &mut self.history };
        counts[fact as usize].add(by, place);
        if place.of_view {
            self.facts_in_view.push(fact);
        }
        self.visibility_change(fact, was_visible)
    }

    /// Subtracts a block from the history that the view lacked already: what the request contains does not change.
    pub fn leave_history(&mut self, fact: FactId, place: BlockPlace) {
        self.history[fact as usize].add(-1, place);
        self.view[fact as usize].add(1, place);
        self.facts_in_view.push(fact);
    }

    /// Resets the view to the history. Returns the facts whose visibility changes.
    pub fn reset_view(&mut self) -> Vec<(FactId, VisibilityChange)> {
        let mut changes = Vec::new();
        for fact in std::mem::take(&mut self.facts_in_view) {
            let was_visible = self.hit(fact).is_some();
            self.view[fact as usize] = BlockCount::default();
            changes.extend(self.visibility_change(fact, was_visible).map(|change| (fact, change)));
        }
        changes
    }

    /// Returns `None` if the request does not contain the fact, else whether only a summary contains it.
    pub fn hit(&self, fact: FactId) -> Option<bool> {
        let (history, view) = (self.history[fact as usize], self.view[fact as usize]);
        match (history.in_text + view.in_text > 0, history.in_summaries + view.in_summaries > 0) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => None,
        }
    }

    /// Returns whether a block of the request that contains the fact is as it was recorded.
    pub fn is_untouched(&self, fact: FactId) -> bool {
        self.history[fact as usize].untouched + self.view[fact as usize].untouched > 0
    }

    /// Returns whether the history contains a fact outside of summaries.
    pub fn is_in_text(&self, fact: FactId) -> bool {
        self.history[fact as usize].in_text > 0
    }

    pub fn rules_held(&self) -> usize {
        self.rules_held
    }

    fn visibility_change(&mut self, fact: FactId, was_visible: bool) -> Option<VisibilityChange> {
        let is_rule = usize::from(self.rules.contains(&(fact as usize)));
        match (was_visible, self.hit(fact).is_some()) {
            (false, true) => {
                self.rules_held += is_rule;
                Some(VisibilityChange::Appeared)
            }
            (true, false) => {
                self.rules_held -= is_rule;
                Some(VisibilityChange::Disappeared)
            }
            _ => None,
        }
    }
}
