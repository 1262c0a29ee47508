//! What changed between two results: by policy, column and conversation. Only conversations that both have are compared.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::engine::policy::Policy;
use crate::metrics::column_map::json_number;
use crate::metrics::metric::{broken, cost, overflow, retention, tokens};
use crate::results::Role;
use crate::results::saved::{Column, ColumnId, Direction, Results, Row, Unit, Values, summarise};

/// The columns of the first screen.
pub const KEY_COLUMNS: [&str; 6] =
    [cost::USD, tokens::SENT, retention::HIT, retention::HARD, broken::REQUESTS, overflow::FAILED_CALLS];

/// Differences up to this share of a value are rounding: totals are sums of floating-point numbers.
const ROUNDING: f64 = 1e-9;

/// The differences of two results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changes {
    /// Versions of the programs that computed them, before and after, if they differ; `None` is a version that is not known. Programs
    /// of two versions may count differently.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<[Option<String>; 2]>,
    /// Number of conversations in both.
    pub conversations: usize,
    /// Conversations that only one of them has.
    pub only_before: Vec<String>,
    pub only_after: Vec<String>,
    pub policies: Vec<PolicyChange>,
    /// Policies that only one of them has.
    pub policies_before: Vec<String>,
    pub policies_after: Vec<String>,
    /// Conversations by policy, the largest change of cost first; without a price, of tokens.
    pub moved: Vec<Moved>,
}

/// What changed for one policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyChange {
    pub policy: String,
    /// Its name in the later results, if it is another: each has one policy that the other has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Lines of the policy file: those taken out, then those put in, each with its sign.
    pub settings: Vec<String>,
    /// All columns whose total changed.
    pub columns: Vec<ColumnChange>,
    /// The totals of [`KEY_COLUMNS`], changed or not.
    pub key: Vec<ColumnChange>,
}

/// A column before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnChange {
    pub column: ColumnId,
    pub unit: Unit,
    pub better: Direction,
    #[serde(serialize_with = "json_number")]
    pub before: Option<f64>,
    #[serde(serialize_with = "json_number")]
    pub after: Option<f64>,
}

/// A conversation under a policy whose cost or tokens changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved {
    pub policy: String,
    pub transcript: String,
    pub conversation: String,
    #[serde(flatten)]
    pub change: ColumnChange,
    /// Facts in context, before and after.
    pub hit: [Option<f64>; 2],
}

/// Compares two results.
pub fn changes(before: &Results, after: &Results) -> Changes {
    let (old, new) = (places(before), places(after));
    let shared: BTreeSet<_> = old.intersection(&new).copied().collect();
    let name = |(transcript, conversation): &(&str, &str)| format!("{transcript} {conversation}");
    let rows = |results: &Results| -> Vec<Row> {
        results.rows.iter().filter(|row| row.bound_of.is_none() && shared.contains(&place(row))).cloned().collect()
    };
    let (old_rows, new_rows) = (rows(before), rows(after));
    let (old_totals, new_totals) = (totals(before, &old_rows), totals(after, &new_rows));
    let only = |of: &BTreeMap<String, Values>, others: &BTreeMap<String, Values>| -> Vec<String> {
        of.keys().filter(|policy| !others.contains_key(*policy) && !Role::of(policy).is_bound()).cloned().collect()
    };
    let mut policies_before = only(&old_totals, &new_totals);
    let mut policies_after = only(&new_totals, &old_totals);
    let mut pairs: Vec<(String, String)> = old_totals
        .keys()
        .filter(|policy| new_totals.contains_key(*policy))
        .map(|policy| (policy.clone(), policy.clone()))
        .collect();
    pairs.retain(|(policy, _)| !Role::of(policy).is_bound());
    if let ([one], [other]) = (&policies_before[..], &policies_after[..]) {
        pairs.push((one.clone(), other.clone()));
        (policies_before, policies_after) = (Vec::new(), Vec::new());
    }
    let columns: Vec<&Column> = before.columns.iter().filter(|column| after.column(&column.id).is_some()).collect();
    let policies = pairs.iter().map(|(one, other)| {
        let of = |column: &Column| ColumnChange::new(column, &old_totals[one], &new_totals[other]);
        PolicyChange {
            policy: one.clone(),
            now: (one != other).then(|| other.clone()),
            settings: settings(toml(before, one), toml(after, other)),
            columns: columns.iter().map(|column| of(column)).filter(ColumnChange::is_change).collect(),
            key: KEY_COLUMNS
                .iter()
                .filter_map(|id| columns.iter().find(|column| column.id == *id))
                .map(|column| of(column))
                .collect(),
        }
    });
    let programs = [before, after].map(|results| results.program.as_ref().map(|program| program.version.clone()));
    Changes {
        programs: (programs[0] != programs[1]).then_some(programs),
        conversations: shared.len(),
        only_before: old.difference(&new).map(name).collect(),
        only_after: new.difference(&old).map(name).collect(),
        policies: policies.collect(),
        policies_before,
        policies_after,
        moved: moved(&columns, &pairs, &old_rows, &new_rows),
    }
}

