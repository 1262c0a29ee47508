//! What changed between two results: by policy, column and conversation. Only conversations that both have are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

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
    let (conversations_before, conversations_after) = (conversations(before), conversations(after));
    let shared: BTreeSet<_> = conversations_before.intersection(&conversations_after).copied().collect();
    let sides = Sides { before: Side::new(before, &shared), after: Side::new(after, &shared) };
    let Policies { pairs, only_before, only_after } = Policies::new(&sides);
    let columns: Vec<&Column> = before.columns.iter().filter(|column| after.column(&column.id).is_some()).collect();
    let programs = [before, after].map(|results| results.program.as_ref().map(|program| program.version.clone()));
    Changes {
        programs: (programs[0] != programs[1]).then_some(programs),
        conversations: shared.len(),
        only_before: conversations_before.difference(&conversations_after).map(ConversationKey::to_string).collect(),
        only_after: conversations_after.difference(&conversations_before).map(ConversationKey::to_string).collect(),
        policies: pairs.iter().map(|pair| pair.change(&sides, &columns)).collect(),
        policies_before: only_before,
        policies_after: only_after,
        moved: moved(&sides, &pairs, &columns),
    }
}

/// A conversation, by the name of its transcript and its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ConversationKey<'a> {
    transcript: &'a str,
    conversation: &'a str,
}

impl<'a> ConversationKey<'a> {
    fn of(row: &'a Row) -> Self {
        Self { transcript: &row.transcript, conversation: &row.conversation }
    }
}

impl fmt::Display for ConversationKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.transcript, self.conversation)
    }
}

fn conversations(results: &Results) -> BTreeSet<ConversationKey<'_>> {
    results.rows.iter().map(ConversationKey::of).collect()
}

/// The two results, without what is not compared.
struct Sides<'a> {
    before: Side<'a>,
    after: Side<'a>,
}

struct Side<'a> {
    results: &'a Results,
    /// Those of the shared conversations, without bounds of policies.
    rows: Vec<Row>,
    /// The totals of each policy over these rows.
    totals: BTreeMap<String, Values>,
}

impl<'a> Side<'a> {
    fn new(results: &'a Results, shared: &BTreeSet<ConversationKey>) -> Self {
        let is_compared = |row: &&Row| row.bound_of.is_none() && shared.contains(&ConversationKey::of(row));
        let rows: Vec<Row> = results.rows.iter().filter(is_compared).cloned().collect();
        let summaries = summarise(&results.columns, &rows).into_iter();
        Self { results, totals: summaries.map(|summary| (summary.policy, summary.values)).collect(), rows }
    }

    /// Returns the policies that are not bounds, sorted.
    fn policies(&self) -> impl Iterator<Item = &String> {
        self.totals.keys().filter(|policy| !Role::of(policy).is_bound())
    }

    /// Returns those of its policies that the other side does not have.
    fn policies_without(&self, other: &Self) -> Vec<String> {
        self.policies().filter(|policy| !other.totals.contains_key(*policy)).cloned().collect()
    }

    fn toml(&self, policy: &str) -> &str {
        self.results.policies.iter().find(|text| text.name == policy).map_or("", |text| &text.toml)
    }
}

/// Which policies are compared, and which only one side has.
struct Policies {
    pairs: Vec<PolicyPair>,
    only_before: Vec<String>,
    only_after: Vec<String>,
}

/// A policy by its name in either result.
struct PolicyPair {
    before: String,
    after: String,
}

impl Policies {
    /// Pairs policies of one name; also the only policy that the one side lacks with the only one that the other side lacks.
    fn new(Sides { before, after }: &Sides) -> Self {
        let shared = before.policies().filter(|policy| after.totals.contains_key(*policy));
        let mut pairs: Vec<PolicyPair> =
            shared.map(|policy| PolicyPair { before: policy.clone(), after: policy.clone() }).collect();
        let (mut only_before, mut only_after) = (before.policies_without(after), after.policies_without(before));
        if only_before.len() == 1 && only_after.len() == 1 {
            let renamed = only_before.drain(..).zip(only_after.drain(..));
            pairs.extend(renamed.map(|(before, after)| PolicyPair { before, after }));
        }
        Self { pairs, only_before, only_after }
    }
}

