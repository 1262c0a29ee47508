//! How each policy is meant on the page: what it is called, whether it is chosen, and why it must not be used.

use std::collections::{HashMap, HashSet};

use crate::analysis::limits::Flaw;
use crate::analysis::study::KEEP_ALL;
use crate::analysis::verdict::{Choice, HarnessVerdict, Standing, Verdict, verdict};
use crate::metrics::metric::cost;
use crate::report::screen::remark;
use crate::results::Role;
use crate::results::saved::{Results, Summary, Sweep, Values};

/// What the policy that sends nothing old is called.
const LOWER_BOUND: &str = "lower bound of facts";

/// The roles of all policies of the results.
pub struct Roles<'a> {
    /// The policies that the answers name, each recommended, or the best one if nothing is proven; and what each is called.
    chosen: Vec<(&'a str, String)>,
    /// What `cost.ratio` compares with.
    pub baseline: &'a str,
    /// What the answer compares costs with.
    pub yardstick: Option<&'a str>,
    /// Its totals over the sessions of the plot: those that a sweep chose on.
    pub plotted_yardstick: Option<&'a Values>,
    /// Costs as shares of the yardstick's, and the intervals of these.
    changes: HashMap<&'a str, f64>,
    intervals: HashMap<&'a str, [f64; 2]>,
    /// The policies with their totals: the chosen one, those that may be used, those that must not, and what they are compared with.
    pub in_order: Vec<&'a Summary>,
    candidates: HashSet<&'a str>,
    unfit: HashMap<&'a str, &'static str>,
    sweep: Option<&'a Sweep>,
}

impl<'a> Roles<'a> {
    /// `harnesses` has one verdict for each harness, if there are several.
    pub fn new(results: &'a Results, harnesses: &'a [HarnessVerdict<'a>]) -> Self {
        let judged = verdict(results);
        match &results.sweep {
            Some(sweep) => Self::of_sweep(results, sweep, judged.as_ref()),
            None => Self::of_replay(results, harnesses, judged.as_ref()),
        }
    }

    /// What costs are compared with is the same for a replay and a sweep.
    fn compared(results: &'a Results, judged: Option<&Verdict<'a>>) -> Self {
        let yardstick = judged.and_then(|verdict| verdict.yardstick.policy);
        let standings = judged.iter().flat_map(|verdict| &verdict.standings);
        let own = yardstick.and_then(|yardstick| replayed(results).find(|summary| summary.policy == yardstick));
        let own_cost = own.and_then(|own| own.values.get(cost::RATIO)).filter(|own| *own > 0.0);
        let share = |summary: &'a Summary| Some((summary.policy.as_str(), summary.values.get(cost::RATIO)? / own_cost?));
        let of_sweep = results.sweep.as_ref().and_then(|sweep| sweep.yardstick.as_ref()).map(|row| &row.values);
        Self {
            baseline: judged.map_or(KEEP_ALL, |verdict| verdict.yardstick.study_baseline()),
            yardstick,
            plotted_yardstick: of_sweep.or(own.map(|own| &own.values)),
            changes: replayed(results).filter_map(share).collect(),
            intervals: standings.filter_map(|standing| Some((standing.policy(), standing.interval?))).collect(),
            chosen: Vec::new(),
            in_order: Vec::new(),
            candidates: HashSet::new(),
            unfit: HashMap::new(),
            sweep: results.sweep.as_ref(),
        }
    }

    /// By the verdict: see the guide's page `verdict`.
    fn of_replay(results: &'a Results, harnesses: &'a [HarnessVerdict<'a>], judged: Option<&Verdict<'a>>) -> Self {
        let standings = || judged.into_iter().flat_map(|verdict| &verdict.standings);
        let candidates = || standings().filter(|standing| standing.role == Role::Candidate);
        let bounds = replayed(results).filter(|summary| standings().all(|standing| standing.policy() != summary.policy));
        let named = |verdict: &Verdict<'a>| Some((verdict.chosen()?.policy(), praise(verdict.choice).to_owned()));
        let of_harness = |HarnessVerdict { part, verdict }: &HarnessVerdict<'a>| {
            named(verdict).map(|(policy, praise)| (policy, format!("{praise} for {}", part.format)))
        };
        let chosen: Vec<(&str, String)> = match harnesses {
            [] => judged.and_then(named).into_iter().collect(),
            several => several.iter().filter_map(of_harness).collect(),
        };
        let is_chosen = |policy: &str| chosen.iter().any(|(name, _)| *name == policy);
        Self {
            in_order: standings().map(|standing| standing.summary).chain(bounds).collect(),
            candidates: candidates().map(Standing::policy).collect(),
            unfit: candidates()
                .filter(|standing| !standing.flaws.is_empty() && !is_chosen(standing.policy()))
                .map(|standing| (standing.policy(), reason(standing)))
                .collect(),
            chosen,
            ..Self::compared(results, judged)
        }
    }

    /// By the conditions of the sweep.
    fn of_sweep(results: &'a Results, sweep: &'a Sweep, judged: Option<&Verdict<'a>>) -> Self {
        let chosen = sweep.recommended.as_ref().map(|best| best.policy.as_str());
        let candidates: HashSet<&str> = sweep.configurations.iter().map(|row| row.policy.as_str()).collect();
        let mut in_order: Vec<&Summary> = replayed(results).collect();
        let cost = |summary: &Summary| summary.values.get(cost::RATIO).unwrap_or(f64::INFINITY);
        let group = |summary: &Summary| match summary.policy.as_str() {
            policy if Some(policy) == chosen => 0,
            policy if candidates.contains(policy) => 1,
            _ => 2,
        };
        in_order.sort_by(|a, b| group(a).cmp(&group(b)).then(cost(a).total_cmp(&cost(b))));
        let refused = sweep.configurations.iter().filter(|row| !row.allowed);
        let praise = if sweep.held_out > 0 || sweep.keeps_unchanged() { "recommended" } else { "best, but not confirmed" };
        Self {
            chosen: chosen.map(|policy| (policy, praise.to_owned())).into_iter().collect(),
            in_order,
            candidates,
            unfit: refused.map(|row| (row.policy.as_str(), "breaks a condition")).collect(),
            ..Self::compared(results, judged)
        }
    }

    /// Whether an answer names a policy.
    pub fn is_chosen(&self, policy: &str) -> bool {
        self.chosen.iter().any(|(chosen, _)| *chosen == policy)
    }

    /// What a policy is called that answers name; empty for all others.
    pub fn praise(&self, policy: &str) -> String {
        let praises = self.chosen.iter().filter(|(chosen, _)| *chosen == policy).map(|(_, praise)| praise.as_str());
        praises.collect::<Vec<_>>().join("; ")
    }

    /// What the chosen policies are called together.
    pub fn praise_of_all(&self) -> &str {
        match &self.chosen[..] {
            [(_, praise)] => praise,
            _ => "in the answer for a harness",
        }
    }

    /// The policy that the only answer names.
    pub fn only_chosen(&self) -> Option<&'a str> {
        if let [(policy, _)] = &self.chosen[..] { Some(policy) } else { None }
    }

