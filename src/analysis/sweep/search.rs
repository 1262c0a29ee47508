//! State machine of a search: what to replay next, and the results so far.

mod outcome;
mod trial;

use std::collections::{HashMap, HashSet};

use crate::engine::policy::Policy;
use crate::metrics::metric::{cost, overflow};
use crate::results::Role;
use crate::results::saved::{Accumulator, RungRow};

use self::trial::{Measured, Side, Trial};
use super::candidate::{Candidate, TriedSpace};
use super::criteria::Criteria;
use super::halving::{Ranking, better_half, kept_count, rung_sizes};
use super::objective::losses;
use super::rules::{self, Against, Rule};
use super::sessions::{SessionId, SessionTable, Split};

pub use self::outcome::SearchResult;

/// A search in progress.
pub struct Search {
    spaces: Vec<TriedSpace>,
    /// One for each candidate, in their order.
    trials: Vec<Trial>,
    /// What candidates are compared with; they are on no front.
    references: Vec<Trial>,
    criteria: Criteria,
    split: Split,
    seed: u64,
    /// Total number of sessions after each rung.
    rung_sizes: Vec<usize>,
    finished_rungs: Vec<RungRow>,
    /// The round on the held-out sessions is finished.
    is_held_out_tried: bool,
}

/// Replays to run: all of these policies on all conversations of these sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Number of the round, from 0.
    pub index: usize,
    pub sessions: HashSet<SessionId>,
    pub policies: Vec<Policy>,
}

/// The sessions of a round.
struct RoundSessions<'a> {
    side: Side,
    /// Number of sessions of this side that earlier rounds used.
    seen: usize,
    sessions: &'a [SessionId],
}

impl Search {
    /// Starts a search. `references` are policies that could run without any candidate: the cheapest one is the yardstick. `halves`: most
    /// candidates are tried on a part of the sessions only.
    pub fn new(
        candidates: Vec<Candidate>,
        spaces: Vec<TriedSpace>,
        references: Vec<Policy>,
        criteria: Criteria,
        split: Split,
        halves: bool,
        seed: u64,
    ) -> Self {
        let rung_sizes = rung_sizes(split.develop.len(), halves);
        let trials = candidates.into_iter().map(Trial::new).collect();
        let references = references.into_iter().map(|policy| Trial::new(Candidate::original(policy))).collect();
        let (finished_rungs, is_held_out_tried) = (Vec::new(), false);
        Self { spaces, trials, references, criteria, split, seed, rung_sizes, finished_rungs, is_held_out_tried }
    }

    /// Returns the objectives and conditions.
    pub fn criteria(&self) -> &Criteria {
        &self.criteria
    }

