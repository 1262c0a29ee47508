//! The bounds for a policy: what someone who knows what will be used could have kept in as many tokens at each call.

use rustc_hash::FxHashMap;

use crate::engine::journal::Journal;
use crate::facts::references::{References, Seen};
use crate::transcript::conversation::{BlockId, Conversation};

use super::oracle::{self, Held, Item, Problem, Wanted};

/// In what pieces the clairvoyant may keep the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    Blocks,
    /// For policies that leave parts of blocks, or write summaries. A line's tokens are its share of the block's, by bytes.
    Lines,
}

/// What could have been kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// By the greedy clairvoyant: it can be done.
    pub clairvoyant: Held,
    /// Weight of the uses it hits.
    pub weight: f64,
    /// No one can keep more: by linear programming, where it was asked for, the cargo feature `exact` is on and the solver found
    /// it.
    pub upper: Option<f64>,
}

/// The bounds at what a policy sent at each call; `wishes` are those of the conversation.
pub fn bounds(wishes: &Problem, journal: &Journal, exact: bool) -> Bounds {
    let calls = journal.requests.last().map_or(0, |request| request.call + 1);
    let mut problem = Problem { budgets: vec![0; calls], ..wishes.clone() };
    for request in &journal.requests {
        problem.budgets[request.call] = request.tokens.saturating_sub(journal.overhead);
    }
    let clairvoyant = oracle::greedy(&problem);
    let weight = clairvoyant.weight(&problem);
    Bounds { weight, clairvoyant, upper: exact.then(|| oracle::upper(&problem)).flatten() }
}

/// What there is to keep of a conversation, and for which uses: the same under every policy. Its budgets are empty.
pub fn wishes(conversation: &Conversation, references: &References, grain: Grain, tokens: &dyn Fn(BlockId) -> u64) -> Problem {
    let mut is_used = vec![false; references.tracked()];
    references.uses.iter().for_each(|used| is_used[used.fact as usize] = true);
    let line = |seen: &Seen| if grain == Grain::Blocks { 0 } else { seen.line };
    let mut items = Vec::new();
    // Of blocks that are kept whole, the item is that of line 0.
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
    let wanted = references.uses.iter().map(|used| {
        let sources = references.sources(used.fact).iter().take_while(|id| references.after(**id) <= used.call);
        let item = |id: &BlockId| {
            let seen = references.in_block(*id);
            let place = seen.binary_search_by_key(&used.fact, |seen| seen.tracked).ok()?;
            of_line.get(&(*id, line(&seen[place]))).copied()
        };
        let mut items: Vec<u32> = sources.filter_map(item).collect();
        items.sort_unstable();
        items.dedup();
        Wanted { call: used.call, weight: references.facts[used.fact as usize].weight, items }
    });
    Problem { wanted: wanted.collect(), items: items.into(), budgets: Vec::new() }
}
