//! Policies side by side: over all conversations, and for each conversation.

use std::collections::HashMap;

use crate::report::Detail;
use crate::results::Role;
use crate::results::saved::{Column, ColumnId, Results, Row, Summary, Unit};
use crate::util::text::plural;

use super::super::number_format;
use super::{ColumnHeader, SHOWN, TableModel, common_folder, cost_check, interval_notes, left_out};

/// Policies × columns over all conversations, without detail columns.
pub fn summary(results: &Results, detail: &Detail) -> TableModel {
    let columns = shown_columns(results, detail);
    let transcripts = results.summary.iter().map(|summary| summary.transcripts).max().unwrap_or(0);
    let conversations = conversations_of(&results.rows).len().max(transcripts);
    let mut headers = vec![ColumnHeader::names("policy")];
    headers.extend(columns.iter().map(|column| ColumnHeader::numbers(&title(column))));
    let rows = in_order(results, detail.sort).into_iter().map(|summary| {
        let values = columns.iter().map(|column| with_interval(column, summary));
        std::iter::once(name(summary)).chain(values).collect()
    });
    let mut footnotes = Vec::new();
    if let Some(unfinished) = &results.unfinished {
        let all = plural(unfinished.transcripts, "transcript");
        footnotes.push(format!(
            "stopped: {} of {all} done; --resume continues from results saved with -o json",
            unfinished.done.len()
        ));
    }
    if columns.iter().any(|column| column.estimated) {
        footnotes.push("~ estimated, not counted".to_owned());
    }
    if results.summary.iter().any(|s| columns.iter().any(|column| s.values.get(&column.id).is_none())) {
        footnotes.push(format!("{} no value", number_format::MISSING));
    }
    footnotes.extend(cost_check::coverage(results));
    footnotes.extend(interval_notes::interval_notes(results));
    let title = format!("Summary: {}, {}", plural(transcripts, "transcript"), plural(conversations, "conversation"));
    TableModel { title, subject: String::new(), headers, rows: rows.collect(), footnotes }
}

/// The name in the first column. A bound is listed below its policy, so its name leaves the policy out.
pub fn name(summary: &Summary) -> String {
    let bound = summary.bound_of.as_deref().and_then(|policy| summary.policy.strip_prefix(policy)?.strip_prefix(" · "));
    bound.map_or_else(|| summary.policy.clone(), |bound| format!("└ {bound}"))
}

/// Formats a value with its interval. Users do not choose between bounds, so their intervals are in JSON only.
fn with_interval(column: &Column, summary: &Summary) -> String {
    let value = number_format::value(column.unit, summary.values.get(&column.id));
    let ends = summary.intervals.entry(&column.id).filter(|_| summary.bound_of.is_none());
    match ends.and_then(|ends| number_format::interval(column.unit, ends)) {
        Some(ends) => format!("{value} ({ends})"),
        None => value,
    }
}

