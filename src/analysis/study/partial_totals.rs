//! Only what replays add to the totals of some columns: all that a sweep over hundreds of policies keeps of them.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::engine::policy::Policy;
use crate::engine::replay::NoObserver;
use crate::engine::summarizer::NameIndex;
use crate::metrics::column::Column;
use crate::metrics::metric;
use crate::metrics::retention::bounds;
use crate::results::saved::{Accumulator, Values};
use crate::transcript::conversation::Conversation;
use crate::transcript::format::Reading;

use super::Study;

/// What one conversation adds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialTotals {
    pub conversation: String,
    /// By policy, but for the baseline, then column, as they were given. Empty where the conversation holds no call.
    pub added: Vec<Vec<Option<Accumulator>>>,
}

impl PartialTotals {
    /// Whether it is of so many policies and columns, or of a conversation without a request.
    pub fn fits(&self, policies: usize, columns: usize) -> bool {
        self.added.is_empty() || self.added.len() == policies && self.added.iter().all(|added| added.len() == columns)
    }
}

/// Columns that need the names that summaries say.
const OF_NAMES: [&str; 3] = ["summary.false", "summary.facts", "summary.false_facts"];

/// Columns that need the clairvoyant, which takes as long as a replay.
const OF_THE_CLAIRVOYANT: [&str; 2] = ["kept.efficiency", "kept.bound"];

impl Study {
    /// Replays all conversations of one transcript and keeps what they add to the totals of these columns. `done` is told the calls
    /// of each replay when it has ended.
    pub fn tallies(&self, reading: &Reading, columns: &[Column], done: &(dyn Fn(u64) + Sync)) -> Vec<PartialTotals> {
        let needs = |ids: &[&str]| columns.iter().any(|column| ids.contains(&&*column.id));
        let (needs_bounds, needs_names) = (needs(&OF_THE_CLAIRVOYANT), needs(&OF_NAMES));
        let of = |conversation: &Conversation| {
            let mut prepared = self.prepare(conversation);
            if !needs_names {
                prepared.shared.names = NameIndex::off();
            }
            let (baseline, _, baseline_cost) = self.replayed(&prepared, &self.policies[self.baseline], &mut NoObserver);
            if baseline.requests.is_empty() {
                return PartialTotals { conversation: conversation.name.clone(), added: Vec::new() };
            }
            let added = |policy: &Policy| {
                let (journal, kept, cost) = self.replayed(&prepared, policy, &mut NoObserver);
                let oracle_weight =
                    needs_bounds.then(|| bounds(self.oracle_instance(&prepared, policy).1, &journal, false).weight);
                let values: Values = metric::values(&metric::MetricInput {
                    conversation,
                    journal: &journal,
                    baseline: &baseline,
                    retention: &kept,
                    cost: cost.as_ref(),
                    baseline_cost: baseline_cost.as_ref(),
                    oracle_weight,
                });
                done(conversation.calls.len() as u64);
                columns.iter().map(|column| column.adds(&values)).collect()
            };
            let policies: Vec<_> = self.policies.iter().enumerate().filter(|(at, _)| *at != self.baseline).collect();
            let added = policies.into_par_iter().map(|(_, policy)| added(policy)).collect();
            PartialTotals { conversation: conversation.name.clone(), added }
        };
        reading.conversations.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_of_all_policies_and_columns() {
        let of = |added: Vec<Vec<Option<Accumulator>>>| PartialTotals { conversation: "main".to_owned(), added };
        let one = || vec![None, Some(Accumulator { over: 1.0, under: 2.0 })];
        assert!(of(vec![one(), one(), one()]).fits(3, 2) && of(vec![]).fits(3, 2));
        for other in [of(vec![one(), one()]), of(vec![one(), one(), vec![None]]), of(vec![vec![], vec![], vec![]])] {
            assert!(!other.fits(3, 2), "{other:?}");
        }
    }
}
