//! The bounds of what could have been kept by someone who knows what will be used.
//!
//! Items of different sizes are kept while they fit, and what was let go does not come back: to find the best choice is
//! NP-hard. [`greedy`](fn@greedy) makes a choice that fits, [`upper`](fn@upper) says what no choice can exceed.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::util::csr::Rows;

mod greedy;
#[cfg(feature = "exact")]
mod upper;

pub use greedy::greedy;
#[cfg(feature = "exact")]
pub use upper::upper;

/// Without the cargo feature `exact` there is no solver, and no bound is found.
#[cfg(not(feature = "exact"))]
pub fn upper(_: &Problem) -> Option<f64> {
    None
}

/// Parts of a token by which the sum of what is held may exceed a budget: a block's lines add up to their block but for
/// rounding.
const ROUNDING: f64 = 1e-3;

/// What may be held, what is wanted, and how much may be held at each call.
///
/// A conversation has the same items and uses under every policy: they are shared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Problem {
    pub items: Arc<[Item]>,
    /// In the order of their calls.
    pub wanted: Arc<[Wanted]>,
    /// Tokens that may be held at each call.
    pub budgets: Vec<u64>,
}

/// A block, or a line of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item {
    /// Tokens; parts of a token where a line's share of its block is estimated.
    pub size: f64,
    /// The first call whose request can hold it.
    pub from: u32,
}

/// A use of a fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    pub call: u32,
    pub weight: f64,
    /// The items it can be found in, ascending: all have `from <= call`.
    pub items: Vec<u32>,
}

/// What was held.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Held {
    /// For each wanted use, whether one of its items was held at its call.
    pub hits: Vec<bool>,
    /// Tokens held at each call.
    pub tokens: Vec<f64>,
}

impl Problem {
    /// For each item the uses it can serve, in their order. One that comes after a budget smaller than the item is not among
    /// them: the item is gone by then.
    fn uses_of_items(&self) -> Rows<u32> {
        let until = self.until();
        let mut uses = Vec::with_capacity(self.wanted.iter().map(|wanted| wanted.items.len()).sum());
        for (index, wanted) in (0..).zip(&*self.wanted) {
            let serves = |item: &&u32| {
                let item = **item as usize;
                self.items[item].from <= wanted.call && wanted.call < until[item]
            };
            uses.extend(wanted.items.iter().filter(serves).map(|item| (*item, index)));
        }
        Rows::new(self.items.len(), &uses)
    }

    /// For each item the first call from its own at which the budget is smaller than the item alone.
    fn until(&self) -> Vec<u32> {
        let mut until = vec![self.budgets.len() as u32; self.items.len()];
        let mut latest: Vec<u32> = (0..self.items.len() as u32).collect();
        latest.sort_unstable_by_key(|&item| Reverse(self.items[item as usize].from));
        let mut latest = latest.into_iter().map(|item| item as usize).peekable();
        // The calls ahead with a budget smaller than all between, the nearest last: their budgets rise towards the end.
        let mut ahead: Vec<usize> = Vec::new();
        for call in (0..self.budgets.len()).rev() {
            ahead.truncate(ahead.partition_point(|&later| self.budgets[later] < self.budgets[call]));
            ahead.push(call);
            while let Some(item) = latest.next_if(|&item| self.items[item].from as usize >= call) {
                let smaller = ahead.partition_point(|&later| self.budgets[later] as f64 + ROUNDING < self.items[item].size);
                until[item] = smaller.checked_sub(1).map_or(until[item], |last| ahead[last] as u32);
            }
        }
        until
    }
}

impl Held {
    /// The weight of the uses that were served.
    pub fn weight(&self, problem: &Problem) -> f64 {
        self.hits
            .iter()
            .zip(&*problem.wanted)
            .filter(|(hit, _)| **hit)
            .map(|(_, wanted)| wanted.weight)
            .fold(0.0, |sum, weight| sum + weight)
    }
}

#[cfg(test)]
mod tests;
