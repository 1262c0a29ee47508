//! State machine of a search: what to replay next, the results so far, and the final choice.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::engine::policy::Policy;
use crate::results::saved::{Accumulator, ConfigurationRow, RungRow, Sweep, Values};

use super::candidate::{Candidate, Point};
use super::compared::evenly_spaced;
use super::criteria::Criteria;
use super::dominance_probability::{BySession, dominated};
use super::halving::{Ranking, better_half, kept_count, rung_sizes};
use super::objective::{epsilon, losses};
use super::pareto::front;
use super::recommend::recommendation;
use super::sendable;
use super::sensitivity::sensitivity_rows;
use super::sessions::{SessionTable, Split};
use super::space::Space;

/// A search in progress.
pub struct Search {
    spaces: Vec<Space>,
    candidates: Vec<Candidate>,
    points: Vec<Point>,
    criteria: Criteria,
    split: Split,
    seed: u64,
    /// Total number of sessions after each rung.
    rung_sizes: Vec<usize>,
    /// Indices of the candidates that are still in the search, ascending.
    alive: Vec<usize>,
    /// What each session adds to each column: by candidate, then by session in the order of the split.
    added: Vec<Vec<Vec<Option<Accumulator>>>>,
    /// Totals after the first rung, by candidate.
    first_totals: Vec<Vec<Option<f64>>>,
    finished_rungs: Vec<RungRow>,
    policy_calls: u64,
    /// Calls of each finished session, in the order of the split.
    calls: Vec<u64>,
    /// Totals of the columns over the held-out sessions, by candidate; `None` before their round. Only the default conditions use them.
    held_out: Option<Vec<Vec<Option<Accumulator>>>>,
    held_out_calls: u64,
}

/// Replays to run: all of these policies on all conversations of these sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Number of the round, from 0.
    pub index: usize,
    pub sessions: HashSet<usize>,
    pub policies: Vec<Policy>,
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    pub sweep: Sweep,
    /// Policies of the final comparison: the originals, then the front, or as many of its members as a table can show.
    pub policies: Vec<Policy>,
}

impl Search {
    /// Starts a search. `halves`: most candidates are tried on a part of the sessions only.
    pub fn new(
        spaces: Vec<Space>,
        (candidates, points): (Vec<Candidate>, Vec<Point>),
        criteria: Criteria,
        split: Split,
        halves: bool,
        seed: u64,
    ) -> Self {
        let rung_sizes = rung_sizes(split.develop.len(), halves);
        let alive = (0..candidates.len()).collect();
        let added = vec![Vec::new(); candidates.len()];
        Self {
            spaces,
            candidates,
            points,
            criteria,
            split,
            seed,
            rung_sizes,
            alive,
            added,
            first_totals: Vec::new(),
            finished_rungs: Vec::new(),
            policy_calls: 0,
            calls: Vec::new(),
            held_out: None,
            held_out_calls: 0,
        }
    }

    /// Returns the objectives and conditions.
    pub fn criteria(&self) -> &Criteria {
        &self.criteria
    }

    /// Returns the sessions of the next round: those that the next rung adds, in the order of the split, then the held-out ones, on which
    /// the remaining candidates must meet the default conditions.
    fn next_sessions(&self) -> Option<&[usize]> {
        let seen = self.finished_rungs.last().map_or(0, |rung| rung.sessions);
        match self.rung_sizes.get(self.finished_rungs.len()) {
            Some(until) => self.split.develop.get(seen..*until),
            None => Some(&self.split.held_out[..]).filter(|sessions| self.held_out.is_none() && !sessions.is_empty()),
        }
    }

    /// Returns what to replay next; `None` when the search is complete.
    pub fn next_round(&self) -> Option<Round> {
        let sessions = self.next_sessions()?.iter().copied().collect();
        let policies = self.alive.iter().map(|at| self.candidates[*at].policy.clone()).collect();
        Some(Round { index: self.finished_rungs.len(), sessions, policies })
    }

    /// Returns the total number of replayed calls, summed over configurations; it takes into account what halving drops.
    pub fn policy_calls(&self, table: &SessionTable) -> u64 {
        let calls_of = |sessions: &[usize]| sessions.iter().map(|session| table.calls(*session)).sum::<u64>();
        let originals = self.spaces.len();
        let (mut varied, mut seen, mut calls) = (self.candidates.len() - originals, 0, 0);
        for (rung, until) in self.rung_sizes.iter().enumerate() {
            if rung > 0 {
                varied = kept_count(varied);
            }
            calls += calls_of(&self.split.develop[seen..*until]) * (originals + varied) as u64;
            seen = *until;
        }
        calls + calls_of(&self.split.held_out) * (originals + varied) as u64
    }

