//! The first screen of a sweep: which settings to take.

mod table;

use super::super::number_format;
use super::{Check, Prose, Screen, Step, replay::money};
use crate::analysis::export::targets_of;
use crate::metrics::metric::{broken, cost, overflow, retention};
use crate::report::Layout;
use crate::results::saved::{ConfigurationRow, Objective, Results, Summary, Sweep, Unit, Values};
use crate::util::text::plural;

/// Returns the screen; `None` if nothing was replayed.
pub fn screen(results: &Results, sweep: &Sweep, layout: &Layout) -> Option<Screen> {
    let view = View { results, sweep };
    Some(Screen {
        scope: view.scope(),
        answer: view.answer(),
        table: table::table(&view, layout.style.width)?,
        checks: view.checks(),
        next: view.next(layout),
    })
}

struct View<'a> {
    results: &'a Results,
    sweep: &'a Sweep,
}

impl<'a> View<'a> {
    fn configuration(&self, policy: &str) -> Option<&'a ConfigurationRow> {
        self.sweep.configurations.iter().find(|row| row.policy == policy)
    }

    /// The values that are reported: on the held-out sessions, if there are any.
    fn reported(&self, policy: &str) -> Option<&'a Values> {
        let is_policy = |summary: &&Summary| summary.policy == policy && summary.bound_of.is_none();
        self.results.summary.iter().find(is_policy).map(|summary| &summary.values)
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

    fn answer(&self) -> Vec<Prose> {
        let Some(best) = &self.sweep.recommended else {
            let none = Prose::new("Take none of these: no configuration meets the conditions ");
            let nearest = self.sweep.nearest.as_deref();
            let nearest = nearest.map(|policy| Prose::new("Nearest to them is ").name(self.sweep.label(policy)).words("."));
            return [none.name(self.sweep.conditions.join(", ")).words(".")].into_iter().chain(nearest).collect();
        };
        let name = best.policy.as_str();
        if self.sweep.keeps_unchanged() {
            let first = Prose::new("Keep ").name(name).words(format!(" as it is: none of the others {}.", self.better()));
            return [first, self.described(name)].into_iter().chain(self.cheaper()).collect();
        }
        let take = match self.sweep.held_out {
            0 => "Nothing is confirmed, because no session was held out. The best on these sessions is ",
            _ => "Take ",
        };
        let take = Prose::new(take).name(self.sweep.label(name));
        let first = match &best.instead_of {
            Some(own) => take.words(": it is better than ").name(own.as_str()).words(" as it is."),
            None => take.words(": no policy meets the conditions as it is."),
        };
        vec![first, self.described(name)]
    }

    /// What a better configuration would do.
    fn better(&self) -> &'static str {
        let columns: Vec<&str> = self.sweep.objectives.iter().map(|Objective { column, .. }| &**column).collect();
        match columns[..] {
            [cost::RATIO, retention::HIT] => "costs less and keeps as many facts, or keeps more at the same cost",
            _ => "is better in one objective and not worse in the others",
        }
    }

    /// The next cheaper configuration on the front, for those who can do with fewer facts.
    fn cheaper(&self) -> Option<Prose> {
        let mut neighbours = self.sweep.recommended.iter().flat_map(|recommended| &recommended.neighbours);
        let policy = neighbours.find(|next| next.by == cost::RATIO)?.policy.as_str();
        let (usd, hit) = (self.value(policy, cost::USD)?, self.value(policy, retention::HIT)?);
        let values = format!(" costs {} and keeps {}.", money(usd), number_format::value(Unit::Share, Some(hit)));
        Some(Prose::new("If fewer facts are enough: ").name(self.sweep.label(policy)).words(values))
    }

    /// What the recommended configuration costs and keeps, and what the policy that it is to replace does.
    fn described(&self, policy: &str) -> Prose {
        let instead_of = self.sweep.recommended.as_ref().and_then(|best| best.instead_of.as_deref());
        let own = instead_of.or_else(|| self.configuration(policy).map(|row| row.of.as_str())).filter(|own| *own != policy);
        let other = |column: &str| own.and_then(|own| self.value(own, column));
        let mut parts: Vec<String> = Vec::new();
        if let Some(usd) = self.value(policy, cost::USD) {
            parts.push(format!("it costs {}", not(&money(usd), "", other(cost::USD).map(money))));
        }
        if let Some(hit) = self.value(policy, retention::HIT) {
            let share = |share: f64| number_format::value(Unit::Share, Some(share));
            let kept = not(&share(hit), " of the facts that the agent used again", other(retention::HIT).map(share));
            parts.push(format!("keeps {kept}"));
        }
        let refused = self.refused(policy);
        let last = match refused {
            0 => "no request is refused".to_owned(),
            some => {
                let caused = self.reported(policy).and_then(|values| values.get(broken::CAUSED));
                let blame = if caused == Some(0.0) { ", as they were recorded" } else { "" };
                format!("{} would be refused{blame}", plural(some, "request"))
            }
        };
        let sessions = match self.sweep.held_out {
            0 => format!("On the {} it was chosen on", plural(self.sweep.sessions, "session")),
            held_out => format!("On the {}", plural(held_out, "held-out session")),
        };
        let parts = if parts.is_empty() { last } else { format!("{}, and {last}", parts.join(", ")) };
        Prose::new(format!("{sessions}, {parts}."))
    }

    fn refused(&self, policy: &str) -> usize {
        self.reported(policy).map_or(0, refused)
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
        let dominated = self.recommended().and_then(|policy| self.configuration(policy)?.dominated);
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
    fn export_step(&self) -> Option<Step> {
        let of = &self.configuration(self.recommended()?)?.of;
        let form = targets_of(of).into_iter().find(|form| form.name == *of && form.unavailable.is_none())?;
        let command = format!("recompact export-settings --for {} -p policy.toml", form.name);
        Some(Step::new(command, "the configuration of the harness"))
    }

    fn next(&self, layout: &Layout) -> Vec<Step> {
        let invocation = &layout.invocation;
        let mut steps = Vec::new();
        if invocation.command != "report" && self.recommended().is_some() && !self.sweep.keeps_unchanged() {
            steps.push(Step::new(invocation.again("--save policy.toml"), "writes the file of the policy"));
            steps.push(Step::new(invocation.other("replay", "-p policy.toml"), "the policy beside no compaction"));
            steps.extend(self.export_step());
        }
        steps.push(Step::new(invocation.again("--show front,parameters,choice"), "some of the sections; --full: all of them"));
        steps.push(Step::new(invocation.again("--out sweep.html"), "the same with plots, for a browser"));
        steps
    }
}

/// `98.0% of the facts (not 99.4%)`; without the other value if there is none, or if both look the same.
fn not(own: &str, of: &str, other: Option<String>) -> String {
    let other = other.filter(|other| other != own).map(|other| format!(" (not {other})"));
    format!("{own}{of}{}", other.unwrap_or_default())
}

fn refused(values: &Values) -> usize {
    [broken::REQUESTS, overflow::FAILED_CALLS].iter().filter_map(|column| values.get(column)).sum::<f64>() as usize
}
