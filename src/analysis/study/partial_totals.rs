//! What replays add to the totals of some columns: all that a sweep over hundreds of policies keeps of them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::engine::alike::{Decisions, OtherSettings, PolicyForms};
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
            let replay = |policy: &Policy, mut others: OtherSettings| {
                let (journal, retention, cost) = self.replay_with_cost(&prepared, policy, &mut others);
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
                (Decisions::new(policy, &journal, others), added)
            };
            let answers = Answers {
                forms,
                limits: self.policies.iter().map(|policy| self.setup(&prepared, policy).limits()).collect(),
                added: Mutex::new(vec![None; self.policies.len()]),
            };
            self.policies.par_iter().enumerate().for_each(|(index, policy)| {
                if let Some(others) = answers.open_settings(index) {
                    let (decisions, added) = replay(policy, others);
                    answers.keep(index, &decisions, &added);
                }
                done(conversation.calls.len() as u64);
            });
            PartialTotals { conversation: conversation.name.clone(), added: answers.into_added() }
        };
        reading.conversations.iter().map(totals_of).collect()
    }
}

/// What the policies add of one conversation: a replay answers for all that are like its policy.
struct Answers<'f, 'p> {
    forms: &'f PolicyForms<'p>,
    /// Of each policy.
    limits: Vec<Limits>,
    added: Mutex<Vec<Option<Added>>>,
}

impl<'p> Answers<'_, 'p> {
    /// Returns the settings of policies without an answer, to be asked during the replay of this one, unless this one has an answer.
    fn open_settings(&self, policy: usize) -> Option<OtherSettings<'p>> {
        let added = self.lock();
        added[policy].is_none().then(|| self.forms.other_settings(policy, |other| added[other].is_none()))
    }

    /// Keeps what a replay adds, for its policy and for those that are like it.
    fn keep(&self, replayed: usize, decisions: &Decisions, added: &Added) {
        let is_alike = |policy: usize| self.forms.are_alike(replayed, decisions, policy, self.limits[policy]);
        for (policy, known) in self.lock().iter_mut().enumerate().filter(|(_, known)| known.is_none()) {
            if policy == replayed || is_alike(policy) {
                *known = Some(added.clone());
            }
        }
    }

    /// Returns what each policy adds.
    fn into_added(self) -> Vec<Added> {
        let added = self.added.into_inner().unwrap_or_else(PoisonError::into_inner);
        added.into_iter().map(|known| known.expect("a policy was replayed, or is like one that was")).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<Added>>> {
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
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
