//! The first screen of a sweep: which settings to take.

mod answer;
mod table;

use super::super::number_format;
use super::replay::calls;
use super::{Check, Prose, Screen, Step};
use crate::analysis::export::{Target, targets_of};
use crate::analysis::verdict::{Verdict, verdict};
use crate::metrics::metric::{broken, overflow};
use crate::report::{Invocation, Layout};
use crate::results::saved::{Results, Summary, Sweep, Unit, Values};
use crate::util::text::plural;

/// Returns the screen; `None` if nothing was replayed.
pub fn screen(results: &Results, sweep: &Sweep, layout: &Layout) -> Option<Screen> {
    let view = View { results, sweep, verdict: verdict(results)? };
    Some(Screen {
        scope: view.scope(),
        answer: answer::answer(&view),
        table: table::table(&view, layout.style.width)?,
        checks: view.checks(),
        changes: Vec::new(),
        next: view.next(layout),
    })
}

struct View<'a> {
    results: &'a Results,
    sweep: &'a Sweep,
    /// The verdict of the reported sessions.
    verdict: Verdict<'a>,
}

impl<'a> View<'a> {
    /// The values that are reported: on the held-out sessions, if there are any. Without them, a configuration that was not among the best
    /// has those of the search.
    fn reported(&self, policy: &str) -> Option<&'a Values> {
        let is_policy = |summary: &&Summary| summary.policy == policy && summary.bound_of.is_none();
        let whole = self.results.summary.iter().find(is_policy).map(|summary| &summary.values);
        let of_search = || self.sweep.configuration(policy).filter(|_| self.sweep.held_out == 0).map(|row| &row.values);
        whole.or_else(of_search)
    }

    fn value(&self, policy: &str, column: &str) -> Option<f64> {
        self.reported(policy)?.get(column)
    }

    fn recommended(&self) -> Option<&'a str> {
        self.sweep.recommended.as_ref().map(|recommended| recommended.policy.as_str())
    }

    fn scope(&self) -> Prose {
        let Sweep { sessions, held_out, configurations, parameters, .. } = self.sweep;
        let held_out = if *held_out > 0 { format!(" to choose on, {held_out} held out") } else { String::new() };
        let tried = plural(configurations.len(), "configuration");
        Prose::new(format!(
            "{}{held_out}; {tried} of {} tried",
            plural(*sessions, "session"),
            plural(parameters.len(), "setting")
        ))
    }

    fn export_form(&self) -> Option<&'static Target> {
        let of = &self.sweep.configuration(self.recommended()?)?.of;
        targets_of(of).into_iter().find(|form| form.name == *of && form.unavailable.is_none())
    }

    fn checks(&self) -> Vec<Check> {
        let mut checks = Vec::new();
        let Sweep { held_out, conditions, .. } = self.sweep;
        if !self.results.coverage.is_complete() {
            checks.push(Check::new("left-out", format!("only {} in these results", self.results.coverage.line_are())));
        }
        match held_out {
            0 => checks.push(Check::new(
                "choice",
                "no session was held out, so the best of many looks better here than it is (--holdout 0.3 holds some out)",
            )),
            few if *few < crate::results::stats::MIN_SESSIONS => {
                checks.push(Check::new("choice", format!("only {} confirm the choice", plural(*few, "held-out session"))));
            }
            _ => {}
        }
        let dominated = self.recommended().and_then(|policy| self.sweep.configuration(policy)?.dominated);
        if let Some(chance) = dominated {
            let chance = number_format::value(Unit::Share, Some(chance));
            checks.push(Check::new(
                "front",
                format!("in {chance} of the resamples another configuration is at least as good in everything"),
            ));
        }
        let text = Prose::new("conditions, which --where changes: ").name(conditions.join(", "));
        checks.push(Check { text, section: "choice" });
        if let Some(gap) = crate::report::table_model::cost_check::coverage_gap(self.results) {
            checks.push(Check::new("billing", gap));
        }
        checks
    }

    /// Proposes to write the configuration of the harness, if the recommended policy is made from its preset.
    fn export_step(&self, invocation: &Invocation) -> Option<Step> {
        let harness = self.export_form()?.name.clone();
        let command = match invocation.is_python() {
            true => format!("recompact.export_settings({harness:?}, results)"),
            false => format!("recompact export-settings --for {harness} -p policy.toml"),
        };
        Some(Step::new(command, "the configuration of the harness"))
    }

    fn next(&self, layout: &Layout) -> Vec<Step> {
        let invocation = &layout.invocation;
        let mut steps = Vec::new();
        if invocation.is_python() {
            if self.recommended().is_some() {
                steps.push(Step::new("results.recommended.toml", "the file of the policy, for recompact.replay"));
                steps.extend(self.export_step(invocation).filter(|_| !self.sweep.keeps_unchanged()));
            }
            steps.extend(calls("sweep.html"));
            return steps;
        }
        if invocation.works_on_transcripts() && self.recommended().is_some() && !self.sweep.keeps_unchanged() {
            steps.push(Step::new(invocation.again("--save policy.toml"), "writes the file of the policy"));
            steps.push(Step::new(invocation.other("replay", "-p policy.toml"), "the policy beside what you have"));
            steps.extend(self.export_step(invocation));
        }
        steps.push(Step::new(invocation.again("--show front,parameters,choice"), "some of the sections; --full: all of them"));
        steps.push(Step::new(invocation.again("--out sweep.html"), "the same with plots, for a browser"));
        steps
    }

    fn refused(&self, policy: &str) -> usize {
        self.reported(policy).map_or(0, refused)
    }
}

fn refused(values: &Values) -> usize {
    [broken::REQUESTS, overflow::FAILED_CALLS].iter().filter_map(|column| values.get(column)).sum::<f64>() as usize
}
