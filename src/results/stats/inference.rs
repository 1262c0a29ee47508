//! Results get intervals, and every policy that was asked for is held against the baseline.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::metrics::column::{Column, ColumnId, Direction};
use crate::metrics::column_map::Intervals;
use crate::results::saved::{Accumulator, ComparisonRow, Results, Statistics, Summary};

use super::permutation::SignFlips;
use super::{DRAWS, FEWEST, FLIPS, LEVEL, Resamples, Samples, holm, interval};

/// Fills in the intervals of the summary, the comparisons and how they were drawn; with fewer than [`FEWEST`] sessions, nothing.
///
/// Intervals are for the columns whose totals are averages ([`is_average`](crate::metrics::column::Aggregation::is_average)), bounds
/// included. Compared are `asked`, the policies one may choose, by those of these columns in which one way is better; they are
/// the family of Holm's adjustment, column by column.
pub fn infer(results: &mut Results, baseline: &str, asked: &[&str], seed: u64) {
    let samples = Samples::new(&results.rows);
    let sessions = samples.sessions();
    if sessions < FEWEST {
        return;
    }
    let columns: Vec<&Column> = results.columns.iter().filter(|column| column.combine.is_average()).collect();
    let chance = Chance { resamples: Resamples::new(sessions, DRAWS, seed), flips: SignFlips::new(sessions, FLIPS, seed) };
    let of_baseline: Vec<Sample> =
        columns.par_iter().map(|column| chance.sample(column, samples.added(baseline, None, column))).collect();
    let judge = |summary: &Summary| {
        let is_compared = summary.bound_of.is_none() && summary.policy != baseline && asked.contains(&summary.policy.as_str());
        let (mut intervals, mut compared) = (Vec::new(), Vec::new());
        for (column, against) in columns.iter().zip(&of_baseline) {
            let sample = chance.sample(column, samples.added(&summary.policy, summary.bound_of.as_deref(), column));
            intervals.extend(sample.interval().map(|ends| (column.id.clone(), ends)));
            if is_compared && column.better != Direction::Neither {
                compared.extend(chance.compare(column, &sample, against).map(|row| ComparisonRow {
                    policy: summary.policy.clone(),
                    against: baseline.to_owned(),
                    ..row
                }));
            }
        }
        (Intervals::from_iter(intervals), compared)
    };
    let judged: Vec<(Intervals, Vec<ComparisonRow>)> = results.summary.par_iter().map(judge).collect();
    for (summary, (intervals, compared)) in results.summary.iter_mut().zip(judged) {
        summary.intervals = intervals;
        results.comparisons.extend(compared);
    }
    adjust(&mut results.comparisons);
    results.statistics = Some(Statistics { sessions, draws: DRAWS, level: LEVEL, seed });
}

/// Holm's adjustment over the policies, in each column.
fn adjust(comparisons: &mut [ComparisonRow]) {
    let mut families: HashMap<ColumnId, Vec<usize>> = HashMap::new();
    for (place, row) in comparisons.iter().enumerate().filter(|(_, row)| row.p.is_some()) {
        families.entry(row.column.clone()).or_default().push(place);
    }
    for places in families.into_values() {
        let ps: Vec<f64> = places.iter().filter_map(|place| comparisons[*place].p).collect();
        for (place, p) in places.into_iter().zip(holm(&ps)) {
            comparisons[place].p_holm = Some(p);
        }
    }
}

/// The same draws and swaps for all policies and columns.
struct Chance {
    resamples: Resamples,
    flips: SignFlips,
}

/// One column of one policy.
struct Sample {
    /// What each session adds.
    added: Vec<Option<Accumulator>>,
    /// The total in each draw of sessions.
    drawn: Vec<Option<f64>>,
}

impl Sample {
    fn interval(&self) -> Option<[f64; 2]> {
        let enough = self.added.iter().flatten().count() >= FEWEST;
        enough.then(|| interval(self.drawn.iter().flatten().copied(), LEVEL)).flatten()
    }

    fn is_there(&self) -> impl Iterator<Item = bool> {
        self.added.iter().map(Option::is_some)
    }
}

impl Chance {
    fn sample(&self, column: &Column, added: Vec<Option<Accumulator>>) -> Sample {
        let drawn = self.resamples.totals(column, &added);
        Sample { added, drawn }
    }

    /// The same where the other has a value too.
    fn paired(&self, column: &Column, sample: &Sample, other: &Sample) -> Sample {
        let both = sample.added.iter().zip(&other.added).map(|(one, other)| other.and(*one)).collect();
        self.sample(column, both)
    }

    /// One column of a policy against the baseline's; `None` where no session has values of both. Names of policies are left
    /// empty.
    fn compare(&self, column: &Column, one: &Sample, against: &Sample) -> Option<ComparisonRow> {
        if one.is_there().ne(against.is_there()) {
            let [one, against] = [self.paired(column, one, against), self.paired(column, against, one)];
            return self.compare_paired(column, &one, &against);
        }
        self.compare_paired(column, one, against)
    }

    fn compare_paired(&self, column: &Column, one: &Sample, against: &Sample) -> Option<ComparisonRow> {
        let total = |sample: &Sample| column.total_of_all(sample.added.iter().flatten().copied());
        let sessions = one.is_there().filter(|there| *there).count();
        let differences = one.drawn.iter().zip(&against.drawn).filter_map(|(one, other)| Some((*one)? - (*other)?));
        let enough = sessions >= FEWEST;
        Some(ComparisonRow {
            column: column.id.clone(),
            sessions,
            difference: total(one)? - total(against)?,
            interval: enough.then(|| interval(differences, LEVEL)).flatten(),
            p: enough.then(|| self.flips.p(column, &one.added, &against.added)),
            ..ComparisonRow::default()
        })
    }
}
