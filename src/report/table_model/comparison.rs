//! Every policy against the baseline: better, worse, or not to be told.

use std::collections::HashMap;

use crate::report::escape;
use crate::results::saved::{Aggregation, Column, ComparisonRow, Direction, Results, Statistics, Unit};
use crate::results::stats::FLIPS;
use crate::util::text::plural;

use super::super::number_format;
use super::compare::title;
use super::{ColumnHeader, TableModel};

/// Stands where a difference cannot be told from none.
const UNSURE: &str = "?";

/// Policies × the columns in which one way is better and long sessions weigh more; those in which no policy differs, and those
/// that go into detail, are left out. Empty where nothing can be said.
pub fn against(results: &Results) -> TableModel {
    let (Some(how), Some(first)) = (&results.statistics, results.comparisons.first()) else {
        return nothing();
    };
    let rows: HashMap<(&str, &str), &ComparisonRow> =
        results.comparisons.iter().map(|row| ((row.policy.as_str(), &*row.column), row)).collect();
    let differs = |column: &Column| results.comparisons.iter().any(|row| row.column == column.id && !is_same(row));
    let is_shown = |column: &&Column| !column.detail && column.combine != Aggregation::Mean && differs(column);
    let columns: Vec<&Column> = results.columns.iter().filter(is_shown).collect();
    if columns.is_empty() {
        return nothing();
    }
    let mut heads = vec![ColumnHeader::names("policy")];
    heads.extend(columns.iter().map(|column| ColumnHeader::numbers(&title(column))));
    let mut policies: Vec<&str> = results.comparisons.iter().map(|row| row.policy.as_str()).collect();
    policies.dedup();
    let cells = policies.iter().map(|policy| {
        let of = |column: &&Column| {
            rows.get(&(*policy, &*column.id)).map_or_else(|| number_format::MISSING.to_owned(), |row| cell(column, row, how))
        };
        std::iter::once((*policy).to_owned()).chain(columns.iter().map(of)).collect()
    });
    let title = format!("Against the baseline, {}", plural(how.sessions, "session"));
    let below = below(results, how, &columns);
    TableModel { title, measure: first.against.clone(), heads, rows: cells.collect(), below }
}

fn nothing() -> TableModel {
    TableModel { title: String::new(), measure: String::new(), heads: vec![], rows: vec![], below: vec![] }
}

/// No draw of sessions and no swap makes any difference.
fn is_same(row: &ComparisonRow) -> bool {
    row.difference == 0.0 && row.p.is_none_or(|p| p == 1.0) && row.interval.is_none_or(|ends| ends == [0.0; 2])
}

/// `better -0.405 (-0.471 … -0.332) p 0.004`
fn cell(column: &Column, row: &ComparisonRow, how: &Statistics) -> String {
    if is_same(row) {
        return "same".to_owned();
    }
    let mut text = format!("{} {}", verdict(column, row, how), number_format::difference(column.unit, row.difference));
    if let Some([low, high]) = row.interval.map(|ends| ends.map(|end| number_format::difference(column.unit, end))) {
        text += &format!(" ({low} … {high})");
    }
    match row.p_holm {
        Some(p) if p < 0.001 => text + " p < 0.001",
        Some(p) => text + " p " + &number_format::grouped(p, 3),
        None => text,
    }
}

/// A word only where both agree: the interval is on one side of nothing, and chance seldom does as much.
fn verdict(column: &Column, row: &ComparisonRow, how: &Statistics) -> &'static str {
    let (Some([low, high]), Some(p)) = (row.interval, row.p_holm) else { return UNSURE };
    let is_sure = p <= 1.0 - how.level && (low > 0.0 || high < 0.0);
    match column.better {
        Direction::Higher | Direction::Lower if is_sure => {
            if (low > 0.0) == (column.better == Direction::Higher) {
                "better"
            } else {
                "worse"
            }
        }
        _ => UNSURE,
    }
}

fn below(results: &Results, how: &Statistics, columns: &[&Column]) -> Vec<String> {
    let level = number_format::grouped(how.level * 100.0, 0);
    let mut lines = vec![
        format!(
            "policy less baseline, {level} % interval by {} paired draws of sessions",
            number_format::grouped(how.draws as f64, 0)
        ),
        format!(
            "p: how often swapping the two within sessions by chance ({} draws, or all ways) differs as much; adjusted after Holm",
            number_format::grouped(FLIPS as f64, 0)
        ),
        format!("better, worse: the interval is on one side of 0 and p ≤ {:.2}; {UNSURE}: it cannot be told", 1.0 - how.level),
    ];
    if columns.iter().any(|column| column.unit == Unit::Share) {
        lines.push("shares: in percentage points".to_owned());
    }
    let fewest = |column: &&&Column| {
        let of = results.comparisons.iter().filter(|row| row.column == column.id).map(|row| row.sessions);
        of.min()
            .filter(|sessions| *sessions < how.sessions)
            .map(|sessions| format!("{} {sessions}", escape::terminal(&title(column))))
    };
    let fewer: Vec<String> = columns.iter().filter_map(|column| fewest(&column)).collect();
    if !fewer.is_empty() {
        lines.push(format!("of fewer sessions, the others have no value: {}", fewer.join(", ")));
    }
    lines
}
