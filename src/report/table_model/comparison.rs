//! Every policy compared with the baseline: better, worse, or not significant.

use std::collections::HashMap;

use crate::report::{Detail, escape};
use crate::results::saved::{Aggregation, Column, ComparisonRow, Direction, Results, Statistics, Unit};
use crate::results::stats::SIGN_PATTERNS;
use crate::util::text::plural;

use super::super::number_format;
use super::compare::{shown_columns, title};
use super::{ColumnHeader, TableModel};

/// Shown where a difference is not significant.
const UNSURE: &str = "?";

/// Policies × columns. It shows columns that have a better direction and weigh long sessions more; it leaves out detail
/// columns and columns in which no policy differs. Empty if nothing can be compared.
pub fn with_baseline(results: &Results, detail: &Detail) -> TableModel {
    let (Some(statistics), Some(first)) = (&results.statistics, results.comparisons.first()) else {
        return empty();
    };
    let rows: HashMap<(&str, &str), &ComparisonRow> =
        results.comparisons.iter().map(|row| ((row.policy.as_str(), &*row.column), row)).collect();
    let differs = |column: &Column| results.comparisons.iter().any(|row| row.column == column.id && !is_same(row));
    let is_shown = |column: &&Column| column.combine != Aggregation::Mean && differs(column);
    let columns: Vec<&Column> = shown_columns(results, detail).into_iter().filter(is_shown).collect();
    if columns.is_empty() {
        return empty();
    }
    let mut headers = vec![ColumnHeader::names("policy")];
    headers.extend(columns.iter().map(|column| ColumnHeader::numbers(&title(column))));
    let mut policies: Vec<&str> = results.comparisons.iter().map(|row| row.policy.as_str()).collect();
    policies.dedup();
    let cells = policies.iter().map(|policy| {
        let cell = |column: &&Column| {
            rows.get(&(*policy, &*column.id))
                .map_or_else(|| number_format::MISSING.to_owned(), |row| comparison_cell(column, row, statistics))
        };
        std::iter::once((*policy).to_owned()).chain(columns.iter().map(cell)).collect()
    });
    let title = format!("Compared with the baseline, {}", plural(statistics.sessions, "session"));
    let footnotes = footnotes(results, statistics, &columns);
    TableModel { title, subject: first.against.clone(), headers, rows: cells.collect(), footnotes }
}

fn empty() -> TableModel {
    TableModel { title: String::new(), subject: String::new(), headers: vec![], rows: vec![], footnotes: vec![] }
}

/// Whether no resample of sessions and no swap makes a difference.
fn is_same(row: &ComparisonRow) -> bool {
    row.difference == 0.0 && row.p.is_none_or(|p| p == 1.0) && row.interval.is_none_or(|ends| ends == [0.0; 2])
}

/// `better -0.405 (-0.471 … -0.332) p 0.004`
fn comparison_cell(column: &Column, row: &ComparisonRow, statistics: &Statistics) -> String {
    if is_same(row) {
        return "same".to_owned();
    }
    let mut text = format!("{} {}", verdict(column, row, statistics), number_format::difference(column.unit, row.difference));
    if let Some([low, high]) = row.interval.map(|ends| ends.map(|end| number_format::difference(column.unit, end))) {
        text += &format!(" ({low} … {high})");
    }
    match row.p_holm {
        Some(p) if p < 0.001 => text + " p < 0.001",
        Some(p) => text + " p " + &number_format::grouped(p, 3),
        None => text,
    }
}

/// Returns "better" or "worse" only if both tests agree: the interval is on one side of 0, and chance seldom differs as
/// much.
fn verdict(column: &Column, row: &ComparisonRow, statistics: &Statistics) -> &'static str {
    let (Some([low, high]), Some(p)) = (row.interval, row.p_holm) else { return UNSURE };
    let is_sure = p <= 1.0 - statistics.level && (low > 0.0 || high < 0.0);
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

fn footnotes(results: &Results, statistics: &Statistics, columns: &[&Column]) -> Vec<String> {
    let level = number_format::grouped(statistics.level * 100.0, 0);
    let mut lines = vec![
        format!(
            "policy minus baseline, {level} % interval from {} paired bootstrap resamples of sessions",
            number_format::grouped(statistics.resamples as f64, 0)
        ),
        format!(
            "p: how often randomly swapping the two within sessions ({} times, or in all ways) differs as much; adjusted after Holm",
            number_format::grouped(SIGN_PATTERNS as f64, 0)
        ),
        format!(
            "better, worse: the interval is on one side of 0 and p ≤ {:.2}; {UNSURE}: not significant",
            1.0 - statistics.level
        ),
    ];
    if columns.iter().any(|column| column.unit == Unit::Share) {
        lines.push("shares: in percentage points".to_owned());
    }
    let fewest = |column: &&&Column| {
        let sessions = results.comparisons.iter().filter(|row| row.column == column.id).map(|row| row.sessions);
        sessions
            .min()
            .filter(|sessions| *sessions < statistics.sessions)
            .map(|sessions| format!("{} {sessions}", escape::terminal(&title(column))))
    };
    let fewer: Vec<String> = columns.iter().filter_map(|column| fewest(&column)).collect();
    if !fewer.is_empty() {
        lines.push(format!("based on fewer sessions, as the others have no value: {}", fewer.join(", ")));
    }
    lines
}
