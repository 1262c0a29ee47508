//! In how many blocks of the present request each fact and each rule stands.

use std::ops::Range;

use crate::facts::references::FactId;

/// How many visible blocks hold a fact.
#[derive(Debug, Clone, Copy, Default)]
struct BlockCount {
    in_text: i32,
    in_summaries: i32,
}

/// Where a block is that enters or leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockPlace {
    /// In the view made for the present request, not in the stored history.
    pub of_view: bool,
    pub is_summary: bool,
}

impl BlockPlace {
    /// In the history, and no summary.
    pub const TEXT: BlockPlace = BlockPlace { of_view: false, is_summary: false };
}

/// Whether a fact came into sight or left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VisibilityChange {
    Appeared,
    Disappeared,
}

pub(super) struct FactCounts {
    history: Vec<BlockCount>,
    /// What the view of the present request has more than the history, or less; and which facts that concerns.
    view: Vec<BlockCount>,
    facts_in_view: Vec<FactId>,
    /// Which of the numbers are rules.
    rules: Range<usize>,
    rules_held: usize,
}

impl FactCounts {
    pub fn new(fact_count: usize, rules: Range<usize>) -> Self {
        let none = vec![BlockCount::default(); fact_count];
        Self { history: none.clone(), view: none, facts_in_view: Vec::new(), rules, rules_held: 0 }
    }

    /// One block more, or less, holds a fact.
    pub fn add(&mut self, fact: FactId, by: i32, place: BlockPlace) -> Option<VisibilityChange> {
        let was_visible = self.hit(fact).is_some();
        let counts = if place.of_view { &mut self.view } else { &mut self.history };
        let count = &mut counts[fact as usize];
        *(if place.is_summary { &mut count.in_summaries } else { &mut count.in_text }) += by;
        if place.of_view {
            self.facts_in_view.push(fact);
        }
        self.visibility_change(fact, was_visible)
    }

    /// The view is made anew: it begins as the history is. Gives what that moved.
    pub fn reset_view(&mut self) -> Vec<(FactId, VisibilityChange)> {
        let mut changes = Vec::new();
        for fact in std::mem::take(&mut self.facts_in_view) {
            let was_visible = self.hit(fact).is_some();
            self.view[fact as usize] = BlockCount::default();
            changes.extend(self.visibility_change(fact, was_visible).map(|change| (fact, change)));
        }
        changes
    }

    /// Whether the request holds a fact; then, whether only in a summary.
    pub fn hit(&self, fact: FactId) -> Option<bool> {
        let (history, view) = (self.history[fact as usize], self.view[fact as usize]);
        match (history.in_text + view.in_text > 0, history.in_summaries + view.in_summaries > 0) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => None,
        }
    }

    /// Whether the history holds a fact outside of summaries.
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
