//! Measures policies in one study: the totals of the gated columns, and what each transcript adds to them.

use std::collections::BTreeMap;

use crate::engine::policy::Policy;
use crate::findings::Finding;
use crate::metrics::column::Column;
use crate::metrics::column_map::{ColumnMap, Values};
use crate::metrics::metric::tokens::CALLS;
use crate::results::saved::{Accumulator, Results, Row};

use super::column::count;

/// One policy over all transcripts of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub policy: String,
    /// Recorded calls that were replayed.
    pub calls: u64,
    pub totals: Values,
    /// In the order in which they were read.
    pub transcripts: Vec<TranscriptValues>,
}

/// One policy over one transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptValues {
    pub transcript: String,
    pub values: Values,
    /// What it adds to the totals.
    pub adds: ColumnMap<Vec<Option<Accumulator>>>,
}

/// Measures these policies in these columns.
pub fn measure(results: &Results, policies: &[&Policy], columns: &[&Column]) -> Vec<Measured> {
    policies.iter().map(|policy| measure_policy(results, policy, columns)).collect()
}

fn measure_policy(results: &Results, policy: &Policy, columns: &[&Column]) -> Measured {
    let mut rows: Vec<(&str, Vec<&Row>)> = Vec::new();
    let mut row_of: BTreeMap<&str, usize> = BTreeMap::new();
    for row in results.rows.iter().filter(|row| *row.policy == *policy.name && row.bound_of.is_none()) {
        let place = *row_of.entry(&row.transcript).or_insert(rows.len());
        if place == rows.len() {
            rows.push((&row.transcript, Vec::new()));
        }
        rows[place].1.push(row);
    }
    let mut findings: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in results.findings.iter().filter(|finding| finding.policy.as_ref() == Some(&policy.name)) {
        findings.entry(&finding.path).or_default().push(finding);
    }
    let values_of = |(transcript, rows): &(&str, Vec<&Row>)| {
        let findings = findings.get(transcript).map_or(&[][..], Vec::as_slice);
        measure_transcript(transcript, rows, findings, columns)
    };
    let transcripts: Vec<TranscriptValues> = rows.iter().map(values_of).collect();
    let calls = rows.iter().flat_map(|(_, rows)| rows).filter_map(|row| row.values.get(CALLS)).sum::<f64>() as u64;
    let mut measured = Measured { policy: policy.name.clone(), calls, totals: Values::default(), transcripts };
    measured.totals = columns.iter().map(|column| (column.id.clone(), measured.total(column, |_| true))).collect();
    measured
}

fn measure_transcript(transcript: &str, rows: &[&Row], findings: &[&Finding], columns: &[&Column]) -> TranscriptValues {
    let adds = |column: &Column| match count(column, findings.iter().copied()) {
        Some(count) => Some(Accumulator { numerator: count, denominator: 1.0 }),
        None => rows.iter().filter_map(|row| column.contribution(&row.values)).reduce(|sum, one| column.add(sum, one)),
    };
    let adds: ColumnMap<Vec<Option<Accumulator>>> = columns.iter().map(|column| (column.id.clone(), adds(column))).collect();
    let value = |column: &&Column| (column.id.clone(), adds.entry(&column.id).flatten().and_then(|add| column.total_of(add)));
    TranscriptValues { transcript: transcript.to_owned(), values: columns.iter().map(value).collect(), adds }
}

impl Measured {
    /// Returns the total of the transcripts for which `is_wanted` is true; `None` if none of them has a value.
    pub fn total(&self, column: &Column, is_wanted: impl Fn(&str) -> bool) -> Option<f64> {
        let wanted = self.transcripts.iter().filter(|one| is_wanted(&one.transcript));
        column.total_of_all(wanted.filter_map(|one| one.added(column)))
    }
}

impl TranscriptValues {
    /// Returns what it adds to the total of a column.
    pub fn added(&self, column: &Column) -> Option<Accumulator> {
        self.adds.entry(&column.id).flatten()
    }
}
