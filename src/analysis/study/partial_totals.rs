//! What replays add to the totals of some columns: all that a sweep over hundreds of policies keeps of them.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::engine::alike::{Decisions, PolicyForms};
use crate::engine::policy::Policy;
use crate::engine::replay::NoObserver;
use crate::engine::size::Limits;
use crate::engine::summarizer::NameIndex;
use crate::metrics::column::Column;
use crate::metrics::metric::{self, CostlyInput};
use crate::metrics::retention::{Grain, bounds};
use crate::results::saved::{Accumulator, Values};
use crate::transcript::conversation::Conversation;
use crate::transcript::format::Reading;

use super::{Study, oracle_instance_of};

/// What one replay adds, by column.
type Added = Vec<Option<Accumulator>>;

/// What one conversation adds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialTotals {
    pub conversation: String,
    /// By policy, then by column, in the given order. Empty if the conversation has no call.
    pub added: Vec<Added>,
}

impl PartialTotals {
    /// Returns whether it has this number of policies and columns, or is of a conversation without a request.
    pub fn fits(&self, policies: usize, columns: usize) -> bool {
        self.added.is_empty() || self.added.len() == policies && self.added.iter().all(|added| added.len() == columns)
    }
}

impl Study {
    /// Replays all conversations of one transcript and keeps what they add to the totals of these columns. `forms` are those of the
    /// study's policies. Calls `done` after each policy with the number of calls.
    pub fn partial_totals(
        &self,
        forms: &PolicyForms,
        reading: &Reading,
        columns: &[Column],
        done: &(dyn Fn(u64) + Sync),
    ) -> Vec<PartialTotals> {
        let needs_oracle = metric::need(columns, CostlyInput::Oracle);
        let needs_names = metric::need(columns, CostlyInput::Names);
        let totals_of = |conversation: &Conversation| {
            let mut prepared = self.prepare(conversation);
            if !needs_names {
                prepared.shared.names = NameIndex::off();
            }
            let (baseline, _, baseline_cost) = self.replay_with_cost(&prepared, &self.baseline, &mut NoObserver);
            if baseline.requests.is_empty() {
                return PartialTotals { conversation: conversation.name.clone(), added: Vec::new() };
            }
            let replay = |policy: &Policy| {
                let (journal, retention, cost) = self.replay_with_cost(&prepared, policy, &mut NoObserver);
                let oracle_weight =
                    needs_oracle.then(|| bounds(oracle_instance_of(&prepared, Grain::Blocks), &journal, false).weight);
                let values: Values = metric::values(&metric::MetricInput {
                    conversation,
                    journal: &journal,
                    baseline: &baseline,
                    retention: &retention,
                    cost: cost.as_ref(),
                    baseline_cost: baseline_cost.as_ref(),
                    oracle_weight,
                });
                let added: Added = columns.iter().map(|column| column.contribution(&values)).collect();
                (Decisions::new(policy, &journal), added)
            };
            let done_replays = DoneReplays::default();
            let added = |(index, policy): (usize, &Policy)| {
                let limits = self.setup(&prepared, policy).limits();
                let added = done_replays.added(forms, index, limits).unwrap_or_else(|| {
                    let (decisions, added) = replay(policy);
                    done_replays.insert(DoneReplay { policy: index, decisions, added: added.clone() });
                    added
                });
                done(conversation.calls.len() as u64);
                added
            };
            let added = self.policies.par_iter().enumerate().map(added).collect();
            PartialTotals { conversation: conversation.name.clone(), added }
        };
        reading.conversations.iter().map(totals_of).collect()
    }
}

/// The replays of one conversation so far.
#[derive(Default)]
struct DoneReplays(Mutex<Vec<DoneReplay>>);

/// A replay whose result other policies may share.
struct DoneReplay {
    policy: usize,
    decisions: Decisions,
    added: Added,
}

impl DoneReplays {
    /// Returns what a policy adds, if the replay of one that is like it is there.
    fn added(&self, forms: &PolicyForms, policy: usize, limits: Limits) -> Option<Added> {
        let done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = |replay: &&DoneReplay| forms.are_alike(replay.policy, &replay.decisions, policy, limits);
        done.iter().find(alike).map(|replay| replay.added.clone())
    }

    fn insert(&self, replay: DoneReplay) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(replay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_totals_cover_all_policies_and_columns() {
        let totals = |added: Vec<Added>| PartialTotals { conversation: "main".to_owned(), added };
        let row = || vec![None, Some(Accumulator { numerator: 1.0, denominator: 2.0 })];
        assert!(totals(vec![row(), row(), row()]).fits(3, 2) && totals(vec![]).fits(3, 2));
        for other in [totals(vec![row(), row()]), totals(vec![row(), row(), vec![None]]), totals(vec![vec![], vec![], vec![]])] {
            assert!(!other.fits(3, 2), "{other:?}");
        }
    }
}