    /// Returns the sessions of the next round: those that the next rung adds, in the order of the split, then the held-out ones, on which
    /// the remaining candidates must meet the default conditions.
    fn next_sessions(&self) -> Option<RoundSessions<'_>> {
        let Split { develop, held_out } = &self.split;
        match self.rung_sizes.get(self.finished_rungs.len()) {
            Some(until) => {
                let seen = self.finished_rungs.last().map_or(0, |rung| rung.sessions);
                Some(RoundSessions { side: Side::Develop, seen, sessions: develop.get(seen..*until)? })
            }
            None if self.is_held_out_tried || held_out.is_empty() => None,
            None => Some(RoundSessions { side: Side::HeldOut, seen: 0, sessions: held_out }),
        }
    }

    /// Returns what to replay next; `None` when the search is complete.
    pub fn next_round(&self) -> Option<Round> {
        let sessions = self.next_sessions()?.sessions.iter().copied().collect();
        let policies = self.alive().chain(&self.references).map(|trial| trial.candidate.policy.clone()).collect();
        Some(Round { index: self.finished_rungs.len(), sessions, policies })
    }

    fn alive(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|trial| trial.is_alive)
    }

    /// Returns the total number of replayed calls, summed over configurations; it takes into account what halving drops.
    pub fn policy_calls(&self, table: &SessionTable) -> u64 {
        let originals = self.spaces.len() + self.references.len();
        let (mut varied, mut seen, mut calls) = (self.trials.len() - self.spaces.len(), 0, 0);
        for (rung, until) in self.rung_sizes.iter().enumerate() {
            if rung > 0 {
                varied = kept_count(varied);
            }
            calls += table.calls_of(&self.split.develop[seen..*until]) * (originals + varied) as u64;
            seen = *until;
        }
        calls + table.calls_of(&self.split.held_out) * (originals + varied) as u64
    }

    /// Takes the results of the last round: for each conversation its session, and what it adds by policy and column.
    /// Conversations come in the order of the transcripts.
    pub fn record_totals<'a>(
        &mut self,
        table: &SessionTable,
        totals_by_session: impl IntoIterator<Item = (SessionId, &'a [Vec<Option<Accumulator>>])>,
    ) {
        let Some(RoundSessions { side, seen, sessions }) = self.next_sessions() else { return };
        let (count, requests) = (sessions.len(), table.calls_of(sessions));
        let places: HashMap<SessionId, usize> = sessions.iter().copied().zip(seen..).collect();
        let columns = &self.criteria.columns;
        let alive = self.trials.iter_mut().filter(|trial| trial.is_alive).chain(&mut self.references);
        let mut measured: Vec<&mut Measured> = alive.map(|trial| trial.measured_on(side)).collect();
        for measured in &mut measured {
            measured.append(count, requests, columns);
        }
        for (session, added) in totals_by_session {
            let Some(place) = places.get(&session) else { continue };
            for (measured, added) in measured.iter_mut().zip(added) {
                measured.add(*place, columns, added);
            }
        }
        match side {
            Side::Develop => self.finish_rung(seen + count),
            Side::HeldOut => self.is_held_out_tried = true,
        }
    }

    /// Ends a rung, after which the candidates were tried on this number of sessions.
    fn finish_rung(&mut self, sessions: usize) {
        if self.finished_rungs.is_empty() {
            for trial in &mut self.trials {
                trial.first_totals = trial.develop.totals(&self.criteria.columns);
            }
        }
        self.finished_rungs.push(RungRow { sessions, configurations: self.alive().count() });
        if self.finished_rungs.len() < self.rung_sizes.len() {
            self.drop_worse_half();
        }
    }

    /// Drops the worse half of the varied policies; the originals stay.
    fn drop_worse_half(&mut self) {
        let is_varied = |trial: &Trial| trial.is_alive && !trial.candidate.is_original;
        let rankings: Vec<Ranking> =
            self.trials.iter().filter(|trial| is_varied(trial)).map(|trial| self.ranking(trial)).collect();
        let kept: HashSet<usize> = better_half(&rankings).into_iter().collect();
        let varied = self.trials.iter_mut().filter(|trial| is_varied(trial));
        for (place, trial) in varied.enumerate() {
            trial.is_alive = kept.contains(&place);
        }
    }

    fn ranking(&self, trial: &Trial) -> Ranking {
        let totals = trial.develop.totals(&self.criteria.columns);
        let missed_by = self.missed(trial, &totals).iter().map(|missed| missed.by).sum();
        Ranking { losses: losses(&self.criteria.objectives, totals), missed_by }
    }

    /// Returns the conditions of the user and the default ones that a candidate with these totals misses.
    fn missed(&self, trial: &Trial, totals: &[Option<f64>]) -> Vec<Missed<'_>> {
        let conditions = &self.criteria.conditions;
        let of_user = self.criteria.missed(totals);
        let guess = trial.candidate.policy.decided_by.is_some().then_some(Missed { column: rules::DECIDED_BY, by: 1.0 });
        let unchanged = self.unchanged(trial);
        let on_side = |side: fn(&Trial) -> &Measured, is_wanted: fn(&Rule) -> bool| {
            let total = move |trial: &Trial, column: &str| self.total(side(trial), column);
            let yardstick = self.yardstick().and_then(|yardstick| total(yardstick, cost::RATIO));
            let own = move |column: &str| total(trial, column);
            let unchanged = move |column: &str| total(unchanged?, column);
            let missed = rules::missed(side(trial).requests, yardstick, conditions, own, unchanged);
            let wanted = missed.filter(|(rule, _)| is_wanted(rule));
            wanted.map(|(rule, by)| Missed { column: rule.column(), by }).collect::<Vec<_>>()
        };
        let by_default = [on_side(|trial| &trial.develop, |_| true), on_side(|trial| &trial.held_out, Rule::holds_everywhere)];
        let all = of_user.into_iter().chain(guess).chain(by_default.concat());
        all.filter(|missed| missed.by > 0.0).collect()
    }

    fn total(&self, measured: &Measured, column: &str) -> Option<f64> {
        measured.total(&self.criteria.columns, self.criteria.position(column)?)
    }

    /// Returns what must be beaten: of what can run without any of the candidates, the cheapest.
    fn yardstick(&self) -> Option<&Trial> {
        let fits = |measured: &Measured| self.total(measured, overflow::FAILED_CALLS).unwrap_or(0.0) == 0.0;
        let can_run = |reference: &&Trial| {
            let is_bound = Role::of(&reference.candidate.policy.name) == Role::KeepAll;
            !is_bound || fits(&reference.develop) && fits(&reference.held_out)
        };
        let cost = |reference: &Trial| self.total(&reference.develop, cost::RATIO).unwrap_or(f64::INFINITY);
        self.references.iter().filter(can_run).min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// Returns the policy as it is, if only one is swept: of several, the user does not have all.
    fn unchanged(&self, of: &Trial) -> Option<&Trial> {
        let is_unchanged = |other: &&Trial| other.candidate.is_original && other.candidate.original == of.candidate.original;
        self.trials.iter().find(is_unchanged).filter(|_| self.spaces.len() == 1)
    }

    /// What the default conditions are about.
    fn against(&self) -> Against<'_> {
        let yardstick = self.yardstick().map(|yardstick| yardstick.candidate.policy.name.as_str());
        Against { yardstick, has_unchanged: self.spaces.len() == 1 }
    }
}

/// A condition that a candidate misses, and by how many steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Missed<'a> {
    /// The column of the condition.
    pub column: &'a str,
    pub by: f64,
}

#[cfg(test)]
mod tests;
