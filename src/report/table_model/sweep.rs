//! What a sweep found: what to take, the front it was taken from, what each parameter does, and how all of it was chosen.

mod plot;

use crate::results::saved::{ConfigurationRow, Neighbour, Objective, Results, SensitivityRow, Sweep, Unit};
use crate::util::text::plural;

use super::super::number_format;
use super::compare::title;
use super::{ColumnHeader, TableModel};

pub use plot::plot;

/// Members of the front, and parameters, that are shown before the rest is only counted.
const SHOWN: usize = 24;

/// Shown where any configuration in the table has some: a policy whose requests are refused is no policy to ship.
const FAILURES: [&str; 2] = ["broken.requests", "failed_calls"];

/// A sweep, and what its sheets need of the results.
struct Found<'a> {
    results: &'a Results,
    sweep: &'a Sweep,
}

/// The configuration to take, its neighbours on the front with what they would give and take, and the policies as they are.
pub fn recommended(results: &Results) -> Option<TableModel> {
    let found = Found::of(results)?;
    let sweep = found.sweep;
    let (name, neighbours) = match (&sweep.recommended, &sweep.nearest) {
        (Some(recommended), _) => (&recommended.policy, &recommended.neighbours[..]),
        (None, Some(nearest)) => (nearest, &[][..]),
        (None, None) => return None,
    };
    let own = found.configuration(name)?;
    let mut rows = vec![(own, None)];
    rows.extend(neighbours.iter().filter_map(|next| Some((found.configuration(&next.policy)?, Some(next)))));
    let shown: Vec<&str> = rows.iter().map(|(row, _)| row.policy.as_str()).collect();
    let plain = sweep.configurations.iter().filter(|row| row.policy == row.of && !shown.contains(&row.of.as_str()));
    let rows: Vec<_> = rows.iter().copied().chain(plain.map(|row| (row, None))).collect();
    let configurations: Vec<&ConfigurationRow> = rows.iter().map(|(row, _)| *row).collect();
    let columns = found.shown(&configurations);
    let mut heads = vec![ColumnHeader::names("policy"), ColumnHeader::words("better in")];
    heads.extend(columns.iter().map(|column| found.head(column)));
    heads.push(ColumnHeader::prose("settings"));
    let part = |row: &ConfigurationRow, next: Option<&Neighbour>| match next {
        _ if row.policy == *name && sweep.recommended.is_none() => "comes nearest".to_owned(),
        _ if row.policy == *name => "take this".to_owned(),
        Some(next) => next.by.to_string(),
        None => "as it is".to_owned(),
    };
    let rows = rows.iter().map(|(row, next)| {
        let mut cells = vec![row.policy.clone(), part(row, *next)];
        cells.extend(columns.iter().map(|column| {
            let value = found.value(column, row);
            match next.and_then(|next| next.differences.get(column)) {
                Some(difference) => format!("{value} ({})", found.difference(column, difference)),
                None => value,
            }
        }));
        cells.push(settings(row));
        cells
    });
    let mut below = Vec::new();
    if !neighbours.is_empty() {
        below.push("in parentheses: what the next ones on the front, in each objective, give and take".to_owned());
    }
    below.extend(sweep.objectives.iter().map(|objective| found.meaning(objective)));
    let title = if sweep.recommended.is_some() { "Recommended" } else { "Nothing to recommend: no configuration meets" };
    let measure = if sweep.recommended.is_some() { name.clone() } else { sweep.conditions.join(", ") };
    Some(TableModel { title: title.to_owned(), measure, heads, rows: rows.collect(), below })
}

/// The members of the front along the first objective.
pub fn front(results: &Results) -> Option<TableModel> {
    let found = Found::of(results)?;
    let first = found.sweep.objectives.first()?;
    let mut members: Vec<&ConfigurationRow> = found.sweep.configurations.iter().filter(|row| row.front).collect();
    let place = |row: &ConfigurationRow| row.values.get(&first.column).unwrap_or(f64::NAN);
    members.sort_by(|a, b| place(a).total_cmp(&place(b)));
    let columns = found.shown(&members);
    let mut heads = vec![ColumnHeader::names("policy")];
    heads.extend(columns.iter().map(|column| found.head(column)));
    heads.extend([ColumnHeader::numbers("P(dominated)"), ColumnHeader::prose("settings")]);
    let recommended = found.sweep.recommended.as_ref().map(|recommended| recommended.policy.as_str());
    let row = |row: &&ConfigurationRow| {
        let mark = if recommended == Some(row.policy.as_str()) { "*" } else { "" };
        let mut cells = vec![format!("{mark}{}", row.policy)];
        cells.extend(columns.iter().map(|column| found.value(column, row)));
        cells.extend([number_format::value(Unit::Share, row.dominated), settings(row)]);
        cells
    };
    let mut below = vec![
        "P(dominated): the share of draws of the sessions in which another configuration is at least as good in everything and \
         better in something, by more than its tolerance"
            .to_owned(),
    ];
    if members.iter().any(|row| row.dominated.is_none()) {
        below.push(format!(
            "{}: there are too few sessions to say so, or an objective is a largest value, of which draws say nothing",
            number_format::MISSING
        ));
    }
    if members.len() > SHOWN {
        below.push(format!("{} in -o json", plural(members.len() - SHOWN, "more member")));
    }
    let title = format!("The front: {} of {}", members.len(), plural(found.sweep.configurations.len(), "configuration"));
    let rows = members.iter().take(SHOWN).map(row).collect();
    Some(TableModel { title, measure: String::new(), heads, rows, below })
}

