//! Information kept: every use of an earlier fact, looked up in what a policy sent.
//!
//! A use is a *hit* where the request still holds the fact, word for word; a *soft miss* where it does not, but shows a handle
//! by which the fact can be had again (a path, a URL, the name of the file a result was moved to), and the file was not
//! written since; a *hard miss* otherwise. The recorded agent saw everything it used, so this is no rate of success: it says
//! how much of what an agent needed a policy would have had in visible.
//!
//! A look-up follows the journal: it counts in how many visible blocks each fact stands, and a change touches the facts of
//! the blocks it changed. So it costs the facts of changed blocks and the uses, not calls times context.

mod archives;
mod bounds;
mod counts;
pub mod oracle;
mod recover;
mod recovery_paths;
mod tally;
mod visible_facts;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::journal::Journal;
use crate::facts::extract::FactKind;
use crate::facts::references::{FactId, Loss, Provenance, References};
use crate::transcript::conversation::{BlockId, Conversation};

pub use bounds::{Bounds, Grain, bounds, oracle_instance};
pub use recover::Handle;
use recover::Recovery;
pub use recovery_paths::RecoveryPaths;
pub use tally::{GAPS, GENERATIONS, Share};
use visible_facts::VisibleFacts;

/// What a policy kept of what one conversation went on to use.
/// Saved without its lists: those are of one conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Retention {
    /// What became of each of the references' uses; hard for those whose call sent nothing.
    #[serde(skip)]
    pub outcomes: Vec<UseOutcome>,
    pub all: Share,
    /// By calls since the fact was last seen: see [`GAPS`].
    pub by_gap: [Share; GAPS.len()],
    /// In the order of [`FactKind::ALL`].
    pub by_kind: [Share; FactKind::ALL.len()],
    /// In the order of [`Provenance::ALL`].
    pub by_provenance: [Share; Provenance::ALL.len()],
    /// By how many summaries had come between, from none: see [`GENERATIONS`].
    pub by_generation: [Share; GENERATIONS.len()],
    /// Calls times the users' rules given before them; and those where the rule stood in the request word for word.
    pub rules: u64,
    pub rules_held: u64,
    /// What had gone into summaries and was needed again, and the rules that had.
    #[serde(default)]
    pub summarised: Summarised,
    /// What is predicted to be fetched again, for soft misses.
    #[serde(skip)]
    pub rereads: Vec<Reread>,
    /// Hard misses, each fact once, heaviest first.
    #[serde(skip)]
    pub missed: Vec<Miss>,
}

/// What of that which only summaries could hold they held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Summarised {
    /// Weight of the uses of facts that had gone into a summary and stood nowhere else since; and of those the request held. Of
    /// recorded summaries: weight of the facts known before and used after, at their first use; and of those the summary held.
    pub needed: f64,
    pub held: f64,
    /// Users' rules that stood in what a summary replaced and nowhere else in the request, each once a summary; and those that
    /// stood in its message word for word.
    pub rules: u64,
    pub rules_held: u64,
}

impl Summarised {
    fn set_from_uses(&mut self, by_generation: &[Share; GENERATIONS.len()]) {
        self.needed = by_generation[1..].iter().map(|share| share.weight).sum();
        self.held = by_generation[1..].iter().map(|share| share.hit).sum();
    }

    /// The recorded agent used what it could see, so of its uses its own summaries seem to hold all. What they held is told by what
    /// it had known and used again: each such fact at its first use after the compaction, wherever the agent had it from by then.
    fn add_recorded_losses(&mut self, references: &References, journal: &Journal) {
        let read = |loss: &&Loss| journal.recorded.iter().any(|summary| summary.restored.compaction == loss.compaction);
        for loss in references.losses.iter().filter(read) {
            self.needed += loss.needed_weight;
            self.held += loss.held_weight;
        }
    }
}

/// Something that an agent without it would have fetched again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reread {
    /// The call that needed it.
    pub call: u32,
    /// Tokens of the result, and of the call that asks for it.
    pub tokens: u64,
}

/// A fact that was used and could not be had any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    pub fact: FactId,
    /// The first call that missed it.
    pub call: u32,
    /// Calls that missed it, and the weight of all of them.
    pub uses: u32,
    pub weight: f64,
    /// Where the recorded agent had it from.
    pub origin: BlockId,
    /// The layer that took it out of visible, by its index in the policy, and the call before which it did so.
    pub lost: Option<(usize, u32)>,
    /// At that call a handle was in visible, but the file had been written since.
    pub stale: bool,
}

/// What became of a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseOutcome {
    Hit {
        /// Only a summary holds it.
        in_summary: bool,
    },
    Soft,
    Hard {
        /// A handle is in visible, but the file was written since.
        stale: bool,
    },
}

impl Retention {
    /// Tokens that fetching again what was softly missed is predicted to add.
    pub fn reread_tokens(&self) -> u64 {
        self.rereads.iter().map(|reread| reread.tokens).sum()
    }
}

/// Looks every use up in what was sent. `tokens` is the size of a block by the report's counter.
pub fn evaluate(
    conversation: &Conversation,
    references: &References,
    journal: &Journal,
    tokens: &dyn Fn(BlockId) -> u64,
) -> Retention {
    let mut retention = Retention::default();
    let mut visible = VisibleFacts::new(conversation, references, journal);
    let mut recovery = Recovery::new(conversation, references, journal, tokens);
    retention.outcomes = vec![UseOutcome::Hard { stale: false }; references.uses.len()];
    let summarizes = journal.summaries.iter().any(|summary| !summary.attempt.failed);
    let mut uses = references.uses.iter().enumerate().peekable();
    let mut missed: BTreeMap<FactId, Miss> = BTreeMap::new();
    for request in &journal.requests {
        visible.advance(request);
        while let Some((index, used)) = uses.next_if(|(_, used)| used.call as usize <= request.call) {
            if (used.call as usize) < request.call {
                continue;
            }
            let outcome = match visible.hit(used.fact) {
                Some(in_summary) => UseOutcome::Hit { in_summary },
                None => recovery.outcome(used, &visible),
            };
            retention.outcomes[index] = outcome;
            retention.count(references, used, outcome, visible.generation(used.fact));
            if let UseOutcome::Hard { stale } = outcome {
                let entry = missed.entry(used.fact).or_insert(Miss {
                    fact: used.fact,
                    call: used.call,
                    uses: 0,
                    weight: 0.0,
                    origin: used.origin,
                    lost: visible.lost(used.fact),
                    stale,
                });
                entry.uses += 1;
                entry.weight += references.facts[used.fact as usize].weight;
            }
        }
        let (held, rules) = visible.rules(request.call);
        retention.rules += rules;
        retention.rules_held += held;
    }
    (retention.summarised.rules_held, retention.summarised.rules) = visible.summarised_rules();
    if summarizes {
        retention.summarised.set_from_uses(&retention.by_generation);
    } else {
        retention.summarised.add_recorded_losses(references, journal);
    }
    retention.rereads = recovery.rereads();
    retention.missed = missed.into_values().collect();
    retention.missed.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.call.cmp(&b.call)).then(a.fact.cmp(&b.fact)));
    retention
}
