//! Which of the replayed policies to ship. The guide's page `verdict` explains the rules to users.
//!
//! A policy is fit if its user can switch it on, if an API refuses few of its requests, if it costs less than the
//! [yardstick](Yardstick), if few of the facts that the agent used again are lost for good, and if it cuts no instruction out of what
//! its user typed. Of the fit policies, those whose saving is proven come first. Of these the compromise between cost and facts in
//! context is chosen, as in a [sweep](super::sweep).

mod decision;
mod harness;
mod promise;
mod ties;
mod yardstick;

use std::collections::HashSet;

use super::sweep::{Member, minimax_choice};
use crate::metrics::column::Direction;
use crate::metrics::metric::{broken, cost, overflow, retention, tokens};
use crate::results::Role;
use crate::results::saved::{Objective, Results, Summary};

use super::limits::{Flaw, Limit, limits};
pub use decision::{Decision, decision};
pub use harness::{HarnessResults, HarnessVerdict, Way, by_harness, formats, harness_of, harness_verdicts, way, way_with};
pub use promise::{Promise, promise};
pub use ties::{Ties, Winner, ties};
pub use yardstick::Yardstick;

use yardstick::Intervals;

/// What to ship, and how each policy compares.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict<'a> {
    /// What costs are compared with.
    pub yardstick: Yardstick<'a>,
    /// The chosen policy, the other fit ones, the unfit ones, each by cost; then the recorded session, the yardstick and no
    /// compaction.
    pub standings: Vec<Standing<'a>>,
    pub choice: Choice,
}

/// One policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing<'a> {
    pub summary: &'a Summary,
    pub role: Role,
    /// What costs are compared with; `None` if there is nothing.
    yardstick: Option<&'a Summary>,
    /// Why it is not fit to be shipped; empty for the yardstick, the recorded session and no compaction that does not fit.
    pub flaws: Vec<Flaw>,
    /// The 95 % interval of its cost as a share of the yardstick's; `None` with fewer than six sessions.
    pub interval: Option<[f64; 2]>,
    /// Requests that are malformed as they were recorded, whatever a policy does; 0 if the results do not say.
    pub malformed_as_recorded: u64,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Ship the first policy: its saving is proven.
    Ship,
    /// The first policy is the best fit one, but its saving may be chance.
    Unproven,
    /// The first policy is the best fit one, but there is nothing to compare its cost with.
    NoYardstick,
    /// No policy is fit.
    NoneFit,
    /// Only the yardstick, the recorded session or bounds were replayed.
    NothingToChoose,
}

/// Judges the policies of a replay. `None` if there are no results.
pub fn verdict(results: &Results) -> Option<Verdict<'_>> {
    let yardstick = Yardstick::of(results)?;
    let intervals = Intervals::new(results, yardstick);
    let guesses = guesses(results);
    let (standings, choice) = judge(&results.summary, &yardstick, &guesses, |standing| intervals.of(standing.summary));
    Some(Verdict { yardstick, standings, choice })
}

/// The policies that their users cannot switch on.
fn guesses(results: &Results) -> HashSet<&str> {
    results.policies.iter().filter(|policy| policy.decided_by.is_some()).map(|policy| policy.name.as_str()).collect()
}

/// Applies the rules to these totals.
fn judge<'a>(
    summaries: &'a [Summary],
    yardstick: &Yardstick,
    guesses: &HashSet<&str>,
    interval: impl Fn(&Standing) -> Option<[f64; 2]>,
) -> (Vec<Standing<'a>>, Choice) {
    let reference = summaries.iter().find(|summary| yardstick.role_of(summary) == Role::Baseline);
    let uncompacted = summaries.iter().find(|summary| summary.role() == Role::KeepAll);
    let malformed_as_recorded = uncompacted.map_or(0, |summary| count(summary, broken::REQUESTS));
    let standing = |summary: &'a Summary| {
        let role = yardstick.role_of(summary);
        let plain = Standing { summary, role, yardstick: reference, flaws: vec![], interval: None, malformed_as_recorded };
        let is_candidate = role == Role::Candidate;
        let flaws = if is_candidate { plain.found_flaws(guesses.contains(plain.policy())) } else { Vec::new() };
        let judged = Standing { flaws, ..plain };
        Standing { interval: interval(&judged), ..judged }
    };
    let mut standings: Vec<Standing> = summaries.iter().filter(|summary| yardstick.has_row(summary)).map(standing).collect();
    standings.sort_by(|a, b| {
        let place = |standing: &Standing| (standing.role, !standing.flaws.is_empty());
        place(a).cmp(&place(b)).then(a.cost_order().total_cmp(&b.cost_order()))
    });
    let candidates = standings.iter().filter(|standing| standing.role == Role::Candidate).count();
    let fit = standings.iter().filter(|standing| standing.is_fit()).count();
    let proven = standings[..fit].iter().any(Standing::is_proven);
    let choice = match (candidates, fit) {
        (0, _) => Choice::NothingToChoose,
        (_, 0) => Choice::NoneFit,
        _ if reference.is_none() => Choice::NoYardstick,
        _ if proven => Choice::Ship,
        _ => Choice::Unproven,
    };
    if let Some(best) = compromise(&standings[..fit], reference, proven) {
        standings[..=best].rotate_right(1);
    }
    (standings, choice)
}