fn place(row: &Row) -> (&str, &str) {
    (&row.transcript, &row.conversation)
}

fn places(results: &Results) -> BTreeSet<(&str, &str)> {
    results.rows.iter().map(place).collect()
}

/// The totals of each policy over these rows.
fn totals(results: &Results, rows: &[Row]) -> BTreeMap<String, Values> {
    summarise(&results.columns, rows).into_iter().map(|summary| (summary.policy, summary.values)).collect()
}

fn toml<'a>(results: &'a Results, policy: &str) -> &'a str {
    results.policies.iter().find(|text| text.name == policy).map_or("", |text| &text.toml)
}

/// The lines that only one of two policy files has. Names and remarks are not compared, and an old name of a setting is its present
/// one.
fn settings(before: &str, after: &str) -> Vec<String> {
    let is_setting = |line: &&str| !line.trim().is_empty() && !line.starts_with("name =") && !line.starts_with("about =");
    // A line may be in several layers, so it is named with its layer.
    let named = |toml: &str| {
        let mut layer = String::new();
        let mut named: Vec<String> = Vec::new();
        for line in toml.lines().filter(is_setting) {
            if line.starts_with('[') {
                layer.clear();
            }
            if let Some(id) = line.strip_prefix("id = ") {
                layer = format!("{}: ", id.trim_matches('"'));
            } else {
                named.push(format!("{layer}{line}"));
            }
        }
        named
    };
    let present = |toml: &str| Policy::parse(toml, "", &[]).map_or(toml.to_owned(), |policy| policy.to_toml());
    let (old, new) = (named(&present(before)), named(&present(after)));
    let only = |sign: char, of: &[String], others: &[String]| {
        let lines = of.iter().filter(|line| !others.contains(line)).map(|line| format!("{sign} {line}"));
        lines.collect::<Vec<_>>()
    };
    [only('-', &old, &new), only('+', &new, &old)].concat()
}

/// The rows whose cost changed; if no row has a price, those whose tokens changed.
fn moved(columns: &[&Column], pairs: &[(String, String)], before: &[Row], after: &[Row]) -> Vec<Moved> {
    let later: BTreeMap<(&str, &str, &str), &Row> =
        after.iter().map(|row| ((row.policy.as_str(), row.transcript.as_str(), row.conversation.as_str()), row)).collect();
    let now: BTreeMap<&str, &str> = pairs.iter().map(|(one, other)| (one.as_str(), other.as_str())).collect();
    let of_column = |id: &str| -> Vec<Moved> {
        let Some(column) = columns.iter().find(|column| column.id == id) else { return Vec::new() };
        let moved = before.iter().filter_map(|row| {
            let other = later.get(&(*now.get(row.policy.as_str())?, row.transcript.as_str(), row.conversation.as_str()))?;
            let change = ColumnChange::new(column, &row.values, &other.values);
            let hit = [row, other].map(|row| row.values.get(retention::HIT));
            let Row { policy, transcript, conversation, .. } = row.clone();
            change.is_change().then_some(Moved { policy, transcript, conversation, change, hit })
        });
        moved.collect()
    };
    let mut moved = of_column(cost::USD);
    if moved.is_empty() {
        moved = of_column(tokens::SENT);
    }
    let size = |moved: &Moved| moved.change.difference().map_or(0.0, f64::abs);
    moved.sort_by(|a, b| size(b).total_cmp(&size(a)));
    moved
}

impl ColumnChange {
    fn new(column: &Column, before: &Values, after: &Values) -> Self {
        let value = |values: &Values| values.get(&column.id);
        Self { column: column.id.clone(), unit: column.unit, better: column.better, before: value(before), after: value(after) }
    }

    /// Whether the two values differ by more than rounding.
    pub fn is_change(&self) -> bool {
        match (self.before, self.after) {
            (Some(before), Some(after)) => (after - before).abs() > ROUNDING * before.abs().max(after.abs()),
            (None, None) => false,
            _ => true,
        }
    }

    /// The later value minus the earlier one.
    pub fn difference(&self) -> Option<f64> {
        Some(self.after? - self.before?)
    }

    /// Whether the change is an improvement; `None` if there is no change, or no direction is better.
    pub fn is_better(&self) -> Option<bool> {
        let difference = self.difference().filter(|_| self.is_change())?;
        match self.better {
            Direction::Lower => Some(difference < 0.0),
            Direction::Higher => Some(difference > 0.0),
            Direction::Neither => None,
        }
    }
}

impl PolicyChange {
    /// The change of one of the [`KEY_COLUMNS`]; `None` if the results do not have it.
    pub fn of(&self, column: &str) -> Option<&ColumnChange> {
        self.key.iter().find(|change| change.column == column)
    }
}

#[cfg(test)]
mod tests;
