//! In how many blocks of the present request each fact and each rule stands.

use std::ops::Range;

use crate::facts::references::FactId;

/// How many visible blocks hold a fact.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    in_text: i32,
    in_summaries: i32,
}

/// Where a block is that enters or leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// In the view made for the present request, not in the stored history.
    pub of_view: bool,
    pub is_summary: bool,
}

impl Place {
    /// In the history, and no summary.
    pub const TEXT: Place = Place { of_view: false, is_summary: false };
}

/// Whether a fact came into sight or left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    In,
    Out,
}

pub(super) struct Counts {
    history: Vec<Count>,
    /// What the view of the present request has more than the history, or less; and which facts that concerns.
    view: Vec<Count>,
    in_view: Vec<FactId>,
    /// Which of the numbers are rules.
    rules: Range<usize>,
    rules_held: usize,
}

impl Counts {
    pub fn new(followed: usize, rules: Range<usize>) -> Self {
        let none = vec![Count::default(); followed];
        Self { history: none.clone(), view: none, in_view: Vec::new(), rules, rules_held: 0 }
    }

    /// One block more, or less, holds a fact.
    pub fn add(&mut self, fact: FactId, by: i32, place: Place) -> Option<Moved> {
        let was_in_sight = self.hit(fact).is_some();
        let counts = if place.of_view { &mut self.view } else { &mut self.history };
        let count = &mut counts[fact as usize];
        *(if place.is_summary { &mut count.in_summaries } else { &mut count.in_text }) += by;
        if place.of_view {
            self.in_view.push(fact);
        }
        self.moved(fact, was_in_sight)
    }

    /// The view is made anew: it begins as the history is. Gives what that moved.
    pub fn forget_view(&mut self) -> Vec<(FactId, Moved)> {
        let mut moved = Vec::new();
        for fact in std::mem::take(&mut self.in_view) {
            let was_in_sight = self.hit(fact).is_some();
            self.view[fact as usize] = Count::default();
            moved.extend(self.moved(fact, was_in_sight).map(|one| (fact, one)));
        }
        moved
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

    fn moved(&mut self, fact: FactId, was_in_sight: bool) -> Option<Moved> {
        let is_rule = usize::from(self.rules.contains(&(fact as usize)));
        match (was_in_sight, self.hit(fact).is_some()) {
            (false, true) => {
                self.rules_held += is_rule;
                Some(Moved::In)
            }
            (true, false) => {
                self.rules_held -= is_rule;
                Some(Moved::Out)
            }
            _ => None,
        }
    }
}
