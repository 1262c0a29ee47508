//! Retention of information: looks up every use of an earlier fact in the requests that a policy sent.
//!
//! A use is a *hit* if the request still contains the fact, word for word. It is a *soft miss* if the request does not, but
//! contains a handle from which the agent can get the fact again: a path, a URL, the name of the file to which a result was
//! moved; or if it says the fact in other words. If the file was written since, the fact may be gone from it, and the use is
//! *stale*; unless the call itself quotes the fact from that file, or the agent's own last write contains it. All other uses are
//! *hard misses*. The four shares add up to 1.
//! The recorded agent saw everything that it used, or fetched it again, so this is not a success rate: it measures how much of what
//! the agent needed a policy would have kept in the context.
//!
//! A use is *at risk* if every block that had the fact was removed, moved or summarised; only those say what a compaction keeps.
//!
//! The lookup follows the journal: it counts how many visible blocks contain each fact, and a change updates the facts of the
//! changed blocks only. So the time grows with the facts of changed blocks and with the uses, not with calls × context size.

mod archives;
mod bounds;
mod counts;
mod in_other_words;
pub mod oracle;
mod recover;
mod recovery_paths;
mod tally;
mod visible_facts;

use std::collections::BTreeMap;

use crate::engine::journal::Journal;
use crate::facts::extract::FactKind;
use crate::facts::references::{FactId, Loss, Provenance, References, cost_to_fetch};
use crate::transcript::conversation::{BlockId, Conversation};

pub use bounds::{Bounds, Grain, bounds, oracle_instance};
use in_other_words::RequestTexts;
pub use recover::Handle;
use recover::Recovery;
pub use recovery_paths::RecoveryPaths;
pub use tally::{GAPS, GENERATIONS, GroupTotals, OutcomeWeights, gap_bin};
use visible_facts::VisibleFacts;

/// What a policy kept of the facts that one conversation used again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Retention {
    /// Outcome of each use in `References::uses`; hard if its call sent no request.
    pub outcomes: Vec<UseOutcome>,
    pub all: OutcomeWeights,
    /// Of the uses whose text was removed, moved or summarised: what keeps the whole text cannot lose a fact.
    pub at_risk: OutcomeWeights,
    /// By calls since the fact was last seen: see [`GAPS`].
    pub by_gap: [OutcomeWeights; GAPS.len()],
    /// In the order of [`FactKind::ALL`].
    pub by_kind: [OutcomeWeights; FactKind::ALL.len()],
    /// In the order of [`Provenance::ALL`].
    pub by_provenance: [OutcomeWeights; Provenance::ALL.len()],
    /// By the number of summaries between the fact and its use, from none: see [`GENERATIONS`].
    pub by_generation: [OutcomeWeights; GENERATIONS.len()],
    /// Sum over calls of the users' rules given before the call; and of those that the request contains word for word.
    pub rules: u64,
    pub rules_held: u64,
    /// Users' rules that a layer cut out of a text, so that the request after it lacked them; each counted once.
    pub rules_cut: u64,
    /// Facts and rules that went into summaries and were needed later.
    pub summarised: Summarised,
    /// Predicted fetches of softly missed facts.
    pub rereads: Vec<Reread>,
    /// Recorded fetches that were unnecessary: the request still had all that they were for.
    pub saved: Vec<Reread>,
    /// Hard misses, each fact once, heaviest first.
    pub missed: Vec<Miss>,
}

/// What the summaries held of the facts and rules that only they could hold.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Summarised {
    /// Weight of the uses of facts that went into a summary and are nowhere else since; and of those uses whose fact the
    /// request contains. For recorded summaries: weight of the facts known before and used after, at their first use; and of
    /// those that the summary contains.
    pub needed: f64,
    pub held: f64,
    /// Users' rules in what a summary replaced and nowhere else in the request, each counted once per summary; and those that
    /// its message contains word for word.
    pub rules: u64,
    pub rules_held: u64,
}

impl Summarised {
    fn set_from_uses(&mut self, by_generation: &[OutcomeWeights; GENERATIONS.len()]) {
        self.needed = by_generation[1..].iter().map(|share| share.weight).sum();
        self.held = by_generation[1..].iter().map(|share| share.hit).sum();
    }

    /// The recorded agent used what it could see, so its own summaries would seem to hold all of its uses. Therefore this
    /// counts the facts that it knew before the compaction and used after it: each at its first use, wherever the agent had
    /// it from by then.
    fn add_recorded_losses(&mut self, references: &References, journal: &Journal) {
        let read = |loss: &&Loss| journal.recorded.iter().any(|summary| summary.restored.compaction == loss.compaction);
        for loss in references.losses.iter().filter(read) {
            self.needed += loss.needed_weight;
            self.held += loss.held_weight;
        }
    }
}

/// A fetch that an agent without the fact would make, or that an agent with the fact would not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reread {
    /// Index of the call that needed it.
    pub call: u32,
    /// Tokens of the result, and of the call that asks for it.
    pub tokens: u64,
}