/// Conversations × policies in one column: the first share if there is one, else the first size. The conversations with
/// most tokens come first. Bounds cover all conversations and have no column. Empty if there is only one conversation.
pub fn conversations(results: &Results) -> TableModel {
    let conversations = conversations_of(&results.rows);
    let first_column = |unit: Unit| in_tables(results).find(|column| column.unit == unit);
    let (Some(size), true) = (first_column(Unit::Tokens).or(in_tables(results).next()), conversations.len() > 1) else {
        return TableModel { title: String::new(), subject: String::new(), headers: vec![], rows: vec![], footnotes: vec![] };
    };
    let shown = first_column(Unit::Share).unwrap_or(size);

    let folder = common_folder(results.rows.iter().map(|row| &*row.transcript));
    let mut sized: Vec<(f64, &Vec<&Row>)> = conversations.iter().map(|rows| (largest(size, rows), rows)).collect();
    sized.sort_by(|a, b| b.0.total_cmp(&a.0));
    let policies = keep_all_first(results).filter(|summary| summary.bound_of.is_none());
    let policies: Vec<&str> = policies.map(|summary| summary.policy.as_str()).collect();
    let mut headers =
        vec![ColumnHeader::names("transcript"), ColumnHeader::names("conversation"), ColumnHeader::numbers(&title(size))];
    headers.extend(policies.iter().map(|policy| ColumnHeader::numbers(policy)));
    let rows = sized.iter().take(SHOWN).filter_map(|(tokens, rows)| {
        let first: &Row = rows.first()?;
        let replayed = rows.iter().filter(|row| row.bound_of.is_none());
        let values: HashMap<&str, Option<f64>> = replayed.map(|row| (&*row.policy, row.values.get(&shown.id))).collect();
        let mut cells = vec![
            first.transcript[folder.len()..].to_owned(),
            first.conversation.to_string(),
            number_format::value(size.unit, Some(*tokens)),
        ];
        cells.extend(policies.iter().map(|policy| number_format::value(shown.unit, values.get(policy).copied().flatten())));
        Some(cells)
    });
    let rows: Vec<_> = rows.collect();
    let left = sized.len() - rows.len();
    let mut footnotes = left_out(folder);
    if left > 0 {
        footnotes.push(format!("{} in -o json and -o csv", plural(left, "more conversation")));
    }
    let scope = if left > 0 { format!("The {SHOWN} largest conversations") } else { "Conversations".to_owned() };
    TableModel { title: format!("{scope} by policy"), subject: title(shown), headers, rows, footnotes }
}

/// The columns of a table that compares policies: the chosen ones, else all but the detail columns.
pub fn shown_columns<'a>(results: &'a Results, detail: &Detail) -> Vec<&'a Column> {
    match detail.columns {
        [] => in_tables(results).collect(),
        chosen => chosen.iter().filter_map(|id| results.column(id)).collect(),
    }
}

/// The policies and their bounds: the best value of a column first, those without a value last; without a column,
/// [`KEEP_ALL`] first.
pub fn in_order<'a>(results: &'a Results, column: Option<&ColumnId>) -> Vec<&'a Summary> {
    let mut summaries: Vec<&Summary> = keep_all_first(results).collect();
    if let Some(column) = column.and_then(|id| results.column(id)) {
        // A bound has the place of its policy.
        let totals: HashMap<&str, Option<f64>> =
            summaries.iter().map(|summary| (owner(summary), results.total(owner(summary), &column.id))).collect();
        summaries.sort_by(|a, b| column.better.compare(totals[owner(a)], totals[owner(b)]));
    }
    summaries
}

/// The policy of a summary: that of a bound is the policy that it bounds.
fn owner(summary: &Summary) -> &str {
    summary.bound_of.as_deref().unwrap_or(&summary.policy)
}

/// The columns shown in tables: all but the detail columns.
pub fn in_tables(results: &Results) -> impl Iterator<Item = &Column> {
    results.columns.iter().filter(|column| !column.detail)
}

/// Returns the rows of each conversation, in the order of the results.
pub fn conversations_of(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut indices = HashMap::new();
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        let index = *indices.entry((&row.transcript, &row.conversation)).or_insert(groups.len());
        if index == groups.len() {
            groups.push(Vec::new());
        }
        groups[index].push(row);
    }
    groups
}

fn largest(size: &Column, rows: &[&Row]) -> f64 {
    rows.iter().filter_map(|row| row.values.get(&size.id)).fold(0.0, f64::max)
}

/// The policies and their bounds, `keep-all` first.
pub fn keep_all_first(results: &Results) -> impl Iterator<Item = &Summary> {
    let is_first = |summary: &&Summary| Role::of(summary.bound_of.as_ref().unwrap_or(&summary.policy)) == Role::KeepAll;
    let (first, others): (Vec<_>, Vec<_>) = results.summary.iter().partition(is_first);
    first.into_iter().chain(others)
}

/// A column's id, with `~` if it is an estimate.
pub fn title(column: &Column) -> String {
    format!("{}{}", if column.estimated { "~" } else { "" }, column.id)
}