    /// Takes the results of the last round: for each conversation its session, and what it adds by policy and column.
    /// Conversations come in the order of the transcripts.
    pub fn record_totals<'a>(
        &mut self,
        table: &SessionTable,
        totals_by_session: impl IntoIterator<Item = (usize, &'a [Vec<Option<Accumulator>>])>,
    ) {
        let Some(sessions) = self.next_sessions().map(<[usize]>::to_vec) else { return };
        if self.finished_rungs.len() == self.rung_sizes.len() {
            return self.record_held_out(table, &sessions, totals_by_session);
        }
        let (width, begin) = (self.criteria.columns.len(), self.finished_rungs.last().map_or(0, |rung| rung.sessions));
        for at in &self.alive {
            self.added[*at].resize(begin + sessions.len(), vec![None; width]);
        }
        let place_of: HashMap<usize, usize> = sessions.iter().copied().zip(0..).collect();
        for (session, added) in totals_by_session {
            let Some(place) = place_of.get(&session) else { continue };
            for (at, added) in self.alive.iter().zip(added) {
                for ((column, sum), added) in self.criteria.columns.iter().zip(&mut self.added[*at][begin + place]).zip(added) {
                    column.combine_into(sum, *added);
                }
            }
        }
        self.calls.extend(sessions.iter().map(|session| table.calls(*session)));
        let calls: u64 = self.calls[begin..].iter().sum();
        self.policy_calls += calls * self.alive.len() as u64;
        self.finished_rungs.push(RungRow { sessions: begin + sessions.len(), configurations: self.alive.len() });
        if self.first_totals.is_empty() {
            self.first_totals = (0..self.candidates.len()).map(|at| self.totals(at)).collect();
        }
        if self.finished_rungs.len() < self.rung_sizes.len() {
            self.drop_worse_half();
        }
    }

    /// Takes the totals over the held-out sessions.
    fn record_held_out<'a>(
        &mut self,
        table: &SessionTable,
        sessions: &[usize],
        totals_by_session: impl IntoIterator<Item = (usize, &'a [Vec<Option<Accumulator>>])>,
    ) {
        let mut sums = vec![vec![None; self.criteria.columns.len()]; self.candidates.len()];
        let sessions: HashSet<usize> = sessions.iter().copied().collect();
        for (_, added) in totals_by_session.into_iter().filter(|(session, _)| sessions.contains(session)) {
            for (at, added) in self.alive.iter().zip(added) {
                for ((column, sum), added) in self.criteria.columns.iter().zip(&mut sums[*at]).zip(added) {
                    column.combine_into(sum, *added);
                }
            }
        }
        self.held_out_calls = sessions.iter().map(|session| table.calls(*session)).sum();
        self.policy_calls += self.held_out_calls * self.alive.len() as u64;
        self.held_out = Some(sums);
    }

    /// Returns the totals of a candidate over the sessions it was tried on, in the order of the columns.
    fn totals(&self, candidate: usize) -> Vec<Option<f64>> {
        let total = |(at, column): (usize, &crate::metrics::column::Column)| {
            column.total_of_all(self.added[candidate].iter().filter_map(|session| session[at]))
        };
        self.criteria.columns.iter().enumerate().map(total).collect()
    }

    /// Returns how far a candidate is from the conditions of the user and the default ones; 0 if it meets all. The default ones must
    /// also hold on the held-out sessions.
    fn missed_by(&self, candidate: usize, totals: &[Option<f64>]) -> f64 {
        let is_unchanged = |other: &Candidate| other.is_original && other.original == self.candidates[candidate].original;
        let unchanged = self.candidates.iter().position(is_unchanged);
        let requests = self.calls.iter().take(self.added[candidate].len()).sum();
        let unchanged_totals = unchanged.map(|at| self.totals(at));
        let held_out = |at: usize, column: usize| {
            let sum = self.held_out.as_ref()?[at][column]?;
            self.criteria.columns[column].total_of(sum)
        };
        let missed = |id: &str| {
            let column = self.criteria.columns.iter().position(|column| column.id == id)?;
            let before = unchanged_totals.as_ref().and_then(|unchanged| unchanged[column]);
            let held_out_before = unchanged.and_then(|at| held_out(at, column));
            Some(
                sendable::missed_by(totals[column], before, requests)
                    + sendable::missed_by(held_out(candidate, column), held_out_before, self.held_out_calls),
            )
        };
        let by_default: f64 = sendable::default_columns(&self.criteria.conditions).filter_map(missed).sum();
        self.criteria.missed_by(totals) + by_default
    }

    /// Returns all conditions as reports show them.
    fn conditions(&self) -> Vec<String> {
        let by_default = sendable::default_columns(&self.criteria.conditions).map(sendable::describe);
        self.criteria.conditions.iter().map(ToString::to_string).chain(by_default).collect()
    }

