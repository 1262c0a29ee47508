//! Which of the replayed policies to ship. The guide's page `verdict` explains the rules to users.
//!
//! A policy is fit if an API refuses few of its requests, if it costs less than the baseline, and if few of the facts that the agent
//! used again are lost for good. Of the fit policies, those whose saving is proven come first. Of these the compromise between cost
//! and facts in context is chosen, as in a [sweep](super::sweep).

use super::sweep::{Member, is_sendable, minimax_choice};
use crate::metrics::column::Direction;
use crate::metrics::metric::{broken, cost, overflow, retention, tokens};
use crate::results::Role;
use crate::results::saved::{Objective, Results, Summary};

/// Largest share of the facts used again that a fit policy may lose for good. One in twenty is our choice: in recordings, policies that
/// clear or move tool results lose less, and policies that drop messages lose more.
pub const MAX_LOST: f64 = 0.05;

/// What to ship, and how each policy compares.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict<'a> {
    /// The policy that costs are compared with.
    pub baseline: &'a str,
    /// The chosen policy, the other fit ones, the unfit ones, each by cost; then the recorded session, then the baseline.
    pub standings: Vec<Standing<'a>>,
    pub choice: Choice,
}

/// One policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing<'a> {
    pub summary: &'a Summary,
    pub role: Role,
    /// Why it is not fit to be shipped; empty for the baseline and the recorded session.
    pub flaws: Vec<Flaw>,
    /// Whether the whole interval of its cost is below the cost of the baseline.
    pub is_proven: bool,
    /// Requests that are malformed as they were recorded, whatever a policy does; 0 if the results do not say.
    pub malformed_as_recorded: u64,
}

/// Why a policy is not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// An API would refuse too many of its requests, because the policy made them malformed.
    Malformed,
    /// Too many of its requests do not fit the context window.
    Overflows,
    /// It costs as much as the baseline, or more.
    CostsMore,
    /// It loses too many facts for good.
    LosesFacts,
    /// No conversation could be priced.
    NoCost,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Ship the first policy: its saving is proven.
    Ship,
    /// The first policy is the best fit one, but its saving may be chance.
    Unproven,
    /// No policy is fit.
    NoneFit,
    /// Only the baseline, the recorded session or bounds were replayed.
    NothingToChoose,
}

/// Judges the policies of a replay. `None` if there are no results.
pub fn verdict(results: &Results) -> Option<Verdict<'_>> {
    let baseline = baseline(results)?;
    let is_baseline = |summary: &Summary| summary.policy == baseline && summary.role() != Role::Oracle;
    let is_replayed = |summary: &&Summary| is_baseline(summary) || !summary.role().is_bound();
    let uncompacted = results.summary.iter().find(|summary| summary.role() == Role::KeepAll);
    let malformed_as_recorded = uncompacted.map_or(0, |summary| count(summary, broken::REQUESTS));
    let standing = |summary| Standing::new(summary, baseline, malformed_as_recorded);
    let mut standings: Vec<Standing> = results.summary.iter().filter(is_replayed).map(standing).collect();
    standings.sort_by(|a, b| {
        let place = |standing: &Standing| (standing.role, !standing.flaws.is_empty());
        place(a).cmp(&place(b)).then(a.cost_order().total_cmp(&b.cost_order()))
    });
    let candidates = standings.iter().filter(|standing| standing.role == Role::Candidate).count();
    let fit = standings.iter().filter(|standing| standing.is_fit()).count();
    let proven = standings[..fit].iter().any(|standing| standing.is_proven);
    let choice = match (candidates, fit) {
        (0, _) => Choice::NothingToChoose,
        (_, 0) => Choice::NoneFit,
        _ if proven => Choice::Ship,
        _ => Choice::Unproven,
    };
    if let Some(best) = compromise(&standings[..fit], proven) {
        standings[..=best].rotate_right(1);
    }
    Some(Verdict { baseline, standings, choice })
}

