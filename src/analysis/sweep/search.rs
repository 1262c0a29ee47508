//! State machine of a search: what to replay next, the results so far, and the final choice.

use std::collections::{BTreeSet, HashSet};

use crate::engine::policy::Policy;
use crate::results::saved::{Accumulator, ConfigurationRow, Recommendation, RungRow, Sweep, Values};
use crate::util::text::plural;

use super::candidate::{Candidate, Point};
use super::criteria::Criteria;
use super::dominance_probability::{BySession, dominated};
use super::halving::{Ranking, better_half, kept_count, rung_sizes};
use super::objective::{epsilon, losses};
use super::pareto::front;
use super::recommend::{Choice, Member, neighbours, recommend};
use super::sendable;
use super::sensitivity::sensitivity_rows;
use super::sessions::{SessionTable, Split};
use super::space::Space;

/// Maximum members of the front in the final comparison: a table cannot show more.
const MAX_COMPARED: usize = 12;

/// A user who ships a policy must know about these requests.
const BROKEN_COLUMN: &str = "broken.requests";

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
}

/// Replays to run: all of these policies on all conversations of these sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
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
        }
    }

    pub fn criteria(&self) -> &Criteria {
        &self.criteria
    }

    /// Returns the sessions that the next rung adds, in the order of the split.
    fn next_sessions(&self) -> Option<&[usize]> {
        let seen = self.finished_rungs.last().map_or(0, |rung| rung.sessions);
        let until = *self.rung_sizes.get(self.finished_rungs.len())?;
        self.split.develop.get(seen..until)
    }

    /// Returns what to replay next; `None` when the search is complete.
    pub fn next_round(&self) -> Option<Round> {
        let sessions = self.next_sessions()?.iter().copied().collect();
        let policies = self.alive.iter().map(|at| self.candidates[*at].policy.clone()).collect();
        Some(Round { sessions, policies })
    }

    /// Returns the total number of replayed calls, summed over configurations; it takes into account what halving drops.
    pub fn policy_calls(&self, table: &SessionTable) -> u64 {
        let originals = self.spaces.len();
        let (mut varied, mut seen, mut calls) = (self.candidates.len() - originals, 0, 0);
        for until in &self.rung_sizes {
            let of_rung: u64 = self.split.develop[seen..*until].iter().map(|session| table.calls(*session)).sum();
            calls += of_rung * (originals + varied) as u64;
            varied = kept_count(varied);
            seen = *until;
        }
        calls
    }

    /// Takes the results of the last round: for each conversation its session, and what it adds by policy and column.
    /// Conversations come in the order of the transcripts.
    pub fn record_totals<'a>(
        &mut self,
        table: &SessionTable,
        totals_by_session: impl IntoIterator<Item = (usize, &'a [Vec<Option<Accumulator>>])>,
    ) {
        let Some(sessions) = self.next_sessions().map(<[usize]>::to_vec) else { return };
        let (width, begin) = (self.criteria.columns.len(), self.finished_rungs.last().map_or(0, |rung| rung.sessions));
        for at in &self.alive {
            self.added[*at].resize(begin + sessions.len(), vec![None; width]);
        }
        for (session, added) in totals_by_session {
            let Some(place) = sessions.iter().position(|known| *known == session) else { continue };
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
        if self.next_sessions().is_some() {
            self.drop_worse_half();
        }
    }

    /// Returns the totals of a candidate over the sessions it was tried on, in the order of the columns.
    fn totals(&self, candidate: usize) -> Vec<Option<f64>> {
        let total = |(at, column): (usize, &crate::metrics::column::Column)| {
            column.total_of_all(self.added[candidate].iter().filter_map(|session| session[at]))
        };
        self.criteria.columns.iter().enumerate().map(total).collect()
    }

    /// Returns how far a candidate is from the conditions of the user and the default ones; 0 if it meets all.
    fn missed_by(&self, candidate: usize, totals: &[Option<f64>]) -> f64 {
        let is_unchanged = |other: &Candidate| other.is_original && other.original == self.candidates[candidate].original;
        let unchanged = self.candidates.iter().position(is_unchanged).map(|at| self.totals(at));
        let requests = self.calls.iter().take(self.added[candidate].len()).sum();
        let missed = |id: &str| {
            let column = self.criteria.columns.iter().position(|column| column.id == id)?;
            let unchanged = unchanged.as_ref().and_then(|unchanged| unchanged[column]);
            Some(sendable::missed_by(totals[column], unchanged, requests))
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
        let unchanged: Vec<usize> = allowed.iter().copied().filter(|at| self.candidates[*at].is_original).collect();
        let recommended = self.recommend(&front, &unchanged, &totals);
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
        let on_front = recommended.as_ref().map(|(at, _)| *at).filter(|at| front.contains(at));
        let compared = self.select_compared(&front, on_front, nearest, &totals);
        let chosen = |space: usize, parameter: usize| -> BTreeSet<u64> {
            self.points.iter().filter(|point| point.space == space).map(|point| point.choice[parameter]).collect()
        };
        let parameters = self.spaces.iter().enumerate();
        let sweep = Sweep {
            parameters: parameters.flat_map(|(at, space)| space.rows(|parameter| chosen(at, parameter))).collect(),
            objectives: objectives.clone(),
            conditions: self.conditions(),
            sessions: self.split.develop.len(),
            held_out: self.split.held_out.len(),
            rungs: self.finished_rungs.clone(),
            configurations: self.candidates.iter().enumerate().map(row).collect(),
            recommended: recommended.map(|(_, recommendation)| recommendation),
            nearest: nearest.map(|at| self.candidates[at].policy.name.clone()),
            sensitivity: sensitivity_rows(&self.spaces, &self.points, objectives, &self.first_totals),
            seed: self.seed,
            policy_calls: self.policy_calls,
        };
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

    fn recommend(&self, front: &[usize], unchanged: &[usize], totals: &[Vec<Option<f64>>]) -> Option<(usize, Recommendation)> {
        let objectives = &self.criteria.objectives;
        let member = |at: &usize| Member {
            policy: &self.candidates[*at].policy.name,
            is_unchanged: self.candidates[*at].is_original,
            totals: totals[*at][..objectives.len()].to_vec(),
        };
        let [front, unchanged] = [front, unchanged].map(|of| of.iter().map(member).collect::<Vec<_>>());
        let Choice { policy, instead_of, why } = recommend(objectives, &front, &unchanged)?;
        let chosen = self.candidates.iter().position(|candidate| candidate.policy.name == policy)?;
        let broken = self.criteria.columns.iter().position(|column| column.id == BROKEN_COLUMN);
        let broken = broken.and_then(|column| totals[chosen][column]).filter(|requests| *requests > 0.0);
        let warning = broken.map(|requests| {
            let requests = plural(requests as usize, "request");
            format!(" It breaks {requests}, which an API would refuse: --where '{BROKEN_COLUMN} == 0' excludes such policies.")
        });
        let recommendation = Recommendation {
            policy: policy.to_owned(),
            instead_of: instead_of.map(str::to_owned),
            toml: self.candidates[chosen].policy.to_toml(),
            why: why + warning.as_deref().unwrap_or_default(),
            neighbours: neighbours(objectives, &front, &member(&chosen)),
        };
        Some((chosen, recommendation))
    }

    /// Selects the final comparison: the original policies, the recommended one (or the nearest to the conditions), and as
    /// many members of the front as a table can show, evenly spaced along the first objective.
    fn select_compared(
        &self,
        front: &[usize],
        recommended: Option<usize>,
        nearest: Option<usize>,
        totals: &[Vec<Option<f64>>],
    ) -> BTreeSet<usize> {
        let mut along = front.to_vec();
        along.sort_by(|a, b| totals[*a][0].unwrap_or(f64::NAN).total_cmp(&totals[*b][0].unwrap_or(f64::NAN)).then(a.cmp(b)));
        let last = along.len().saturating_sub(1);
        let room = MAX_COMPARED.min(along.len());
        let spread = (0..room).map(|place| along[place * last / room.saturating_sub(1).max(1)]);
        let mut spread: BTreeSet<usize> = spread.collect();
        if let Some(recommended) = recommended
            && !spread.contains(&recommended)
        {
            // The recommended member replaces its neighbour in the table, so that both ends stay.
            let is_end = |at: &usize| along.first() == Some(at) || along.last() == Some(at);
            let place = |at: usize| along.iter().position(|member| *member == at).unwrap_or(0);
            let near = spread.iter().copied().filter(|at| !is_end(at));
            let nearest = near.min_by_key(|at| place(*at).abs_diff(place(recommended)));
            nearest.map(|at| spread.remove(&at));
            spread.insert(recommended);
        }
        let originals = (0..self.candidates.len()).filter(|at| self.candidates[*at].is_original);
        originals.chain(spread).chain(nearest).collect()
    }
}