    /// Drops the worse half of the varied policies; the originals stay.
    fn drop_worse_half(&mut self) {
        let (originals, varied): (Vec<usize>, Vec<usize>) = self.alive.iter().partition(|at| self.candidates[**at].is_original);
        let ranking = |at: &usize| {
            let totals = self.totals(*at);
            Ranking { losses: losses(&self.criteria.objectives, totals.iter().copied()), missed_by: self.missed_by(*at, &totals) }
        };
        let rankings: Vec<Ranking> = varied.iter().map(ranking).collect();
        let half = better_half(&rankings).into_iter().map(|place| varied[place]);
        self.alive = originals.into_iter().chain(half).collect();
        self.alive.sort_unstable();
    }

    /// Finishes the search: computes the front, the recommendation and the sensitivities.
    pub fn finish(mut self) -> SearchResult {
        let totals: Vec<Vec<Option<f64>>> = (0..self.candidates.len()).map(|at| self.totals(at)).collect();
        for (at, objective) in self.criteria.objectives.iter_mut().enumerate() {
            let column = &self.criteria.columns[at];
            objective.epsilon = epsilon(column, objective.better, self.alive.iter().map(|candidate| totals[*candidate][at]));
        }
        let missed_by: Vec<f64> = totals.iter().enumerate().map(|(at, totals)| self.missed_by(at, totals)).collect();
        let allowed: Vec<usize> = self.alive.iter().copied().filter(|at| missed_by[*at] == 0.0).collect();
        let objectives = &self.criteria.objectives;
        let losses: Vec<Vec<f64>> = allowed.iter().map(|at| losses(objectives, totals[*at].iter().copied())).collect();
        let epsilons: Vec<f64> = objectives.iter().map(|objective| objective.epsilon).collect();
        let places = front(&losses, &epsilons);
        let probabilities = self.dominance_probabilities(&allowed, &places);
        let front: Vec<usize> = places.iter().map(|place| allowed[*place]).collect();
        let nearest = self.alive.iter().copied().reduce(|near, at| if missed_by[at] < missed_by[near] { at } else { near });
        let nearest = nearest.filter(|_| front.is_empty());
        let row = |(at, candidate): (usize, &Candidate)| {
            let place = front.iter().position(|member| *member == at);
            ConfigurationRow {
                policy: candidate.policy.name.clone(),
                of: candidate.original.clone(),
                settings: candidate.settings.clone(),
                sessions: self.added[at].len(),
                values: self.values(&totals[at]),
                allowed: missed_by[at] == 0.0,
                front: place.is_some(),
                dominated: place.and_then(|place| probabilities[place]),
            }
        };
        let chosen = |space: usize, parameter: usize| -> BTreeSet<u64> {
            self.points.iter().filter(|point| point.space == space).map(|point| point.choice[parameter]).collect()
        };
        let parameters = self.spaces.iter().enumerate();
        let mut sweep = Sweep {
            parameters: parameters.flat_map(|(at, space)| space.rows(|parameter| chosen(at, parameter))).collect(),
            objectives: objectives.clone(),
            conditions: self.conditions(),
            sessions: self.split.develop.len(),
            held_out: self.split.held_out.len(),
            rounds: self.finished_rungs.clone(),
            configurations: self.candidates.iter().enumerate().map(row).collect(),
            recommended: None,
            nearest: nearest.map(|at| self.candidates[at].policy.name.clone()),
            sensitivity: sensitivity_rows(&self.spaces, &self.points, objectives, &self.first_totals),
            seed: self.seed,
            policy_calls: self.policy_calls,
        };
        let candidate = |name: &str| self.candidates.iter().position(|candidate| candidate.policy.name == name);
        sweep.recommended = recommendation(&sweep, |_| true, |name| Some(&self.candidates[candidate(name)?].policy));
        let recommended = sweep.recommended.as_ref().and_then(|best| candidate(&best.policy));
        let originals = (0..self.candidates.len()).filter(|at| self.candidates[*at].is_original);
        let spread = evenly_spaced(&front, recommended.filter(|at| front.contains(at)), |at| totals[at][0]);
        let compared: BTreeSet<usize> = originals.chain(spread).chain(nearest).collect();
        let policies = compared.into_iter().map(|at| self.candidates[at].policy.clone()).collect();
        SearchResult { sweep, policies }
    }

    fn values(&self, totals: &[Option<f64>]) -> Values {
        self.criteria.columns.iter().map(|column| column.id.clone()).zip(totals.iter().copied()).collect()
    }

    /// Returns for each member of the front the share of resamples in which another candidate dominates it.
    fn dominance_probabilities(&self, allowed: &[usize], places: &[usize]) -> Vec<Option<f64>> {
        let objectives = &self.criteria.objectives;
        let by_session = |at: &usize| -> BySession {
            let of_objective = |column: usize| self.added[*at].iter().map(|session| session[column]).collect();
            (0..objectives.len()).map(of_objective).collect()
        };
        let all: Vec<BySession> = allowed.iter().map(by_session).collect();
        let columns: Vec<_> = self.criteria.columns.iter().take(objectives.len()).collect();
        dominated(&columns, objectives, &all, places, self.seed)
    }
}
