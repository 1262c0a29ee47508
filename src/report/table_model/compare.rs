//! Policies side by side: over everything, and conversation by conversation.

use std::collections::HashMap;

use crate::results::saved::{Column, Results, Row, Summary, Unit};
use crate::util::text::plural;

use super::super::number_format;
use super::{ColumnHeader, SHOWN, TableModel, certainty, common_folder, left_out};

/// The policy every comparison begins with: nothing is compacted.
pub const KEEP_ALL: &str = "keep-all";

/// Policies × measures over everything; measures that go into detail are left out.
pub fn summary(results: &Results) -> TableModel {
    let columns: Vec<&Column> = in_tables(results).collect();
    let transcripts = results.summary.iter().map(|summary| summary.transcripts).max().unwrap_or(0);
    let conversations = conversations_of(&results.rows).len().max(transcripts);
    let mut heads = vec![ColumnHeader::names("policy")];
    heads.extend(columns.iter().map(|column| ColumnHeader::numbers(&title(column))));
    let rows = keep_all_first(results).map(|summary| {
        let values = columns.iter().map(|column| with_interval(column, summary));
        std::iter::once(name(summary)).chain(values).collect()
    });
    let mut below = Vec::new();
    if let Some(unfinished) = &results.unfinished {
        let all = plural(unfinished.transcripts, "transcript");
        below.push(format!("stopped: {} of {all} done; --resume goes on from what -o json saved", unfinished.done.len()));
    }
    if columns.iter().any(|column| column.estimated) {
        below.push("~ estimated, not counted".to_owned());
    }
    if results.summary.iter().any(|s| columns.iter().any(|column| s.values.get(&column.id).is_none())) {
        below.push(format!("{} does not apply", number_format::MISSING));
    }
    below.extend(certainty::of_intervals(results));
    let title = format!("Summary: {}, {}", plural(transcripts, "transcript"), plural(conversations, "conversation"));
    TableModel { title, measure: String::new(), heads, rows: rows.collect(), below }
}

/// A bound stands below its policy, whose name it need not repeat.
pub fn name(summary: &Summary) -> String {
    let own = summary.bound_of.as_deref().and_then(|policy| summary.policy.strip_prefix(policy)?.strip_prefix(" · "));
    own.map_or_else(|| summary.policy.clone(), |own| format!("└ {own}"))
}

/// Nobody chooses a bound, so its interval is in JSON only.
fn with_interval(column: &Column, summary: &Summary) -> String {
    let value = number_format::value(column.unit, summary.values.get(&column.id));
    let ends = summary.intervals.entry(&column.id).filter(|_| summary.bound_of.is_none());
    match ends.and_then(|ends| number_format::interval(column.unit, *ends)) {
        Some(ends) => format!("{value} ({ends})"),
        None => value,
    }
}

/// Conversations × policies in one measure: the first share there is, else the first size. The largest conversations by the
/// first column of tokens come first. Bounds are of all conversations and have no column. Empty where there is but one
/// conversation.
pub fn conversations(results: &Results) -> TableModel {
    let rows_of = conversations_of(&results.rows);
    let first = |unit: Unit| in_tables(results).find(|column| column.unit == unit);
    let (Some(size), true) = (first(Unit::Tokens).or(in_tables(results).next()), rows_of.len() > 1) else {
        return TableModel { title: String::new(), measure: String::new(), heads: vec![], rows: vec![], below: vec![] };
    };
    let measure = first(Unit::Share).unwrap_or(size);

    let folder = common_folder(results.rows.iter().map(|row| row.transcript.as_str()));
    let mut sized: Vec<(f64, &Vec<&Row>)> = rows_of.iter().map(|rows| (largest(size, rows), rows)).collect();
    sized.sort_by(|a, b| b.0.total_cmp(&a.0));
    let policies = keep_all_first(results).filter(|summary| summary.bound_of.is_none());
    let policies: Vec<&str> = policies.map(|summary| summary.policy.as_str()).collect();
    let mut heads =
        vec![ColumnHeader::names("transcript"), ColumnHeader::names("conversation"), ColumnHeader::numbers(&title(size))];
    heads.extend(policies.iter().map(|policy| ColumnHeader::numbers(policy)));
    let rows = sized.iter().take(SHOWN).filter_map(|(tokens, rows)| {
        let of: &Row = rows.first()?;
        let replayed = rows.iter().filter(|row| row.bound_of.is_none());
        let values: HashMap<&str, Option<f64>> = replayed.map(|row| (row.policy.as_str(), row.values.get(&measure.id))).collect();
        let mut cells = vec![
            of.transcript[folder.len()..].to_owned(),
            of.conversation.clone(),
            number_format::value(size.unit, Some(*tokens)),
        ];
        cells.extend(policies.iter().map(|policy| number_format::value(measure.unit, values.get(policy).copied().flatten())));
        Some(cells)
    });
    let rows: Vec<_> = rows.collect();
    let left = sized.len() - rows.len();
    let mut below = left_out(folder);
    if left > 0 {
        below.push(format!("{} in -o json and -o csv", plural(left, "more conversation")));
    }
    let which = if left > 0 { format!("The {SHOWN} largest conversations") } else { "Conversations".to_owned() };
    TableModel { title: format!("{which} by policy"), measure: title(measure), heads, rows, below }
}

pub fn in_tables(results: &Results) -> impl Iterator<Item = &Column> {
    results.columns.iter().filter(|column| !column.detail)
}

/// The rows of every conversation, in the order of the results.
pub fn conversations_of(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        let place = *places.entry((&row.transcript, &row.conversation)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(row);
    }
    groups
}

fn largest(size: &Column, rows: &[&Row]) -> f64 {
    rows.iter().filter_map(|row| row.values.get(&size.id)).fold(0.0, f64::max)
}

/// The policies and their bounds.
pub fn keep_all_first(results: &Results) -> impl Iterator<Item = &Summary> {
    let is_first = |summary: &&Summary| summary.bound_of.as_ref().unwrap_or(&summary.policy) == KEEP_ALL;
    let (first, others): (Vec<_>, Vec<_>) = results.summary.iter().partition(is_first);
    first.into_iter().chain(others)
}

/// A column's id, marked where it is an estimate.
pub fn title(column: &Column) -> String {
    format!("{}{}", if column.estimated { "~" } else { "" }, column.id)
}
