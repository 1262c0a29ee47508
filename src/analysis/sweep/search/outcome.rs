//! The end of a search: the Pareto front, the recommendation, and what a report shows.

use std::collections::BTreeSet;

use crate::analysis::sweep::candidate::CandidateId;
use crate::analysis::sweep::compared::evenly_spaced;
use crate::analysis::sweep::criteria::Criteria;
use crate::analysis::sweep::dominance_probability::{BySession, dominated};
use crate::analysis::sweep::objective::{epsilon, losses};
use crate::analysis::sweep::pareto;
use crate::analysis::sweep::recommend::recommendation;
use crate::analysis::sweep::rules;
use crate::analysis::sweep::sensitivity::sensitivity_rows;
use crate::engine::policy::Policy;
use crate::results::condition::Condition;
use crate::results::saved::{ConfigurationRow, ReferenceRow, Sweep, Values};

use super::trial::Trial;
use super::{Missed, Search};

/// Result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    pub sweep: Sweep,
    /// Policies of the final comparison: the originals, then the front, or as many of its members as a table can show.
    pub policies: Vec<Policy>,
    /// The conditions of the user, without the default ones.
    pub conditions: Vec<Condition>,
}

/// A candidate with its totals at the end of the search.
struct Judged<'a> {
    id: CandidateId,
    trial: &'a Trial,
    /// By column.
    totals: Vec<Option<f64>>,
    /// The conditions that it misses.
    missed: Vec<Missed<'a>>,
}

impl Judged<'_> {
    fn meets_conditions(&self) -> bool {
        self.missed.is_empty()
    }

    /// How far it is from the conditions; 0 if it meets all.
    fn missed_by(&self) -> f64 {
        self.missed.iter().map(|missed| missed.by).sum()
    }

    /// The columns of the conditions that it misses, each once.
    fn missed_columns(&self) -> Vec<String> {
        let mut columns: Vec<String> = self.missed.iter().map(|missed| missed.column.to_owned()).collect();
        columns.sort();
        columns.dedup();
        columns
    }

    fn policy(&self) -> &Policy {
        &self.trial.candidate.policy
    }
}

/// A member of the front.
struct Member<'a> {
    judged: &'a Judged<'a>,
    /// The share of resamples in which another candidate dominates it.
    dominated: Option<f64>,
}

impl Search {
    /// Finishes the search: computes the front, the recommendation and the sensitivities.
    pub fn finish(mut self) -> SearchResult {
        let totals: Vec<Vec<Option<f64>>> =
            self.trials.iter().map(|trial| trial.develop.totals(&self.criteria.columns)).collect();
        self.set_tolerances(&totals);
        let judged = self.judge(totals);
        let front = self.front(&judged);
        let nearest = nearest(&judged).filter(|_| front.is_empty());
        let mut sweep = self.sweep(&judged, &front, nearest);
        let named = |name: &str| judged.iter().find(|judged| judged.policy().name == name);
        sweep.recommended = recommendation(&sweep, |_| true);
        let recommended = sweep.recommended.as_ref().and_then(|best| named(&best.policy));
        let by_level = sweep.cheapest_by_level().into_iter().filter_map(|(_, policy)| named(policy));
        let others =
            nearest.into_iter().chain(sweep.cheaper_excluded().first().and_then(|row| named(&row.policy))).chain(by_level);
        let references = self.yardstick().map(|yardstick| yardstick.candidate.policy.clone());
        let policies = compared(&judged, &front, recommended, others).into_iter().chain(references).collect();
        SearchResult { sweep, policies, conditions: self.criteria.conditions.clone() }
    }

    /// Sets the tolerance of each objective by the totals of the candidates that are still in the search.
    fn set_tolerances(&mut self, totals: &[Vec<Option<f64>>]) {
        let Criteria { objectives, columns, .. } = &mut self.criteria;
        let alive: Vec<&Vec<Option<f64>>> =
            self.trials.iter().zip(totals).filter(|(trial, _)| trial.is_alive).map(|(_, totals)| totals).collect();
        for (at, objective) in objectives.iter_mut().enumerate() {
            objective.epsilon = epsilon(&columns[at], objective.better, alive.iter().map(|totals| totals[at]));
        }
    }

