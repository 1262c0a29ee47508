//! The lower bound: whenever the budget is exceeded, let go of what is worth least a token.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{Instance, ROUNDING, Selection};
use crate::util::csr::Rows;

/// A choice that fits: at each call what is new enters, and while it is too much, the item goes that has the least weight of
/// uses to come a token, the larger and then the older first where that is equal. A use counts for an item where that item
/// alone can serve it: no other item of the use is held, and none is still to enter.
///
/// O(n log n) in the items and the items of the uses.
pub fn greedy(problem: &Instance) -> Selection {
    let mut walk = Walk::new(problem);
    let mut held = Selection { hits: vec![false; problem.wanted.len()], tokens: Vec::with_capacity(problem.budgets.len()) };
    let mut entering: Vec<u32> = (0..).zip(&*problem.items).map(|(index, _)| index).collect();
    entering.sort_by_key(|&item| problem.items[item as usize].from);
    let (mut entered, mut passed) = (0, 0);
    for (call, &budget) in (0..).zip(&problem.budgets) {
        while let Some(&item) = entering.get(entered).filter(|item| problem.items[**item as usize].from <= call) {
            // One that exceeds the budget alone is not a reason to let the others go.
            if problem.items[item as usize].size <= budget as f64 + ROUNDING {
                walk.enter(item);
            }
            entered += 1;
        }
        walk.shrink(budget as f64 + ROUNDING);
        while problem.wanted.get(passed).is_some_and(|wanted| wanted.call <= call) {
            held.hits[passed] = walk.uses[passed].held > 0;
            walk.pass(passed);
            passed += 1;
        }
        held.tokens.push(walk.tokens);
    }
    held
}

/// What can still serve a use.
#[derive(Clone, Default)]
struct Sources {
    held: u32,
    /// Items that are still to enter.
    to_come: u32,
    /// The held items' numbers, combined by exclusive or: the number itself where one is held.
    mixed: u32,
    passed: bool,
}

impl Sources {
    fn sole(&self) -> Option<u32> {
        (self.held == 1 && self.to_come == 0 && !self.passed).then_some(self.mixed)
    }
}

/// What an item is worth.
#[derive(Clone, Default)]
struct Worth {
    held: bool,
    /// Uses to come which it alone can serve, and their weight.
    uses: u32,
    weight: f64,
    /// Ranks of an older version are out of date.
    version: u32,
    /// Whether it must be ranked again before the next item goes.
    changed: bool,
}

/// A place in the order of going: the greatest goes first.
struct Rank {
    /// Weight a token.
    density: f64,
    size: f64,
    from: u32,
    item: u32,
    version: u32,
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        let dearer = other.density.total_cmp(&self.density).then(self.size.total_cmp(&other.size));
        dearer.then_with(|| (other.from, other.item, self.version).cmp(&(self.from, self.item, other.version)))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rank {}

struct Walk<'a> {
    problem: &'a Instance,
    /// For each item the uses it can serve.
    uses_of: Rows<u32>,
    uses: Vec<Sources>,
    worth: Vec<Worth>,
    /// Items to be ranked again.
    changed: Vec<u32>,
    ranks: BinaryHeap<Rank>,
    tokens: f64,
}

impl<'a> Walk<'a> {
    fn new(problem: &'a Instance) -> Self {
        let uses_of = problem.uses_of_items();
        let mut uses = vec![Sources::default(); problem.wanted.len()];
        uses_of.items().iter().for_each(|&index| uses[index as usize].to_come += 1);
        Self {
            problem,
            uses_of,
            uses,
            worth: vec![Worth::default(); problem.items.len()],
            changed: Vec::new(),
            ranks: BinaryHeap::new(),
            tokens: 0.0,
        }
    }

    fn enter(&mut self, item: u32) {
        self.worth[item as usize].held = true;
        self.tokens += self.problem.items[item as usize].size;
        self.change(item);
        self.for_uses(item, |sources| {
            sources.to_come -= 1;
            sources.held += 1;
            sources.mixed ^= item;
        });
    }

    fn leave(&mut self, item: u32) {
        self.worth[item as usize].held = false;
        self.tokens -= self.problem.items[item as usize].size;
        self.for_uses(item, |sources| {
            sources.held -= 1;
            sources.mixed ^= item;
        });
    }

    /// The use is over: it is no reason to keep anything.
    fn pass(&mut self, index: usize) {
        let before = self.uses[index].sole();
        self.uses[index].passed = true;
        self.revalue(index, before, None);
    }

    fn for_uses(&mut self, item: u32, act: impl Fn(&mut Sources)) {
        for at in self.uses_of.places(item as usize) {
            let index = self.uses_of.items()[at] as usize;
            let before = self.uses[index].sole();
            act(&mut self.uses[index]);
            self.revalue(index, before, self.uses[index].sole());
        }
    }

    /// The weight of a use goes over from the item that alone could serve it to the one that alone can now.
    fn revalue(&mut self, index: usize, before: Option<u32>, now: Option<u32>) {
        if before == now {
            return;
        }
        let weight = self.problem.wanted[index].weight;
        if let Some(item) = before {
            let worth = &mut self.worth[item as usize];
            worth.uses -= 1;
            // What remains of sums and differences is not a reason to keep an item.
            worth.weight = if worth.uses == 0 { 0.0 } else { worth.weight - weight };
            self.change(item);
        }
        if let Some(item) = now {
            let worth = &mut self.worth[item as usize];
            worth.uses += 1;
            worth.weight += weight;
            self.change(item);
        }
    }

    fn change(&mut self, item: u32) {
        let worth = &mut self.worth[item as usize];
        worth.version += 1;
        if !worth.changed {
            worth.changed = true;
            self.changed.push(item);
        }
    }

    fn shrink(&mut self, budget: f64) {
        while self.tokens > budget {
            self.rank();
            let Some(rank) = self.ranks.pop() else { return };
            let worth = &self.worth[rank.item as usize];
            if worth.held && worth.version == rank.version {
                self.leave(rank.item);
            }
        }
    }

    fn rank(&mut self) {
        for item in self.changed.drain(..) {
            let worth = &mut self.worth[item as usize];
            worth.changed = false;
            let super::Item { size, from } = self.problem.items[item as usize];
            // A larger one of two without weight goes first; one without size has no reason to go.
            let density = worth.weight / size.max(f64::MIN_POSITIVE);
            self.ranks.push(Rank { density, size, from, item, version: worth.version });
        }
    }
}