/// Parameters × objectives: how much of the variance goes with the parameter, and the means at its values.
pub fn sensitivity(results: &Results) -> Option<TableModel> {
    let found = Found::of(results)?;
    let row = |row: &SensitivityRow| {
        let unit = found.unit(&row.column);
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
    let mut heads = vec![ColumnHeader::names("policy"), ColumnHeader::names("parameter"), ColumnHeader::words("objective")];
    heads.extend([ColumnHeader::numbers("share"), ColumnHeader::prose("means")]);
    let below = vec![
        "share: of the objective's variance over the configurations, what goes with this parameter alone".to_owned(),
        "means: of the objective at each value, whatever the other parameters are".to_owned(),
    ];
    // Where nothing varies there is nothing to say.
    let telling = found.sweep.sensitivity.iter().filter(|row| row.share > 0.0);
    let rows = telling.map(row).collect();
    Some(TableModel { title: "What the parameters do".to_owned(), measure: String::new(), heads, rows, below })
}

/// Why this one, on what it was chosen, and on what it is reported.
pub fn chosen(results: &Results) -> Option<TableModel> {
    let Sweep { objectives, conditions, sessions, held_out, rungs, recommended, seed, policy_calls, .. } =
        results.sweep.as_ref()?;
    let tried = |(at, rung): (usize, &crate::results::saved::RungRow)| {
        let what = if at == 0 { plural(rung.configurations, "configuration") } else { rung.configurations.to_string() };
        format!("{what} on {}", plural(rung.sessions, "session"))
    };
    let objective = |objective: &Objective| {
        let way = if objective.better == crate::results::saved::Direction::Higher { "maximize" } else { "minimize" };
        let is_known =
            results.sweep.iter().flat_map(|sweep| &sweep.configurations).any(|row| row.values.get(&objective.column).is_some());
        match is_known {
            true => format!("{way} {} (differences up to {} do not count)", objective.column, tolerance(objective.epsilon)),
            false => format!("{way} {} (no configuration has a value, so it decides nothing)", objective.column),
        }
    };
    let reported = match held_out {
        0 => format!(
            "the same {} it was chosen on: the best of many looks better there than it is (--holdout 0.3 keeps some apart)",
            plural(*sessions, "session")
        ),
        held_out => format!("{} held out: nothing was chosen on them", plural(*held_out, "session")),
    };
    let rows = [
        ("why", recommended.as_ref().map(|recommended| recommended.why.clone()).unwrap_or_default()),
        ("objectives", objectives.iter().map(objective).collect::<Vec<_>>().join(", ")),
        ("conditions", conditions.join(", ")),
        ("tried", rungs.iter().enumerate().map(tried).collect::<Vec<_>>().join(", ")),
        ("replayed", format!("{} policy·calls", number_format::grouped(*policy_calls as f64, 0))),
        ("reported below", reported),
        ("seed", seed.to_string()),
    ];
    let rows = rows.into_iter().filter(|(_, what)| !what.is_empty()).map(|(name, what)| vec![name.to_owned(), what]).collect();
    let heads = vec![ColumnHeader::names("what"), ColumnHeader::prose("how")];
    Some(TableModel { title: "How it was chosen".to_owned(), measure: String::new(), heads, rows, below: vec![] })
}

/// The recommended policy, ready to be pasted.
pub fn toml(results: &Results) -> Option<TableModel> {
    let recommended = results.sweep.as_ref()?.recommended.as_ref()?;
    let title = "The recommended policy (--save FILE writes it, replay -p FILE runs it)".to_owned();
    Some(TableModel::verbatim(title, String::new(), recommended.toml.lines().map(str::to_owned), vec![]))
}

/// `micro.keep_recent=5 auto.threshold=40k`
fn settings(row: &ConfigurationRow) -> String {
    let setting = |(name, value): &(String, String)| format!("{name}={value}");
    match row.policy == row.of {
        true => "as it is".to_owned(),
        false => row.settings.iter().map(setting).collect::<Vec<_>>().join(" "),
    }
}

/// Three digits that tell something.
fn tolerance(epsilon: f64) -> String {
    if epsilon >= 100.0 { number_format::grouped(epsilon, 0) } else { number_format::grouped(epsilon, 3) }
}

impl<'a> Found<'a> {
    fn of(results: &'a Results) -> Option<Self> {
        results.sweep.as_ref().map(|sweep| Self { results, sweep })
    }

    fn configuration(&self, policy: &str) -> Option<&'a ConfigurationRow> {
        self.sweep.configurations.iter().find(|row| row.policy == policy)
    }

    /// The columns that are worth showing of these: objectives, those with conditions, and failures where there are any.
    fn shown(&self, rows: &[&ConfigurationRow]) -> Vec<String> {
        let mut columns: Vec<String> = self.sweep.objectives.iter().map(|objective| objective.column.to_string()).collect();
        let words = self.sweep.conditions.iter().filter_map(|condition| condition.split_whitespace().next());
        let any = |id: &&str| rows.iter().any(|row| row.values.get(id).is_some_and(|value| value > 0.0));
        for id in words.chain(FAILURES.into_iter().filter(any)) {
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
        let way = if objective.better == crate::results::saved::Direction::Higher { "more" } else { "less" };
        let about = self.results.column(&objective.column).map_or("", |column| &column.about);
        format!("{}: {way} is better; {about}", objective.column)
    }

    fn head(&self, id: &str) -> ColumnHeader {
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
