//! Bounds for a policy: what an oracle that knows the future could keep with as many tokens at each call.

use rustc_hash::FxHashMap;

use crate::engine::journal::Journal;
use crate::facts::references::{Occurrence, References};
use crate::transcript::conversation::{BlockId, Conversation};

use super::oracle::{self, Demand, Instance, Item, Selection};

/// Smallest piece of the history that the oracle may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    Blocks,
    /// For policies that keep parts of blocks or write summaries. A line gets its share of the block's tokens, by bytes.
    Lines,
}

/// What an oracle could keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Selection of the greedy oracle (rows `clairvoyant`); it is feasible.
    pub clairvoyant: Selection,
    /// Weight of the uses that it hits.
    pub weight: f64,
    /// Upper bound by linear programming that no selection can exceed; `None` if not asked for, without the cargo
    /// feature `exact`, or if the solver failed.
    pub upper: Option<f64>,
}

/// Computes the bounds for the tokens that a policy sent at each call; `candidates` is the [`oracle_instance`] of the
/// conversation.
pub fn bounds(oracle_instance: &Instance, journal: &Journal, exact: bool) -> Bounds {
    let calls = journal.requests.last().map_or(0, |request| request.call + 1);
    let mut instance = Instance { budgets: vec![0; calls], ..oracle_instance.clone() };
    for request in &journal.requests {
        instance.budgets[request.call] = request.tokens.saturating_sub(journal.overhead);
    }
    let clairvoyant = oracle::greedy(&instance);
    let weight = clairvoyant.weight(&instance);
    Bounds { weight, clairvoyant, upper: exact.then(|| oracle::upper(&instance)).flatten() }
}

/// Builds the items to keep and the uses they serve: the same under every policy. Its budgets are empty.
pub fn oracle_instance(
    conversation: &Conversation,
    references: &References,
    grain: Grain,
    tokens: &dyn Fn(BlockId) -> u64,
) -> Instance {
    let mut is_used = vec![false; references.tracked()];
    references.uses.iter().for_each(|used| is_used[used.fact as usize] = true);
    let line = |seen: &Occurrence| if grain == Grain::Blocks { 0 } else { seen.line };
    let mut items = Vec::new();
    // For whole blocks, the item has line 0.
    let mut of_line = FxHashMap::<(BlockId, u32), u32>::default();
    for id in conversation.messages.iter().flat_map(|message| &message.blocks) {
        for seen in references.in_block(*id).iter().filter(|seen| is_used[seen.tracked as usize]) {
            let share = match grain {
                Grain::Blocks => 1.0,
                Grain::Lines => (f64::from(seen.line_bytes) / f64::from(references.bytes(*id).max(1))).min(1.0),
            };
            of_line.entry((*id, line(seen))).or_insert_with(|| {
                items.push(Item { size: tokens(*id) as f64 * share, from: references.after(*id) });
                items.len() as u32 - 1
            });
        }
    }
    let demands = references.uses.iter().map(|used| {
        let sources = references.sources(used.fact).iter().take_while(|id| references.after(**id) <= used.call);
        let item = |id: &BlockId| {
            let seen = references.in_block(*id);
            let index = seen.binary_search_by_key(&used.fact, |seen| seen.tracked).ok()?;
            of_line.get(&(*id, line(&seen[index]))).copied()
        };
        let mut items: Vec<u32> = sources.filter_map(item).collect();
        items.sort_unstable();
        items.dedup();
        Demand { call: used.call, weight: references.facts[used.fact as usize].weight, items }
    });
    Instance { demands: demands.collect(), items: items.into(), budgets: Vec::new() }
}