    /// The name of a policy for people: a configuration of a sweep is called by its settings.
    pub fn label<'b>(&self, policy: &'b str) -> &'b str {
        match Role::of(policy) {
            Role::DropAll => LOWER_BOUND,
            Role::Candidate => self.sweep.map_or(policy, |sweep| sweep.label(policy)),
            _ => Role::name_of(policy),
        }
    }

    /// Its cost as a share of that of the yardstick.
    pub fn cost_ratio(&self, policy: &str) -> Option<f64> {
        self.changes.get(policy).copied()
    }

    /// The interval of this share; `None` if there are too few sessions, and for the yardstick itself.
    pub fn cost_interval(&self, policy: &str) -> Option<[f64; 2]> {
        self.intervals.get(policy).copied().filter(|[low, high]| low < high)
    }

    /// What a bound is a bound of.
    pub fn bound(&self, policy: &str) -> &'static str {
        match Role::of(policy) {
            Role::KeepAll if !self.is_candidate(policy) => "keeps every fact: the upper bound",
            Role::DropAll => "sends nothing old, and keeps no fact",
            _ => "",
        }
    }

    /// Whether a policy can be chosen: it is no bound, no baseline and not the recorded session.
    pub fn is_candidate(&self, policy: &str) -> bool {
        self.candidates.contains(policy)
    }

    /// Why a policy must not be used.
    pub fn flaw(&self, policy: &str) -> Option<&'static str> {
        self.unfit.get(policy).copied()
    }

    /// CSS classes of a place that names a policy.
    pub fn class(&self, policy: &str) -> &'static str {
        match policy {
            _ if self.is_chosen(policy) => "chosen",
            _ if self.unfit.contains_key(policy) => "unfit",
            _ => "",
        }
    }
}

/// What the policy is called that an answer names.
fn praise(choice: Choice) -> &'static str {
    match choice {
        Choice::Ship => "recommended",
        Choice::NoYardstick => "best of these",
        _ => "best, but not proven",
    }
}

/// Why a policy must not be used: the page has more room than the screen.
fn reason(standing: &Standing) -> &'static str {
    if standing.flaws.first() == Some(&Flaw::NotYours) { "if the provider did this" } else { remark(standing) }
}

/// The summaries of policies, without the bounds of each.
fn replayed(results: &Results) -> impl Iterator<Item = &Summary> {
    results.summary.iter().filter(|summary| summary.bound_of.is_none())
}