    /// Judges all candidates, those that were dropped too, by their totals.
    fn judge(&self, totals: Vec<Vec<Option<f64>>>) -> Vec<Judged<'_>> {
        let judged = |(at, (trial, totals)): (usize, (_, Vec<_>))| Judged {
            id: CandidateId(at),
            trial,
            missed: self.missed(trial, &totals),
            totals,
        };
        self.trials.iter().zip(totals).enumerate().map(judged).collect()
    }

    /// Returns the Pareto front of the candidates that are still in the search and meet the conditions.
    fn front<'a>(&self, judged: &'a [Judged<'a>]) -> Vec<Member<'a>> {
        let Criteria { objectives, columns, .. } = &self.criteria;
        let allowed: Vec<&Judged> = judged.iter().filter(|one| one.trial.is_alive && one.meets_conditions()).collect();
        let losses: Vec<Vec<f64>> = allowed.iter().map(|one| losses(objectives, one.totals.iter().copied())).collect();
        let epsilons: Vec<f64> = objectives.iter().map(|objective| objective.epsilon).collect();
        let places = pareto::front(&losses, &epsilons);
        let by_session: Vec<BySession> = allowed.iter().map(|one| one.trial.develop.by_session(objectives.len())).collect();
        let of_objectives: Vec<_> = columns.iter().take(objectives.len()).collect();
        let shares = dominated(&of_objectives, objectives, &by_session, &places, self.seed);
        let member = |(place, dominated): (&usize, _)| Member { judged: allowed[*place], dominated };
        places.iter().zip(shares).map(member).collect()
    }

    /// Returns the results without a recommendation.
    fn sweep(&self, judged: &[Judged], front: &[Member], nearest: Option<&Judged>) -> Sweep {
        let objectives = &self.criteria.objectives;
        let first_total = |id: CandidateId, column: usize| self.trials[id.0].first_totals.get(column).copied().flatten();
        Sweep {
            parameters: self.spaces.iter().flat_map(|space| space.parameter_rows()).collect(),
            objectives: objectives.clone(),
            conditions: self.conditions(),
            sessions: self.split.develop.len(),
            held_out: self.split.held_out.len(),
            rounds: self.finished_rungs.clone(),
            configurations: judged.iter().map(|judged| self.row(judged, front)).collect(),
            yardstick: self.yardstick_row(),
            recommended: None,
            nearest: nearest.map(|judged| judged.policy().name.clone()),
            sensitivity: sensitivity_rows(&self.spaces, objectives, first_total),
            seed: self.seed,
            policy_calls: self.trials.iter().map(|trial| trial.develop.requests + trial.held_out.requests).sum(),
        }
    }

    fn row(&self, judged: &Judged, front: &[Member]) -> ConfigurationRow {
        let candidate = &judged.trial.candidate;
        let member = front.iter().find(|member| member.judged.id == judged.id);
        ConfigurationRow {
            policy: candidate.policy.name.clone(),
            of: candidate.original.clone(),
            settings: candidate.settings.clone(),
            sessions: judged.trial.develop.sessions(),
            values: self.values(&judged.totals),
            allowed: judged.meets_conditions(),
            missed: judged.missed_columns(),
            front: member.is_some(),
            dominated: member.and_then(|member| member.dominated),
        }
    }

    fn values(&self, totals: &[Option<f64>]) -> Values {
        self.criteria.columns.iter().map(|column| column.id.clone()).zip(totals.iter().copied()).collect()
    }

    /// Returns all conditions as reports show them.
    fn conditions(&self) -> Vec<String> {
        let Criteria { conditions, .. } = &self.criteria;
        conditions.iter().map(ToString::to_string).chain(rules::describe(conditions, self.against())).collect()
    }

    /// Returns what the costs are compared with.
    fn yardstick_row(&self) -> Option<ReferenceRow> {
        let yardstick = self.yardstick()?;
        let values = self.values(&yardstick.develop.totals(&self.criteria.columns));
        Some(ReferenceRow { policy: yardstick.candidate.policy.name.clone(), values })
    }
}

/// Returns the candidate that is still in the search and nearest to the conditions; the first of several.
fn nearest<'a>(judged: &'a [Judged<'a>]) -> Option<&'a Judged<'a>> {
    let alive = judged.iter().filter(|one| one.trial.is_alive);
    alive.reduce(|near, other| if other.missed_by() < near.missed_by() { other } else { near })
}

/// Returns the policies of the final comparison, in the order of the candidates: the policy as it is, if it is the only one, members of
/// the front along the first objective, and `others`.
fn compared<'a>(
    judged: &[Judged],
    front: &[Member],
    recommended: Option<&Judged>,
    others: impl Iterator<Item = &'a Judged<'a>>,
) -> Vec<Policy> {
    let members: Vec<CandidateId> = front.iter().map(|member| member.judged.id).collect();
    let recommended = recommended.map(|judged| judged.id).filter(|id| members.contains(id));
    let mut originals = judged.iter().filter(|one| one.trial.candidate.is_original).map(|one| one.id);
    let unchanged = originals.next().filter(|_| originals.next().is_none());
    let spread = evenly_spaced(&members, recommended, |id| judged[id.0].totals[0]);
    let compared: BTreeSet<CandidateId> = unchanged.into_iter().chain(spread).chain(others.map(|one| one.id)).collect();
    compared.into_iter().map(|id| judged[id.0].policy().clone()).collect()
}