/// A fact that the agent used and that was lost for good.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    pub fact: FactId,
    /// First call that missed it.
    pub call: u32,
    /// That call does not name the fact, but fetches it again.
    pub fetched: bool,
    /// Number of calls that missed it, and the total weight of these uses.
    pub uses: u32,
    pub weight: f64,
    /// Block from which the recorded agent had it.
    pub origin: BlockId,
    /// Index of the layer that removed it from the context, and the call before which it did so.
    pub lost: Option<(usize, u32)>,
}

/// Outcome of a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseOutcome {
    Hit {
        /// Only a summary contains the fact.
        in_summary: bool,
    },
    /// The request lacks the fact but has a handle to it.
    Soft {
        /// The file was written since, but the call quotes the fact from it, so that it still contains the fact.
        quoted: bool,
    },
    /// The request lacks the fact, but says it in other words: an identifier in another spelling, the folder and the file of a path.
    Reworded,
    /// A handle is visible, but its file was written since.
    Stale,
    Hard,
}

impl Retention {
    /// Returns the tokens predicted for fetching all softly missed facts again.
    pub fn reread_tokens(&self) -> u64 {
        self.rereads.iter().map(|reread| reread.tokens).sum()
    }
}

/// Looks up every use in the requests of a replay. `tokens` returns the size of a block by the token counter of the report.
pub fn evaluate(
    conversation: &Conversation,
    references: &References,
    journal: &Journal,
    tokens: &dyn Fn(BlockId) -> u64,
) -> Retention {
    let mut retention = Retention::default();
    let mut visible = VisibleFacts::new(conversation, references, journal);
    let mut recovery = Recovery::new(conversation, references, journal, tokens);
    let mut texts = RequestTexts::new(conversation, references, journal);
    retention.outcomes = vec![UseOutcome::Hard; references.uses.len()];
    let summarizes = journal.summaries.iter().any(|summary| !summary.attempt.failed);
    let mut uses = references.uses.iter().enumerate().peekable();
    let mut missed: BTreeMap<FactId, Miss> = BTreeMap::new();
    for request in &journal.requests {
        visible.advance(request);
        texts.advance(request);
        while let Some((index, used)) = uses.next_if(|(_, used)| used.call as usize <= request.call) {
            if (used.call as usize) < request.call {
                continue;
            }
            let outcome = match visible.hit(used.fact) {
                Some(in_summary) => UseOutcome::Hit { in_summary },
                None => match recovery.outcome(used, &visible) {
                    UseOutcome::Stale | UseOutcome::Hard if texts.say(used.fact) => UseOutcome::Reworded,
                    outcome => outcome,
                },
            };
            retention.outcomes[index] = outcome;
            retention.count(references, used, outcome, visible.generation(used.fact));
            if visible.is_at_risk(used.fact) {
                retention.at_risk.count(references.facts[used.fact as usize].weight, outcome);
            }
            if outcome == UseOutcome::Hard {
                let entry = missed.entry(used.fact).or_insert(Miss {
                    fact: used.fact,
                    call: used.call,
                    fetched: used.refetch.is_some(),
                    uses: 0,
                    weight: 0.0,
                    origin: used.origin,
                    lost: visible.lost(used.fact),
                });
                entry.uses += 1;
                entry.weight += references.facts[used.fact as usize].weight;
            }
        }
        let (held, rules) = visible.rules(request.call);
        retention.rules += rules;
        retention.rules_held += held;
    }
    retention.rules_cut = visible.cut_rules();
    (retention.summarised.rules_held, retention.summarised.rules) = visible.summarised_rules();
    if summarizes {
        retention.summarised.set_from_uses(&retention.by_generation);
    } else {
        retention.summarised.add_recorded_losses(references, journal);
    }
    retention.rereads = recovery.rereads();
    retention.saved = saved(conversation, references, &retention.outcomes, tokens);
    retention.missed = missed.into_values().collect();
    retention.missed.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.call.cmp(&b.call)).then(a.fact.cmp(&b.fact)));
    retention
}

/// Returns the recorded fetches whose uses are all hits, if no file was written since the first reading.
fn saved(
    conversation: &Conversation,
    references: &References,
    outcomes: &[UseOutcome],
    tokens: &dyn Fn(BlockId) -> u64,
) -> Vec<Reread> {
    let refetches = references.refetches();
    let mut is_saved = vec![None; refetches.len()];
    for (used, outcome) in references.uses.iter().zip(outcomes) {
        if let Some(index) = used.refetch {
            let saved = is_saved[index as usize].get_or_insert(refetches[index as usize].is_unchanged);
            *saved &= matches!(outcome, UseOutcome::Hit { .. });
        }
    }
    let saved = refetches.iter().zip(is_saved).filter(|(_, is_saved)| *is_saved == Some(true));
    saved.map(|(refetch, _)| Reread { call: refetch.call, tokens: cost_to_fetch(conversation, refetch.result, tokens) }).collect()
}
