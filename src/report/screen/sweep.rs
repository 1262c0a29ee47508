//! The first screen of a sweep: which settings to take.

use super::super::number_format;
use super::{Check, Prose, Screen, ScreenTable, Step, replay::money};
use crate::metrics::metric::{broken, cost, overflow, retention};
use crate::report::Layout;
use crate::report::table_model::{ColumnHeader, TableModel, Tone};
use crate::results::saved::{ConfigurationRow, Results, Summary, Sweep, Unit, Values};
use crate::util::text::plural;

/// Most rows of the table.
const SHOWN: usize = 12;

/// Returns the screen; `None` if nothing was replayed.
pub fn screen(results: &Results, sweep: &Sweep, layout: &Layout) -> Option<Screen> {
    let view = View { results, sweep };
    let rows = view.rows();
    rows.first()?;
    Some(Screen {
        scope: view.scope(),
        answer: view.answer(),
        table: view.table(&rows),
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
            let nearest = nearest.map(|policy| Prose::new("Nearest to them is ").name(self.label(policy)).words("."));
            return [none.name(self.sweep.conditions.join(", ")).words(".")].into_iter().chain(nearest).collect();
        };
        let name = best.policy.as_str();
        if self.sweep.keeps_unchanged() {
            let first = Prose::new("Keep ")
                .name(name)
                .words(" as it is: no other configuration is better in one objective and not worse in another.");
            return vec![first, self.described(name)];
        }
        let take = Prose::new("Take ").name(self.label(name));
        let first = match &best.instead_of {
            Some(own) => take.words(": it is better than ").name(own.as_str()).words(" as it is."),
            None => take.words(": no policy meets the conditions as it is."),
        };
        vec![first, self.described(name)]
    }

    /// What a configuration costs and keeps, beside the unchanged policy.
    fn described(&self, policy: &str) -> Prose {
        let own = self.configuration(policy).map(|row| row.of.as_str()).filter(|own| *own != policy);
        let other = |column: &str| own.and_then(|own| self.value(own, column));
        let mut parts: Vec<String> = Vec::new();
        if let Some(usd) = self.value(policy, cost::USD) {
            parts.push(format!("it costs {}", not(money(usd), other(cost::USD).map(money))));
        }
        if let Some(hit) = self.value(policy, retention::HIT) {
            let share = |share: f64| number_format::value(Unit::Share, Some(share));
            let kept = not(share(hit), other(retention::HIT).map(share));
            parts.push(format!("keeps {kept} of the facts that the agent used again"));
        }
        let refused = self.refused(policy);
        parts.push(match refused {
            0 => "no request is refused".to_owned(),
            some => format!("{} would be refused", plural(some, "request")),
        });
        let last = parts.pop().unwrap_or_default();
        let sessions = match self.sweep.held_out {
            0 => format!("On the {} it was chosen on", plural(self.sweep.sessions, "session")),
            held_out => format!("On the {}", plural(held_out, "held-out session")),
        };
        Prose::new(format!("{sessions} {}, and {last}.", parts.join(", ")))
    }

    fn refused(&self, policy: &str) -> usize {
        self.reported(policy).map_or(0, refused)
    }

    /// The settings of a configuration, without the name of the policy if only one is swept.
    fn label(&self, policy: &str) -> String {
        let mut swept = self.sweep.parameters.iter().map(|parameter| parameter.of.as_str());
        let first = swept.next();
        let only = first.filter(|first| swept.all(|other| other == *first));
        let settings = only.and_then(|of| policy.strip_prefix(of)?.strip_prefix(' '));
        settings.unwrap_or(policy).to_owned()
    }

    /// The front, the policies as they are and the baseline, the cheapest first.
    fn rows(&self) -> Vec<&'a str> {
        let rows = self.results.summary.iter().filter(|summary| summary.bound_of.is_none());
        let is_shown = |policy: &str| policy != crate::analysis::study::BOUNDS[1];
        let mut rows: Vec<&str> = rows.map(|summary| summary.policy.as_str()).filter(|policy| is_shown(policy)).collect();
        let cost = |policy: &&str| self.value(policy, cost::RATIO).unwrap_or(f64::INFINITY);
        rows.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        if rows.len() > SHOWN {
            // The recommended one and what is the policy as it is stay.
            let is_needed = |policy: &str| {
                Some(policy) == self.recommended() || self.configuration(policy).is_none_or(|row| row.policy == row.of)
            };
            let step = rows.len().div_ceil(SHOWN);
            let kept = rows.iter().enumerate().filter(|(at, policy)| at % step == 0 || is_needed(policy));
            rows = kept.map(|(_, policy)| *policy).collect();
        }
        rows
    }

    fn table(&self, rows: &[&str]) -> ScreenTable {
        let has_held_out = self.sweep.held_out > 0;
        let mut headers = vec![ColumnHeader::names("configuration"), ColumnHeader::words("choice")];
        headers.extend(["cost", "change", "facts in context", "lost", "refused"].map(ColumnHeader::numbers));
        let mut ranks = vec![0, 1, 4, 2, 3, 7, 5];
        if has_held_out {
            headers.extend(["change on the others", "facts on the others"].map(ColumnHeader::numbers));
            ranks.extend([8, 6]);
        }
        let cells = |policy: &&str| {
            let share = |column: &str| number_format::value(Unit::Share, self.value(policy, column));
            let mut cells = vec![self.label(policy), self.choice(policy).to_owned()];
            cells.push(self.value(policy, cost::USD).map_or(number_format::MISSING.to_owned(), money));
            cells.push(super::replay::change(self.value(policy, cost::RATIO)));
            cells.extend([share(retention::HIT), share(retention::HARD), number_format::count(self.refused(policy) as u64)]);
            if has_held_out {
                let chosen_on = self.configuration(policy).map(|row| &row.values);
                cells.push(super::replay::change(chosen_on.and_then(|values| values.get(cost::RATIO))));
                cells.push(number_format::value(Unit::Share, chosen_on.and_then(|values| values.get(retention::HIT))));
            }
            cells
        };
        let tone = |policy: &&str| match self.choice(policy) {
            "take this" | "keep this" => Tone::Chosen,
            "no compaction" => Tone::Reference,
            _ => Tone::Plain,
        };
        let sessions = match self.sweep.held_out {
            0 => "All values are of the sessions that the configuration was chosen on.".to_owned(),
            held_out => format!(
                "Values are of the {}; on the others: the {} it was chosen on.",
                plural(held_out, "held-out session"),
                plural(self.sweep.sessions, "session")
            ),
        };
        let footnotes = vec![format!("change: of the cost, against no compaction. {sessions}")];
        let model = TableModel {
            title: "Configurations".to_owned(),
            subject: String::new(),
            headers,
            rows: rows.iter().map(cells).collect(),
            footnotes,
        };
        ScreenTable { tones: rows.iter().map(tone).collect(), ..ScreenTable::new(model, ranks, "front") }
    }

    fn choice(&self, policy: &str) -> &'static str {
        let neighbours = self.sweep.recommended.iter().flat_map(|recommended| &recommended.neighbours);
        let neighbour = |column: &str| neighbours.clone().any(|next| next.policy == policy && next.by == column);
        match self.configuration(policy) {
            _ if Some(policy) == self.recommended() && self.sweep.keeps_unchanged() => "keep this",
            _ if Some(policy) == self.recommended() => "take this",
            None => "no compaction",
            Some(row) if row.policy == row.of => "as it is",
            _ if neighbour(cost::RATIO) => "cheaper",
            _ if neighbour(retention::HIT) => "keeps more",
            _ => "",
        }
    }

    fn checks(&self) -> Vec<Check> {
        let mut checks = Vec::new();
        let Sweep { held_out, conditions, .. } = self.sweep;
        if !self.results.coverage.is_complete() {
            checks.push(Check::new("left-out", format!("only {} are in these results", self.results.coverage.line())));
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

    fn next(&self, layout: &Layout) -> Vec<Step> {
        let invocation = &layout.invocation;
        let mut steps = Vec::new();
        if invocation.command != "report" && self.recommended().is_some() && !self.sweep.keeps_unchanged() {
            steps.push(Step::new(invocation.again("--save policy.toml"), "writes the file of the policy"));
            steps.push(Step::new(invocation.other("replay", "-p policy.toml"), "the policy beside no compaction"));
        }
        steps.push(Step::new(invocation.again("--show front,parameters,choice"), "some of the sections; --full: all of them"));
        steps.push(Step::new(invocation.again("--out sweep.html"), "the same with plots, for a browser"));
        steps
    }
}

/// `$38.69, not $45.37`; without the other if both look the same.
fn not(own: String, other: Option<String>) -> String {
    match other {
        Some(other) if other != own => format!("{own}, not {other}"),
        _ => own,
    }
}

fn refused(values: &Values) -> usize {
    [broken::REQUESTS, overflow::FAILED_CALLS].iter().filter_map(|column| values.get(column)).sum::<f64>() as usize
}
