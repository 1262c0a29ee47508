//! Results of a sweep: the recommendation, the Pareto front, the effect of each parameter, and how the choice was made.

mod plot;

use crate::analysis::sweep::UNSENDABLE;
use crate::results::condition::Condition;
use crate::results::saved::{ConfigurationRow, Neighbour, Objective, Results, SensitivityRow, Sweep, Unit};
use crate::util::text::plural;

use super::super::number_format;
use super::compare::title;
use super::{ColumnHeader, TableModel};

pub use plot::plot;

/// Maximum members of the front that are shown; the rest is only counted.
const SHOWN: usize = 24;

/// A sweep and the results it belongs to.
struct SweepView<'a> {
    results: &'a Results,
    sweep: &'a Sweep,
}

/// The recommended configuration, its neighbours on the front with their differences, and the current policies.
pub fn recommended(results: &Results) -> Option<TableModel> {
    let view = SweepView::new(results)?;
    let sweep = view.sweep;
    let (name, neighbours) = match (&sweep.recommended, &sweep.nearest) {
        (Some(recommended), _) => (&recommended.policy, &recommended.neighbours[..]),
        (None, Some(nearest)) => (nearest, &[][..]),
        (None, None) => return None,
    };
    let first = view.configuration(name)?;
    let mut rows = vec![(first, None)];
    rows.extend(neighbours.iter().filter_map(|next| Some((view.configuration(&next.policy)?, Some(next)))));
    let shown: Vec<&str> = rows.iter().map(|(row, _)| row.policy.as_str()).collect();
    let current = sweep.configurations.iter().filter(|row| row.policy == row.of && !shown.contains(&row.of.as_str()));
    let rows: Vec<_> = rows.iter().copied().chain(current.map(|row| (row, None))).collect();
    let configurations: Vec<&ConfigurationRow> = rows.iter().map(|(row, _)| *row).collect();
    let columns = view.shown_columns(&configurations);
    let mut headers = vec![ColumnHeader::names("policy"), ColumnHeader::words("choice")];
    headers.extend(columns.iter().map(|column| view.header(column)));
    headers.push(ColumnHeader::prose("settings"));
    let choice = |row: &ConfigurationRow, next: Option<&Neighbour>| match next {
        _ if row.policy == *name && sweep.recommended.is_none() => "nearest".to_owned(),
        _ if row.policy == *name && sweep.keeps_unchanged() => "keep".to_owned(),
        _ if row.policy == *name => "recommended".to_owned(),
        Some(next) => format!("better {}", next.by),
        None => "current".to_owned(),
    };
    let rows = rows.iter().map(|(row, next)| {
        let mut cells = vec![row.policy.clone(), choice(row, *next)];
        cells.extend(columns.iter().map(|column| {
            let value = view.value(column, row);
            match next.and_then(|next| next.differences.get(column)) {
                Some(difference) => format!("{value} ({})", view.difference(column, difference)),
                None => value,
            }
        }));
        cells.push(settings(row));
        cells
    });
    let mut footnotes = Vec::new();
    if !neighbours.is_empty() {
        footnotes.push("better …: the next configuration on the front in that objective; in parentheses: its differences from the recommended one".to_owned());
    }
    footnotes.extend(sweep.objectives.iter().map(|objective| view.meaning(objective)));
    let title = match &sweep.recommended {
        Some(_) if sweep.keeps_unchanged() => "Keep what you have",
        Some(_) => "Recommended",
        None => "No recommendation: no configuration meets",
    };
    let subject = if sweep.recommended.is_some() { name.clone() } else { sweep.conditions.join(", ") };
    Some(TableModel { title: title.to_owned(), subject, headers, rows: rows.collect(), footnotes })
}

