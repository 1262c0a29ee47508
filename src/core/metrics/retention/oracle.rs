//! Bounds of what an oracle that knows all future uses could keep.
//!
//! Items of different sizes are kept while they fit, and a removed item does not come back: finding the best selection is
//! NP-hard. [`greedy`](fn@greedy) makes a selection that fits, [`upper`](fn@upper) computes a weight that no selection can
//! exceed.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::util::csr::Rows;

mod greedy;
#[cfg(feature = "exact")]
mod upper;

pub use greedy::greedy;
#[cfg(feature = "exact")]
pub use upper::upper;

/// Without the cargo feature `exact` there is no solver, so no bound.
#[cfg(not(feature = "exact"))]
pub fn upper(_: &Instance) -> Option<f64> {
    None
}

/// Tokens by which the sum of the held items may exceed a budget: the lines of a block add up to their block except for
/// rounding.
const ROUNDING: f64 = 1e-3;

/// Items that can be kept, uses that demand them, and the token budget of each call.
///
/// A conversation has the same items and demands under every policy, so they are shared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Instance {
    pub items: Arc<[Item]>,
    /// In the order of their calls.
    pub demands: Arc<[Demand]>,
    /// Maximum tokens held at each call.
    pub budgets: Vec<u64>,
}

/// A block, or a line of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item {
    /// Tokens; fractional if the line's share of its block is estimated.
    pub size: f64,
    /// First call whose request can contain it.
    pub from: u32,
}

/// A use of a fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    pub call: u32,
    pub weight: f64,
    /// Indices of the items that contain the fact, ascending; all have `from <= call`.
    pub items: Vec<u32>,
}

/// What an oracle holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// For each demand, whether one of its items is held at its call.
    pub hits: Vec<bool>,
    /// Tokens held at each call.
    pub tokens: Vec<f64>,
}

impl Instance {
    /// Returns for each item the demands it can serve, in their order. A demand after a budget smaller than the item is not
    /// included: the item is gone by then.
    fn uses_of_items(&self) -> Rows<u32> {
        let evicted_at = self.evicted_at();
        let mut uses = Vec::with_capacity(self.demands.iter().map(|demand| demand.items.len()).sum());
        for (index, demand) in (0..).zip(&*self.demands) {
            let serves = |item: &&u32| {
                let item = **item as usize;
                self.items[item].from <= demand.call && demand.call < evicted_at[item]
            };
            uses.extend(demand.items.iter().filter(serves).map(|item| (*item, index)));
        }
        Rows::new(self.items.len(), &uses)
    }

    /// Returns for each item the first call from its entry on whose budget is smaller than the item alone.
    fn evicted_at(&self) -> Vec<u32> {
        let mut evicted_at = vec![self.budgets.len() as u32; self.items.len()];
        let mut by_entry: Vec<u32> = (0..self.items.len() as u32).collect();
        by_entry.sort_unstable_by_key(|&item| Reverse(self.items[item as usize].from));
        let mut by_entry = by_entry.into_iter().map(|item| item as usize).peekable();
        // Later calls whose budget is smaller than all budgets between, nearest last: their budgets rise towards the end.
        let mut smaller_later: Vec<usize> = Vec::new();
        for call in (0..self.budgets.len()).rev() {
            smaller_later.truncate(smaller_later.partition_point(|&later| self.budgets[later] < self.budgets[call]));
            smaller_later.push(call);
            while let Some(item) = by_entry.next_if(|&item| self.items[item].from as usize >= call) {
                let smaller =
                    smaller_later.partition_point(|&later| self.budgets[later] as f64 + ROUNDING < self.items[item].size);
                evicted_at[item] = smaller.checked_sub(1).map_or(evicted_at[item], |last| smaller_later[last] as u32);
            }
        }
        evicted_at
    }
}

impl Selection {
    /// Returns the weight of the demands that were served.
    pub fn weight(&self, instance: &Instance) -> f64 {
        self.hits
            .iter()
            .zip(&*instance.demands)
            .filter(|(hit, _)| **hit)
            .map(|(_, demand)| demand.weight)
            .fold(0.0, |sum, weight| sum + weight)
    }
}

#[cfg(test)]
mod tests;
