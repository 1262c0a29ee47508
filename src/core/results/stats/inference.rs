//! Computes the intervals of results, and compares policies with the baseline.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::metrics::column::{Column, ColumnId, Direction};
use crate::results::saved::{Accumulator, ComparisonRow, Results, Statistics, Summary};

use super::estimate::Estimate;
use super::permutation::SignFlips;
use super::{LEVEL, MIN_PREDICTING, MIN_SESSIONS, RESAMPLES, Resamples, SIGN_PATTERNS, Samples, holm};

/// Fills in the intervals of the summary, the comparisons and the statistics. Does nothing with fewer than [`MIN_SESSIONS`] sessions.
///
/// Columns whose totals are averages ([`is_average`](crate::metrics::column::Aggregation::is_average)) get intervals, also for bounds.
/// The `candidates` are compared with the baseline by those of these columns that have a better direction. All candidates compared in
/// one column are one family for Holm's adjustment.
pub fn infer(results: &mut Results, baseline: &str, candidates: &[&str], seed: u64) {
    let samples = Samples::new(&results.rows);
    let sessions = samples.sessions();
    if sessions < MIN_SESSIONS {
        return;
    }
    let columns: Vec<&Column> = results.columns.iter().filter(|column| column.combine.is_average()).collect();
    let resampling =
        Resampling { resamples: Resamples::new(sessions, RESAMPLES, seed), flips: SignFlips::new(sessions, SIGN_PATTERNS, seed) };
    let infer_column = |column: &&Column| {
        let baseline_sample = ColumnSample::new(column, samples.added(baseline, None, column));
        let infer_policy = |summary: &Summary| {
            let sample = ColumnSample::new(column, samples.added(&summary.policy, summary.bound_of.as_deref(), column));
            let is_compared = column.better != Direction::Neither
                && summary.bound_of.is_none()
                && summary.policy != baseline
                && candidates.contains(&summary.policy.as_str());
            let comparison = || {
                let row = resampling.compare(column, &sample, &baseline_sample)?;
                Some(ComparisonRow { policy: summary.policy.clone(), against: baseline.to_owned(), ..row })
            };
            Inferred {
                interval: sample.estimate.as_ref().and_then(|estimate| estimate.interval(&resampling.resamples)),
                prediction: sample.estimate.as_ref().and_then(|estimate| estimate.prediction(&resampling.resamples)),
                comparison: is_compared.then(comparison).flatten(),
            }
        };
        results.summary.iter().map(infer_policy).collect()
    };
    // Column by column, because the samples of all columns of a large study take much memory.
    let mut inferred: Vec<Vec<Inferred>> = columns.par_iter().map(infer_column).collect();
    let ids = || columns.iter().map(|column| &column.id);
    for (place, summary) in results.summary.iter_mut().enumerate() {
        let of_policy = || inferred.iter().map(|column| &column[place]);
        let ends = |of: fn(&Inferred) -> Option<[f64; 2]>| {
            ids().zip(of_policy()).filter_map(|(id, inferred)| Some((id.clone(), of(inferred)?))).collect()
        };
        summary.intervals = ends(|inferred| inferred.interval);
        summary.predictions = ends(|inferred| inferred.prediction);
        results.comparisons.extend(inferred.iter_mut().filter_map(|column| column[place].comparison.take()));
    }
    adjust_by_column(&mut results.comparisons);
    results.statistics = Some(Statistics { sessions, resamples: RESAMPLES, level: LEVEL, seed });
}

/// Adds Holm's adjustment over the policies, in each column.
fn adjust_by_column(comparisons: &mut [ComparisonRow]) {
    let mut families: HashMap<ColumnId, Vec<usize>> = HashMap::new();
    for (index, row) in comparisons.iter().enumerate().filter(|(_, row)| row.p.is_some()) {
        families.entry(row.column.clone()).or_default().push(index);
    }
    for indices in families.into_values() {
        let ps: Vec<f64> = indices.iter().filter_map(|index| comparisons[*index].p).collect();
        for (index, p) in indices.into_iter().zip(holm(&ps)) {
            comparisons[index].p_holm = Some(p);
        }
    }
}

/// Returns the interval of a column's total, from what each session adds to it; `None` if fewer than [`MIN_SESSIONS`] have a value.
pub fn total_interval(column: &Column, added: &[Option<Accumulator>], resamples: &Resamples) -> Option<[f64; 2]> {
    ColumnSample::new(column, added.to_vec()).estimate?.interval(resamples)
}

/// Returns the interval of a column's total over the next sessions, as many as these, from what each of these adds to it; `None` if
/// fewer than [`MIN_PREDICTING`] have a value, or if they do not differ.
pub fn predicted_interval(column: &Column, added: &[Option<Accumulator>], resamples: &Resamples) -> Option<[f64; 2]> {
    let is_enough = added.iter().flatten().count() >= MIN_PREDICTING;
    is_enough.then(|| Estimate::new(column, added))??.prediction(resamples)
}

/// What is inferred of one column of one policy.
struct Inferred {
    interval: Option<[f64; 2]>,
    prediction: Option<[f64; 2]>,
    comparison: Option<ComparisonRow>,
}

/// Bootstrap resamples and swap patterns, the same for all policies and columns.
struct Resampling {
    resamples: Resamples,
    flips: SignFlips,
}

/// One column of one policy.
struct ColumnSample {
    /// Contribution of each session.
    added: Vec<Option<Accumulator>>,
    /// `None` if there is no total, or if fewer than [`MIN_SESSIONS`] sessions have a value.
    estimate: Option<Estimate>,
}

impl ColumnSample {
    fn new(column: &Column, added: Vec<Option<Accumulator>>) -> Self {
        let enough = added.iter().flatten().count() >= MIN_SESSIONS;
        Self { estimate: enough.then(|| Estimate::new(column, &added)).flatten(), added }
    }

    /// Returns for each session whether it has a value.
    fn has_value(&self) -> impl Iterator<Item = bool> {
        self.added.iter().map(Option::is_some)
    }

    /// Returns the sample restricted to sessions in which the other has a value too.
    fn paired(&self, column: &Column, other: &Self) -> Self {
        Self::new(column, self.added.iter().zip(&other.added).map(|(one, other)| other.and(*one)).collect())
    }
}

impl Resampling {
    /// Compares one column of a policy with the baseline; `None` if no session has values of both. Policy names stay empty.
    fn compare(&self, column: &Column, one: &ColumnSample, baseline: &ColumnSample) -> Option<ComparisonRow> {
        if one.has_value().ne(baseline.has_value()) {
            let [one, baseline] = [one.paired(column, baseline), baseline.paired(column, one)];
            return self.compare_paired(column, &one, &baseline);
        }
        self.compare_paired(column, one, baseline)
    }

    fn compare_paired(&self, column: &Column, one: &ColumnSample, baseline: &ColumnSample) -> Option<ComparisonRow> {
        let total = |sample: &ColumnSample| column.total_of_all(sample.added.iter().flatten().copied());
        let sessions = one.has_value().filter(|has_value| *has_value).count();
        let estimates = one.estimate.as_ref().zip(baseline.estimate.as_ref());
        Some(ComparisonRow {
            column: column.id.clone(),
            sessions,
            difference: total(one)? - total(baseline)?,
            interval: estimates.and_then(|(one, baseline)| one.minus(baseline).interval(&self.resamples)),
            p: (sessions >= MIN_SESSIONS).then(|| self.flips.p_value(column, &one.added, &baseline.added)),
            ..ComparisonRow::default()
        })
    }
}
