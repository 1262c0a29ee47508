//! A verdict as a sentence that a reader who does not know the suite understands.

use super::number_format;
use crate::analysis::gate::{Moved, Outcome, RuleKind, Verdict, without_value};
use crate::metrics::column::{Column, Direction};
use crate::results::saved::Unit;

/// Returns what happened, the value before and after, what is allowed, which transcript caused it, and what the column
/// counts.
pub fn sentence(verdict: &Verdict) -> String {
    let column = &verdict.rule.column;
    let statement = match (&verdict.outcome, &verdict.rule.kind) {
        (Outcome::Undecided(why), _) => {
            return format!("{}: `{}` could not be judged: {why}", policy_and_suite(verdict), verdict.rule.describe());
        }
        (_, RuleKind::Limit(condition)) => limit(verdict, condition.operator_words()),
        (_, RuleKind::Tolerance(tolerated)) => tolerance(verdict, &tolerated.to_string()),
    };
    let cause = verdict.moved.as_ref().map_or_else(String::new, |moved| cause(moved, column));
    format!(
        "{}: {statement}.{cause} What {} counts: {}.",
        policy_and_suite(verdict),
        column.id,
        column.about.trim_end_matches('.')
    )
}

fn policy_and_suite(verdict: &Verdict) -> String {
    format!("policy {} in suite {}", verdict.policy, verdict.suite)
}

/// `kept.hit is 71.2% and must be at least 85.0%; the baseline has 92.1%`
fn limit(verdict: &Verdict, words: &str) -> String {
    let Verdict { before, after, allowed, .. } = *verdict;
    let column = &verdict.rule.column;
    let shown = |value: Option<f64>| format_distinct(column.unit, value, &[before, after, allowed]);
    let was = match before {
        Some(_) if before == after => "; so it is in the baseline".to_owned(),
        Some(_) => format!("; the baseline has {}", shown(before)),
        None => String::new(),
    };
    match after {
        Some(_) => format!("{} is {} and must be {words} {}{was}", column.id, shown(after), shown(allowed)),
        None => {
            let why = without_value(column);
            format!("{} has no value here and must be {words} {}{was}; {why}", column.id, shown(allowed))
        }
    }
}

/// `kept.hit fell from 92.1% to 71.2%, by 20.9 points; it may fall by 1% of that, so it must be at least 91.2%`
fn tolerance(verdict: &Verdict, tolerance: &str) -> String {
    let Verdict { before, after, allowed, .. } = *verdict;
    let Column { id, unit, better, .. } = &verdict.rule.column;
    let shown = |value: Option<f64>| format_distinct(*unit, value, &[before, after, allowed]);
    let (went, may, bound) = match better {
        Direction::Higher => ("fell", "fall", "at least"),
        Direction::Lower | Direction::Neither => ("rose", "rise", "at most"),
    };
    let allowance = match (tolerance.ends_with('%'), unit) {
        _ if allowed == before => "nothing".to_owned(),
        (true, _) => format!("{tolerance} of that"),
        (false, _) => amount(*unit, before.zip(allowed).map_or(0.0, |(before, allowed)| (before - allowed).abs())),
    };
    match after {
        Some(_) => {
            let by = amount(*unit, before.zip(after).map_or(0.0, |(before, after)| (after - before).abs()));
            format!(
                "{id} {went} from {} to {}, by {by}; it may {may} by {allowance}, so it must be {bound} {}",
                shown(before),
                shown(after),
                shown(allowed)
            )
        }
        None => format!("{id} was {} and has no value any more", shown(before)),
    }
}

fn cause(moved: &Moved, column: &Column) -> String {
    let Moved { transcript, before, after } = moved;
    match before {
        Some(before) if before != after => {
            let shown = |value: f64| format_distinct(column.unit, Some(value), &[Some(*before), Some(*after)]);
            format!(" {transcript} moved most: {} → {}.", shown(*before), shown(*after))
        }
        _ => format!(" {transcript} is farthest from it: {}.", number_format::value(column.unit, Some(*after))),
    }
}

/// Formats the size of a difference; shares are in percentage points.
fn amount(unit: Unit, size: f64) -> String {
    match unit {
        Unit::Share => format!("{} points", difference(unit, size).trim_start_matches('+')),
        _ => difference(unit, size).trim_start_matches('+').to_owned(),
    }
}

/// Formats a difference with its sign; with all its digits if it would be shown as 0.
pub fn difference(unit: Unit, value: f64) -> String {
    let text = number_format::difference(unit, value);
    if text.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) || value == 0.0 {
        text
    } else {
        format!("{}{}", if value > 0.0 { "+" } else { "" }, if unit == Unit::Share { value * 100.0 } else { value })
    }
}

/// Formats a value, with more digits if another value in the same sentence would look the same.
fn format_distinct(unit: Unit, value: Option<f64>, others: &[Option<f64>]) -> String {
    let text = number_format::value(unit, value);
    let is_alike = |other: &&Option<f64>| other.is_some() && **other != value && number_format::value(unit, **other) == text;
    match (value, others.iter().find(is_alike)) {
        (Some(value), Some(_)) if unit == Unit::Share => format!("{}%", number_format::grouped(value * 100.0, 4)),
        (Some(value), Some(_)) => format!("{value}"),
        _ => text,
    }
}