/// The members of the front, sorted by the first objective.
pub fn front(results: &Results) -> Option<TableModel> {
    let view = SweepView::new(results)?;
    let first = view.sweep.objectives.first()?;
    let mut members: Vec<&ConfigurationRow> = view.sweep.configurations.iter().filter(|row| row.front).collect();
    let position = |row: &ConfigurationRow| row.values.get(&first.column).unwrap_or(f64::NAN);
    members.sort_by(|a, b| position(a).total_cmp(&position(b)));
    let columns = view.shown_columns(&members);
    let mut headers = vec![ColumnHeader::names("policy")];
    headers.extend(columns.iter().map(|column| view.header(column)));
    headers.extend([ColumnHeader::numbers("chance another is better"), ColumnHeader::prose("settings")]);
    let recommended = view.sweep.recommended.as_ref().map(|recommended| recommended.policy.as_str());
    let row = |row: &&ConfigurationRow| {
        let mark = if recommended == Some(row.policy.as_str()) { "*" } else { "" };
        let mut cells = vec![format!("{mark}{}", row.policy)];
        cells.extend(columns.iter().map(|column| view.value(column, row)));
        cells.extend([number_format::value(Unit::Share, row.dominated), settings(row)]);
        cells
    };
    let mut footnotes = vec![
        "chance another is better: the share of bootstrap resamples of the sessions in which another configuration is at least as \
         good in all objectives and better in one, by more than the tolerance"
            .to_owned(),
    ];
    if members.iter().any(|row| row.dominated.is_none()) {
        footnotes.push(format!(
            "{}: there are too few sessions, or an objective is a maximum, for which resampling does not work",
            number_format::MISSING
        ));
    }
    if members.len() > SHOWN {
        footnotes.push(format!("{} in -o json", plural(members.len() - SHOWN, "more member")));
    }
    let title = format!("Pareto front: {} of {}", members.len(), plural(view.sweep.configurations.len(), "configuration"));
    let rows = members.iter().take(SHOWN).map(row).collect();
    Some(TableModel { title, subject: String::new(), headers, rows, footnotes })
}

/// Parameters × objectives: the share of the variance that a parameter explains alone, and the mean at each of its
/// values.
pub fn sensitivity(results: &Results) -> Option<TableModel> {
    let view = SweepView::new(results)?;
    let row = |row: &SensitivityRow| {
        let unit = view.unit(&row.column);
        let mean = |(value, mean): &(String, f64)| format!("{value}: {}", number_format::value(unit, Some(*mean)));
        let means = row.means.iter().map(mean).collect::<Vec<_>>().join(", ");
        vec![
            row.of.clone(),
            row.parameter.clone(),
            row.column.to_string(),
            number_format::value(Unit::Share, Some(row.share)),
            means,
        ]
    };
    let mut headers = vec![ColumnHeader::names("policy"), ColumnHeader::names("parameter"), ColumnHeader::words("objective")];
    headers.extend([ColumnHeader::numbers("share"), ColumnHeader::prose("means")]);
    let footnotes = vec![
        "share: the share of the objective's variance over the configurations that this parameter explains alone".to_owned(),
        "means: the mean of the objective at each value, over all values of the other parameters".to_owned(),
    ];
    // Parameters without any effect are left out.
    let with_effect = view.sweep.sensitivity.iter().filter(|row| row.share > 0.0);
    let rows = with_effect.map(row).collect();
    Some(TableModel { title: "Effect of each parameter".to_owned(), subject: String::new(), headers, rows, footnotes })
}

/// Why this configuration was chosen, on which sessions, and on which sessions it is reported.
pub fn chosen(results: &Results) -> Option<TableModel> {
    let Sweep { objectives, conditions, sessions, held_out, rounds, recommended, seed, policy_calls, .. } =
        results.sweep.as_ref()?;
    let tried = |(index, rung): (usize, &crate::results::saved::RungRow)| {
        let configurations =
            if index == 0 { plural(rung.configurations, "configuration") } else { rung.configurations.to_string() };
        format!("{configurations} on {}", plural(rung.sessions, "session"))
    };
    let objective = |objective: &Objective| {
        let direction = if objective.better == crate::results::saved::Direction::Higher { "maximize" } else { "minimize" };
        let is_known =
            results.sweep.iter().flat_map(|sweep| &sweep.configurations).any(|row| row.values.get(&objective.column).is_some());
        if is_known {
            format!("{direction} {} (differences up to {} do not count)", objective.column, tolerance(objective.epsilon))
        } else {
            format!("{direction} {} (no configuration has a value, so it decides nothing)", objective.column)
        }
    };
    let reported = match held_out {
        0 => format!(
            "the same {} it was chosen on: there, the best of many looks better than it is (--holdout 0.3 holds some sessions out)",
            plural(*sessions, "session")
        ),
        held_out => format!("{} held out: nothing was chosen on them", plural(*held_out, "session")),
    };
    let rows = [
        ("why", recommended.as_ref().map(|recommended| recommended.why.clone()).unwrap_or_default()),
        ("objectives", objectives.iter().map(objective).collect::<Vec<_>>().join(", ")),
        ("conditions", conditions.join(", ")),
        ("tried", rounds.iter().enumerate().map(tried).collect::<Vec<_>>().join(", ")),
        ("replayed", format!("{} calls × policies", number_format::grouped(*policy_calls as f64, 0))),
        ("reported below", reported),
        ("seed", seed.to_string()),
    ];
    let rows = rows.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| vec![name.to_owned(), text]).collect();
    let headers = vec![ColumnHeader::names("item"), ColumnHeader::prose("value")];
    Some(TableModel { title: "How it was chosen".to_owned(), subject: String::new(), headers, rows, footnotes: vec![] })
}