impl PolicyPair {
    fn change(&self, sides: &Sides, columns: &[&Column]) -> PolicyChange {
        let (before, after) = (&sides.before.totals[&self.before], &sides.after.totals[&self.after]);
        let of_column = |column: &&Column| ColumnChange::new(column, before, after);
        let key_columns = KEY_COLUMNS.iter().filter_map(|id| columns.iter().find(|column| column.id == *id));
        PolicyChange {
            policy: self.before.clone(),
            now: (self.before != self.after).then(|| self.after.clone()),
            settings: changed_settings(sides.before.toml(&self.before), sides.after.toml(&self.after)),
            columns: columns.iter().map(of_column).filter(ColumnChange::is_change).collect(),
            key: key_columns.map(of_column).collect(),
        }
    }
}

/// The lines that only one of two policy files has. Names and remarks are not compared, and an old name of a setting is its present
/// one.
fn changed_settings(before: &str, after: &str) -> Vec<String> {
    let (old, new) = (lines_with_layers(&with_present_names(before)), lines_with_layers(&with_present_names(after)));
    [only_in('-', &old, &new), only_in('+', &new, &old)].concat()
}

fn with_present_names(toml: &str) -> String {
    Policy::parse(toml, "", &[]).map_or(toml.to_owned(), |policy| policy.to_toml())
}

/// The settings of a policy file, a line each. A line may be in several layers, so it is named with its layer.
fn lines_with_layers(toml: &str) -> Vec<String> {
    let is_setting = |line: &&str| !line.trim().is_empty() && !line.starts_with("name =") && !line.starts_with("about =");
    let (mut layer, mut part) = (String::new(), String::new());
    let mut named: Vec<String> = Vec::new();
    for line in toml.lines().filter(is_setting) {
        if let Some(name) = line.strip_prefix("[layer.") {
            part = name.replace(']', ".");
            continue;
        }
        if line.starts_with('[') {
            (layer, part) = Default::default();
        }
        match line.strip_prefix("id = ") {
            Some(id) => layer = format!("{}: ", id.trim_matches('"')),
            None => named.push(format!("{layer}{part}{line}")),
        }
    }
    named
}

/// The lines that the others do not have, each with a sign.
fn only_in(sign: char, lines: &[String], others: &[String]) -> Vec<String> {
    lines.iter().filter(|line| !others.contains(line)).map(|line| format!("{sign} {line}")).collect()
}

/// The rows whose cost changed; if no row has a price, those whose tokens changed.
fn moved(sides: &Sides, pairs: &[PolicyPair], columns: &[&Column]) -> Vec<Moved> {
    let mut moved = moved_in(cost::USD, sides, pairs, columns);
    if moved.is_empty() {
        moved = moved_in(tokens::SENT, sides, pairs, columns);
    }
    let size = |moved: &Moved| moved.change.difference().map_or(0.0, f64::abs);
    moved.sort_by(|a, b| size(b).total_cmp(&size(a)));
    moved
}

/// The rows that changed in one column.
fn moved_in(id: &str, sides: &Sides, pairs: &[PolicyPair], columns: &[&Column]) -> Vec<Moved> {
    let Some(column) = columns.iter().find(|column| column.id == id) else { return Vec::new() };
    let later: BTreeMap<(&str, ConversationKey), &Row> =
        sides.after.rows.iter().map(|row| ((&*row.policy, ConversationKey::of(row)), row)).collect();
    let name_after: BTreeMap<&str, &str> = pairs.iter().map(|pair| (pair.before.as_str(), pair.after.as_str())).collect();
    let later_than = |row: &Row| later.get(&(*name_after.get(&*row.policy)?, ConversationKey::of(row))).copied();
    let rows = sides.before.rows.iter();
    rows.filter_map(|row| Some(Moved::new(column, row, later_than(row)?))).filter(|moved| moved.change.is_change()).collect()
}

impl Moved {
    fn new(column: &Column, before: &Row, after: &Row) -> Self {
        let [policy, transcript, conversation] =
            [&before.policy, &before.transcript, &before.conversation].map(|text| text.to_string());
        let change = ColumnChange::new(column, &before.values, &after.values);
        let hit = [before, after].map(|row| row.values.get(retention::HIT));
        Self { policy, transcript, conversation, change, hit }
    }
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
