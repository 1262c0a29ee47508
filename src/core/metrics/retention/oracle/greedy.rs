//! Greedy oracle, the lower bound: while the budget is exceeded, it removes the item with the least value per token.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{Instance, ROUNDING, Selection};
use crate::util::csr::Rows;

/// Makes a selection that fits. At each call the new items enter; while they exceed the budget, the item with the least
/// weight of future uses per token is removed; of equals the larger, then the older one. A use counts for an item only if no
/// other item can serve it: no other item of the use is held, and none is still to enter.
///
/// O(n log n) in the items and the items of the uses.
pub fn greedy(instance: &Instance) -> Selection {
    let mut walk = GreedyWalk::new(instance);
    let mut selection =
        Selection { hits: vec![false; instance.demands.len()], tokens: Vec::with_capacity(instance.budgets.len()) };
    let mut entering: Vec<u32> = (0..).zip(&*instance.items).map(|(index, _)| index).collect();
    entering.sort_by_key(|&item| instance.items[item as usize].from);
    let (mut entered, mut ended) = (0, 0);
    for (call, &budget) in (0..).zip(&instance.budgets) {
        while let Some(&item) = entering.get(entered).filter(|item| instance.items[**item as usize].from <= call) {
            // An item that exceeds the budget alone must not push the others out.
            if instance.items[item as usize].size <= budget as f64 + ROUNDING {
                walk.enter(item);
            }
            entered += 1;
        }
        walk.shrink(budget as f64 + ROUNDING);
        while instance.demands.get(ended).is_some_and(|demand| demand.call <= call) {
            selection.hits[ended] = walk.uses[ended].held > 0;
            walk.end_use(ended);
            ended += 1;
        }
        selection.tokens.push(walk.tokens);
    }
    selection
}

/// Items that can still serve a use.
#[derive(Clone, Default)]
struct Sources {
    held: u32,
    /// Number of items that are still to enter.
    to_come: u32,
    /// XOR of the held items' indices: the index itself if exactly one is held.
    held_xor: u32,
    is_over: bool,
}

impl Sources {
    fn only_source(&self) -> Option<u32> {
        (self.held == 1 && self.to_come == 0 && !self.is_over).then_some(self.held_xor)
    }
}

/// Value of an item.
#[derive(Clone, Default)]
struct ItemWorth {
    held: bool,
    /// Future uses that only this item can serve, and their weight.
    uses: u32,
    weight: f64,
    /// Ranks with an older version are outdated.
    version: u32,
    /// Whether the item must be ranked again before the next removal.
    changed: bool,
}

/// Position in the order of removal: the greatest is removed first.
struct RemovalRank {
    /// Weight per token.
    density: f64,
    size: f64,
    from: u32,
    item: u32,
    version: u32,
}

impl Ord for RemovalRank {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_worth = other.density.total_cmp(&self.density).then(self.size.total_cmp(&other.size));
        by_worth.then_with(|| (other.from, other.item, self.version).cmp(&(self.from, self.item, other.version)))
    }
}

impl PartialOrd for RemovalRank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RemovalRank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RemovalRank {}

struct GreedyWalk<'a> {
    instance: &'a Instance,
    /// For each item, the uses it can serve.
    uses_of: Rows<u32>,
    uses: Vec<Sources>,
    item_worth: Vec<ItemWorth>,
    /// Items to be ranked again.
    changed: Vec<u32>,
    ranks: BinaryHeap<RemovalRank>,
    tokens: f64,
}

impl<'a> GreedyWalk<'a> {
    fn new(instance: &'a Instance) -> Self {
        let uses_of = instance.uses_of_items();
        let mut uses = vec![Sources::default(); instance.demands.len()];
        uses_of.items().iter().for_each(|&index| uses[index as usize].to_come += 1);
        Self {
            instance,
            uses_of,
            uses,
            item_worth: vec![ItemWorth::default(); instance.items.len()],
            changed: Vec::new(),
            ranks: BinaryHeap::new(),
            tokens: 0.0,
        }
    }

    fn enter(&mut self, item: u32) {
        self.item_worth[item as usize].held = true;
        self.tokens += self.instance.items[item as usize].size;
        self.mark_changed(item);
        self.update_sources(item, |sources| {
            sources.to_come -= 1;
            sources.held += 1;
            sources.held_xor ^= item;
        });
    }

    fn leave(&mut self, item: u32) {
        self.item_worth[item as usize].held = false;
        self.tokens -= self.instance.items[item as usize].size;
        self.update_sources(item, |sources| {
            sources.held -= 1;
            sources.held_xor ^= item;
        });
    }

    /// Ends a use: it is no longer a reason to keep an item.
    fn end_use(&mut self, index: usize) {
        let before = self.uses[index].only_source();
        self.uses[index].is_over = true;
        self.revalue(index, before, None);
    }

    fn update_sources(&mut self, item: u32, update: impl Fn(&mut Sources)) {
        for at in self.uses_of.places(item as usize) {
            let index = self.uses_of.items()[at] as usize;
            let before = self.uses[index].only_source();
            update(&mut self.uses[index]);
            self.revalue(index, before, self.uses[index].only_source());
        }
    }

    /// Moves the weight of a use from the item that was its only source to its new only source.
    fn revalue(&mut self, index: usize, before: Option<u32>, now: Option<u32>) {
        if before == now {
            return;
        }
        let weight = self.instance.demands[index].weight;
        if let Some(item) = before {
            let worth = &mut self.item_worth[item as usize];
            worth.uses -= 1;
            // Without uses the weight is exactly 0, so rounding errors do not keep an item.
            worth.weight = if worth.uses == 0 { 0.0 } else { worth.weight - weight };
            self.mark_changed(item);
        }
        if let Some(item) = now {
            let worth = &mut self.item_worth[item as usize];
            worth.uses += 1;
            worth.weight += weight;
            self.mark_changed(item);
        }
    }

    fn mark_changed(&mut self, item: u32) {
        let worth = &mut self.item_worth[item as usize];
        worth.version += 1;
        if !worth.changed {
            worth.changed = true;
            self.changed.push(item);
        }
    }

    fn shrink(&mut self, budget: f64) {
        while self.tokens > budget {
            self.rerank();
            let Some(rank) = self.ranks.pop() else { return };
            let worth = &self.item_worth[rank.item as usize];
            if worth.held && worth.version == rank.version {
                self.leave(rank.item);
            }
        }
    }

    fn rerank(&mut self) {
        for item in self.changed.drain(..) {
            let worth = &mut self.item_worth[item as usize];
            worth.changed = false;
            let super::Item { size, from } = self.instance.items[item as usize];
            // Of two items without weight the larger is removed first; an item without size is removed last.
            let density = worth.weight / size.max(f64::MIN_POSITIVE);
            self.ranks.push(RemovalRank { density, size, from, item, version: worth.version });
        }
    }
}