/// The baseline of a study; `keep-all`, which never compacts, if the results do not name one.
fn baseline(results: &Results) -> Option<&str> {
    let spec = results.study.as_ref().and_then(|study| study.spec.get("baseline")?.as_str());
    let named = results.comparisons.first().map(|row| row.against.as_str()).or(spec);
    let names = || results.summary.iter().filter(|summary| summary.role() != Role::Oracle).map(|summary| summary.policy.as_str());
    let keep_all = || names().find(|name| Role::of(name) == Role::KeepAll);
    names().find(|name| Some(*name) == named).or_else(keep_all).or_else(|| names().next())
}

/// Returns the index of the compromise between cost and facts, of those with a proven saving if any has one.
fn compromise(fit: &[Standing], only_proven: bool) -> Option<usize> {
    let objective = |column: &'static str, better| Objective { column: column.into(), better, epsilon: 0.0 };
    let objectives = [objective(cost::RATIO, Direction::Lower), objective(retention::HIT, Direction::Higher)];
    let member = |standing: &Standing| Member::new(&objectives, false, "", &standing.summary.values);
    let eligible: Vec<usize> = (0..fit.len()).filter(|at| fit[*at].is_proven || !only_proven).collect();
    let members: Vec<Member> = eligible.iter().map(|at| member(&fit[*at])).collect();
    // The baseline costs 1 and keeps everything.
    let baseline = Member { policy: "", is_unchanged: true, totals: vec![Some(1.0), Some(1.0)] };
    let range = [&members[..], &[baseline]].concat();
    minimax_choice(&objectives, &members, &range).map(|at| eligible[at])
}

impl<'a> Verdict<'a> {
    /// The policy that is named by the answer, if there is one.
    pub fn chosen(&self) -> Option<&Standing<'a>> {
        self.standings.first().filter(|_| matches!(self.choice, Choice::Ship | Choice::Unproven))
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
    fn new(summary: &'a Summary, baseline: &str, malformed_as_recorded: u64) -> Self {
        let role = if summary.policy == baseline { Role::Baseline } else { summary.role() };
        let is_proven = summary.intervals.entry(cost::RATIO).is_some_and(|[_, high]| *high < 1.0);
        let standing = Self { summary, role, flaws: Vec::new(), is_proven, malformed_as_recorded };
        let flaws = if role == Role::Candidate { standing.found_flaws() } else { Vec::new() };
        Self { flaws, ..standing }
    }

    fn found_flaws(&self) -> Vec<Flaw> {
        let requests = self.requests();
        let flaws = [
            (Flaw::Malformed, !is_sendable(self.malformed_by_policy(), requests)),
            (Flaw::Overflows, !is_sendable(self.overflows(), requests)),
            (Flaw::NoCost, self.cost_ratio().is_none()),
            (Flaw::CostsMore, self.cost_ratio().is_some_and(|ratio| ratio >= 1.0)),
            (Flaw::LosesFacts, self.lost().is_some_and(|lost| lost > MAX_LOST)),
        ];
        flaws.into_iter().filter(|(_, is_found)| *is_found).map(|(flaw, _)| flaw).collect()
    }

    /// The name of the policy.
    pub fn policy(&self) -> &'a str {
        &self.summary.policy
    }

    /// Whether it may be shipped.
    pub fn is_fit(&self) -> bool {
        self.role == Role::Candidate && self.flaws.is_empty()
    }

    fn cost_order(&self) -> f64 {
        self.cost_ratio().unwrap_or(f64::INFINITY)
    }

    /// Its cost as a share of the baseline's.
    pub fn cost_ratio(&self) -> Option<f64> {
        self.summary.values.get(cost::RATIO)
    }

    /// Share of the facts used again that are lost for good.
    pub fn lost(&self) -> Option<f64> {
        self.summary.values.get(retention::HARD)
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
