//! The paired cluster bootstrap: draws sessions with replacement, the same ones for all comparisons.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::metrics::column::{Aggregation, Column};
use crate::results::saved::Accumulator;

use super::groups::{group_of, groups_of, in_groups};

/// Variance of equal values, as a part of their mean square: what rounding leaves.
const SAME: f64 = 1e-12;

/// Bootstrap resamples: each draws as many sessions as the study has, with replacement. Of a large study, it draws groups of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Resamples {
    /// Number of resamples.
    resamples: usize,
    /// How often each session is in each resample: small whole numbers. Session by session, because sums run over the resamples.
    counts: Vec<f32>,
}

impl Resamples {
    /// Draws `resamples` resamples of a study with this many sessions.
    pub fn new(sessions: usize, resamples: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let sessions = groups_of(sessions);
        let mut counts = vec![0.0; sessions * resamples];
        let end = u32::try_from(sessions).unwrap_or(u32::MAX);
        for resample in 0..resamples {
            for _ in 0..sessions {
                counts[random.random_range(0..end) as usize * resamples + resample] += 1.0;
            }
        }
        Self { resamples, counts }
    }

    /// Returns the number of resamples.
    pub fn count(&self) -> usize {
        self.resamples
    }

    /// Returns how often a session is in each resample.
    pub fn counts(&self, session: usize) -> &[f32] {
        let begin = group_of(session) * self.resamples;
        &self.counts[begin..begin + self.resamples]
    }

    /// Returns the total of a column in each resample, from the contributions of the sessions (`None`: the session has no value).
    /// Maxima cannot be bootstrapped, so their totals are `None`.
    pub fn totals(&self, column: &Column, added: &[Option<Accumulator>]) -> Vec<Option<f64>> {
        if column.combine == Aggregation::Max {
            return vec![None; self.resamples];
        }
        let (mut over, mut under) = (vec![0.0; self.resamples], vec![0.0; self.resamples]);
        let added = in_groups(added, |sum, one| column.combine_into(sum, *one));
        for (counts, added) in self.counts.chunks_exact(self.resamples.max(1)).zip(added.iter()) {
            let Some(added) = added else { continue };
            for ((over, under), count) in over.iter_mut().zip(&mut under).zip(counts) {
                let count = f64::from(*count);
                *over += added.numerator * count;
                *under += added.denominator * count;
            }
        }
        over.into_iter()
            .zip(under)
            .map(|(over, under)| column.total_of(Accumulator { numerator: over, denominator: under }))
            .collect()
    }

    /// Returns the sum of the sessions' values in each resample.
    pub fn sums(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.resamples];
        let values = in_groups(values, |sum, value| *sum += value);
        for (counts, value) in self.counts.chunks_exact(self.resamples.max(1)).zip(values.iter()) {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += value * f64::from(*count);
            }
        }
        sums
    }

    /// Returns in each resample the sum of the sessions' values, divided by its standard error; the values sum to 0. It is 0 in a
    /// resample of equal values, which has no error.
    pub fn t_statistics(&self, values: &[f64]) -> Vec<f64> {
        self.sums_and_errors(values).into_iter().map(|(sum, error)| if error > 0.0 { sum / error } else { 0.0 }).collect()
    }

    /// Returns for each resample how much larger the sum of the sessions' values is in the next resample, divided by the standard
    /// error of its own. It is 0 where that has no error.
    pub fn next_t_statistics(&self, values: &[f64]) -> Vec<f64> {
        let drawn = self.sums_and_errors(values);
        let next = drawn.iter().cycle().skip(1);
        drawn.iter().zip(next).map(|((sum, error), (next, _))| if *error > 0.0 { (next - sum) / error } else { 0.0 }).collect()
    }

    /// Returns the sum of the sessions' values in each resample, and its standard error, which is 0 if its values are equal.
    fn sums_and_errors(&self, values: &[f64]) -> Vec<(f64, f64)> {
        let (mut sums, mut squares) = (vec![0.0; self.resamples], vec![0.0; self.resamples]);
        let values = in_groups(values, |sum, value| *sum += value);
        for (counts, value) in self.counts.chunks_exact(self.resamples.max(1)).zip(values.iter()) {
            for ((sum, square), count) in sums.iter_mut().zip(&mut squares).zip(counts) {
                let count = f64::from(*count);
                *sum += value * count;
                *square += value * value * count;
            }
        }
        let error = |(sum, square): (f64, f64)| {
            let variance = square - sum * sum / values.len() as f64;
            (sum, if variance > SAME * square { variance.sqrt() } else { 0.0 })
        };
        sums.into_iter().zip(squares).map(error).collect()
    }
}