/// Returns the index of the compromise between cost and facts, of those with a proven saving if any has one.
fn compromise(fit: &[Standing], yardstick: Option<&Summary>, only_proven: bool) -> Option<usize> {
    let objective = |column: &'static str, better| Objective { column: column.into(), better, epsilon: 0.0 };
    let objectives = [objective(cost::RATIO, Direction::Lower), objective(retention::HIT, Direction::Higher)];
    let member = |summary: &Summary| Member::new(&objectives, false, "", &summary.values);
    let eligible: Vec<usize> = (0..fit.len()).filter(|at| fit[*at].is_proven() || !only_proven).collect();
    let members: Vec<Member> = eligible.iter().map(|at| member(fit[*at].summary)).collect();
    let range: Vec<Member> = members.iter().cloned().chain(yardstick.map(member)).collect();
    minimax_choice(&objectives, &members, &range).map(|at| eligible[at])
}

impl Choice {
    /// Whether the answer names the first policy.
    fn names_a_policy(self) -> bool {
        matches!(self, Self::Ship | Self::Unproven | Self::NoYardstick)
    }
}

impl<'a> Verdict<'a> {
    /// Returns the row of a policy.
    pub fn standing(&self, policy: &str) -> Option<&Standing<'a>> {
        self.standings.iter().find(|standing| standing.policy() == policy)
    }

    /// The policy that is named by the answer, if there is one.
    pub fn chosen(&self) -> Option<&Standing<'a>> {
        self.standings.first().filter(|_| self.choice.names_a_policy())
    }

    /// The candidates, the chosen one first.
    pub fn candidates(&self) -> impl Iterator<Item = &Standing<'a>> {
        self.standings.iter().filter(|standing| standing.role == Role::Candidate)
    }

    /// The other policies in this role.
    pub fn in_role(&self, role: Role) -> Option<&Standing<'a>> {
        self.standings.iter().find(|standing| standing.role == role)
    }
}

impl<'a> Standing<'a> {
    fn found_flaws(&self, is_guess: bool) -> Vec<Flaw> {
        let values = &self.summary.values;
        let total = |limit: &Limit| match limit.flaw {
            Flaw::Malformed => Some(self.malformed_by_policy() as f64),
            _ => values.get(limit.column),
        };
        let yardstick = self.yardstick.and_then(|yardstick| yardstick.values.get(cost::RATIO));
        let limits = limits(self.requests(), yardstick.filter(|ratio| *ratio > 0.0));
        let exceeded = limits.filter(|limit| total(limit).is_some_and(|total| limit.is_exceeded_by(total)));
        let others = [(Flaw::NotYours, is_guess), (Flaw::NoCost, values.get(cost::RATIO).is_none())];
        let others = others.into_iter().filter(|(_, is_found)| *is_found).map(|(flaw, _)| flaw);
        others.chain(exceeded.map(|limit| limit.flaw)).collect()
    }

    /// The name of the policy.
    pub fn policy(&self) -> &'a str {
        &self.summary.policy
    }

    /// Whether it may be shipped.
    pub fn is_fit(&self) -> bool {
        self.role == Role::Candidate && self.flaws.is_empty()
    }

    /// Whether the whole interval of its cost is below the cost of the yardstick.
    pub fn is_proven(&self) -> bool {
        self.interval.is_some_and(|[_, high]| high < 1.0)
    }

    fn cost_order(&self) -> f64 {
        self.summary.values.get(cost::RATIO).unwrap_or(f64::INFINITY)
    }

    /// Its cost as a share of the yardstick's; `None` if there is none.
    pub fn cost_ratio(&self) -> Option<f64> {
        self.against_yardstick(|summary| summary.values.get(cost::RATIO))
    }

    /// Divides a total by that of the yardstick.
    pub fn against_yardstick(&self, total: impl Fn(&Summary) -> Option<f64>) -> Option<f64> {
        let theirs = total(self.yardstick?).filter(|theirs| *theirs > 0.0)?;
        Some(total(self.summary)? / theirs)
    }

    /// Its cost and that of the yardstick in dollars, if both are known.
    pub fn dollars(&self) -> Option<(f64, f64)> {
        let usd = |summary: &Summary| summary.values.get(cost::USD).filter(|usd| *usd > 0.0);
        Some((usd(self.summary)?, usd(self.yardstick.filter(|_| self.role != Role::Baseline)?)?))
    }

    /// Share of the facts used again that are lost for good.
    pub fn lost(&self) -> Option<f64> {
        self.summary.values.get(retention::HARD)
    }

    /// Number of the user's instructions that it cut out of typed texts.
    pub fn cut_instructions(&self) -> u64 {
        count(self.summary, retention::RULES_CUT)
    }

    /// Number of requests.
    pub fn requests(&self) -> u64 {
        count(self.summary, tokens::CALLS)
    }

    /// Requests that an API would refuse as malformed.
    pub fn malformed(&self) -> u64 {
        count(self.summary, broken::REQUESTS)
    }

    /// Those of them that the policy made so.
    pub fn malformed_by_policy(&self) -> u64 {
        self.malformed().saturating_sub(self.malformed_as_recorded)
    }

    /// Requests that do not fit the context window.
    pub fn overflows(&self) -> u64 {
        count(self.summary, overflow::FAILED_CALLS)
    }

    /// Requests that would be refused for either reason.
    pub fn refused(&self) -> u64 {
        self.malformed().saturating_add(self.overflows())
    }
}

fn count(summary: &Summary, column: &str) -> u64 {
    summary.values.get(column).map_or(0, |count| count as u64)
}

#[cfg(test)]
mod tests;