/// The TOML of the recommended policy.
pub fn toml(results: &Results) -> Option<TableModel> {
    let recommended = results.sweep.as_ref()?.recommended.as_ref()?;
    let title = "The recommended policy (--save FILE writes it, replay -p FILE runs it)".to_owned();
    Some(TableModel::verbatim(title, String::new(), recommended.toml.lines().map(str::to_owned), vec![]))
}

/// `micro.keep_recent_results=5 auto.threshold=40k`
fn settings(row: &ConfigurationRow) -> String {
    let setting = |(name, value): &(String, String)| format!("{name}={value}");
    if row.policy == row.of { "current".to_owned() } else { row.settings.iter().map(setting).collect::<Vec<_>>().join(" ") }
}

/// Formats a tolerance with three decimals; without decimals from 100 on.
fn tolerance(epsilon: f64) -> String {
    if epsilon >= 100.0 { number_format::grouped(epsilon, 0) } else { number_format::grouped(epsilon, 3) }
}

impl<'a> SweepView<'a> {
    fn new(results: &'a Results) -> Option<Self> {
        results.sweep.as_ref().map(|sweep| Self { results, sweep })
    }

    fn configuration(&self, policy: &str) -> Option<&'a ConfigurationRow> {
        self.sweep.configurations.iter().find(|row| row.policy == policy)
    }

    /// The columns to show for these rows: objectives, columns with conditions, and failures if there are any.
    fn shown_columns(&self, rows: &[&ConfigurationRow]) -> Vec<String> {
        let mut columns: Vec<String> = self.sweep.objectives.iter().map(|objective| objective.column.to_string()).collect();
        // Default conditions have another form; their columns are shown as all failures are.
        let conditions: Vec<Condition> = self.sweep.conditions.iter().filter_map(|written| written.parse().ok()).collect();
        let with_conditions = conditions.iter().map(|condition| &*condition.column);
        let is_above_zero = |id: &&str| rows.iter().any(|row| row.values.get(id).is_some_and(|value| value > 0.0));
        for id in with_conditions.chain(UNSENDABLE.into_iter().filter(is_above_zero)) {
            if !columns.iter().any(|column| column == id) {
                columns.push(id.to_owned());
            }
        }
        columns
    }

    fn unit(&self, id: &str) -> Unit {
        self.results.column(id).map_or(Unit::Ratio, |column| column.unit)
    }

    /// `cost.ratio: less is better; cost / baseline cost`
    fn meaning(&self, objective: &Objective) -> String {
        let better = if objective.better == crate::results::saved::Direction::Higher { "more" } else { "less" };
        let about = self.results.column(&objective.column).map_or("", |column| &column.about);
        format!("{}: {better} is better; {about}", objective.column)
    }

    fn header(&self, id: &str) -> ColumnHeader {
        ColumnHeader::numbers(&self.results.column(id).map_or_else(|| id.to_owned(), title))
    }

    fn value(&self, id: &str, row: &ConfigurationRow) -> String {
        number_format::value(self.unit(id), row.values.get(id))
    }

    fn difference(&self, id: &str, difference: f64) -> String {
        let shown = number_format::value(self.unit(id), Some(difference));
        if difference > 0.0 && !shown.starts_with('-') { format!("+{shown}") } else { shown }
    }
}