/// Returns the percentile interval of values, with linear interpolation; `None` if there are no values.
pub fn interval(values: impl IntoIterator<Item = f64>, level: f64) -> Option<[f64; 2]> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let quantile = |share: f64| {
        let position = share * last as f64;
        let (below, fraction) = (position.floor() as usize, position.fract());
        let above = (below + 1).min(last);
        sorted[below] + (sorted[above] - sorted[below]) * fraction
    };
    Some([quantile((1.0 - level) / 2.0), quantile((1.0 + level) / 2.0)])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::metrics::column::{ColumnId, Direction, Unit};

    fn ratio() -> Column {
        let combine = Aggregation::Ratio { over: ColumnId::Borrowed("a"), under: ColumnId::Borrowed("b") };
        Column::counted("a.ratio", Unit::Ratio, Direction::Lower, combine, "a ÷ b.")
    }

    fn added(over: f64, under: f64) -> Option<Accumulator> {
        Some(Accumulator { numerator: over, denominator: under })
    }

    #[test]
    fn bootstrap_interval_is_between_percentiles() {
        let draws = || (0..=100).map(f64::from);
        assert_eq!(interval(draws(), 0.5), Some([25.0, 75.0]));
        assert_eq!(interval([1.0, 2.0], 0.5), Some([1.25, 1.75]));
        assert_eq!(interval([7.0], 0.95), Some([7.0, 7.0]));
        assert_eq!(interval([], 0.95), None);
    }

    #[test]
    fn resamples_have_as_many_sessions_as_the_study() {
        let resamples = Resamples::new(3, 50, 7);
        assert_eq!(resamples, Resamples::new(3, 50, 7));
        assert_ne!(resamples, Resamples::new(3, 50, 8));
        let totals = resamples.totals(&ratio(), &[added(1.0, 2.0), None, added(4.0, 4.0)]);
        for (resample, total) in totals.into_iter().enumerate() {
            let [first, second, third] = [0, 1, 2].map(|session| f64::from(resamples.counts[session * 50 + resample]));
            assert_eq!(first + second + third, 3.0);
            let under = 2.0 * first + 4.0 * third;
            assert_eq!(total, (under > 0.0).then(|| (first + 4.0 * third) / under));
        }
    }

    /// Three sessions have 27 resamples, all equally likely.
    #[test]
    fn resamples_are_uniform_over_all_draws() {
        let sessions = [(1.0, 2.0), (3.0, 4.0), (9.0, 10.0)];
        let key = |total: f64| (total * 1e6).round() as i64;
        let mut expected: BTreeMap<i64, f64> = BTreeMap::new();
        for number in 0..27 {
            let drawn = [number / 9, number / 3 % 3, number % 3].map(|at: usize| sessions[at]);
            let total = drawn.iter().map(|(over, _)| over).sum::<f64>() / drawn.iter().map(|(_, under)| under).sum::<f64>();
            *expected.entry(key(total)).or_default() += 1.0 / 27.0;
        }
        const RESAMPLES: usize = 20_000;
        let totals = Resamples::new(3, RESAMPLES, 1).totals(&ratio(), &sessions.map(|(over, under)| added(over, under)));
        let mut drawn: BTreeMap<i64, f64> = BTreeMap::new();
        for total in totals.iter().flatten() {
            *drawn.entry(key(*total)).or_default() += 1.0 / RESAMPLES as f64;
        }
        assert_eq!(drawn.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (total, share) in &expected {
            let error = (share * (1.0 - share) / RESAMPLES as f64).sqrt();
            assert!((drawn[total] - share).abs() < 4.0 * error, "{total}: {} of {share}", drawn[total]);
        }
    }

    #[test]
    fn maximum_columns_have_no_resamples() {
        let column = Column::counted("a.peak", Unit::Count, Direction::Lower, Aggregation::Max, "The largest.");
        assert_eq!(Resamples::new(2, 3, 1).totals(&column, &[added(5.0, 1.0), added(7.0, 1.0)]), [None; 3]);
    }
}
