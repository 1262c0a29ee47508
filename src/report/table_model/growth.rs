//! Tokens per call in the longest conversation: one sparkline per policy.

use super::super::{number_format, spark};
use super::{ColumnHeader, TableModel, common_folder};
use crate::results::Role;
use crate::results::saved::{Results, TraceLine, TraceRow, Unit};
use crate::util::text::plural;

/// Bars per row. With the policy's name before them, they fit into 100 columns.
const BARS: usize = 60;

/// One row per policy. All rows share the scale of the largest request.
pub fn growth(results: &Results) -> TableModel {
    let calls = |trace: &TraceRow| trace.lines.value().iter().map(|line| line.tokens.len()).max().unwrap_or(0);
    // Reversed, because `max_by_key` returns the last maximum and we want the first.
    let longest = results.traces.iter().rev().max_by_key(|trace| calls(trace)).filter(|trace| calls(trace) > 1);
    let lines = longest.map(|trace| trace.lines.value()).unwrap_or_default();
    let largest = lines.iter().flat_map(|line| &line.tokens).copied().max().unwrap_or(0);
    let row = |line: &TraceLine| {
        let peak = line.tokens.iter().max().map(|tokens| *tokens as f64);
        vec![line.policy.clone(), spark::line_to(&line.tokens, BARS, largest), number_format::value(Unit::Tokens, peak)]
    };
    let (first, others): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.role() == Role::KeepAll);
    let rows = first.into_iter().chain(others).map(row).collect();
    let folder = common_folder(results.rows.iter().map(|row| &*row.transcript));
    let footnotes = longest.map(|trace| {
        let recorded = if trace.recorded.is_empty() { String::new() } else { recorded_compactions(&trace.recorded) };
        format!(
            "{} from left to right; the tallest bar is the largest request of all policies{recorded}",
            plural(calls(trace), "call")
        )
    });
    let subject = longest.map_or(String::new(), |trace| {
        // Saved results may have a trace of a transcript without rows, in another folder.
        let transcript = trace.transcript.strip_prefix(folder).unwrap_or(&trace.transcript);
        match &*trace.conversation {
            "main" => transcript.to_owned(),
            conversation => format!("{transcript}, {conversation}"),
        }
    });
    let headers = vec![ColumnHeader::names("policy"), ColumnHeader::prose("tokens per call"), ColumnHeader::numbers("~largest")];
    TableModel {
        title: "The longest conversation".to_owned(),
        subject,
        headers,
        rows,
        footnotes: footnotes.into_iter().collect(),
    }
}

fn recorded_compactions(calls: &[usize]) -> String {
    let calls: Vec<String> = calls.iter().map(ToString::to_string).collect();
    format!("; the recorded agent compacted before call {}", calls.join(", "))
}
