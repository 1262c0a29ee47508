//! The paired cluster bootstrap: sessions drawn with replacement, the same draws for everything that is compared.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::metrics::column::{Aggregation, Column};
use crate::results::saved::Accumulator;

/// So many draws of as many sessions as there are, with replacement.
#[derive(Debug, Clone, PartialEq)]
pub struct Resamples {
    draws: usize,
    /// How often each session is in each draw, session by session: what is added up runs over the draws. Small whole numbers.
    times: Vec<f32>,
}

impl Resamples {
    pub fn new(sessions: usize, draws: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut times = vec![0.0; sessions * draws];
        let most = u32::try_from(sessions).unwrap_or(u32::MAX);
        for draw in 0..draws {
            for _ in 0..sessions {
                times[random.random_range(0..most) as usize * draws + draw] += 1.0;
            }
        }
        Self { draws, times }
    }

    /// A column's total in every draw, from what each session adds (`None`: nothing, it has no value there). The largest of
    /// drawn values says nothing of the largest there is, so a column of maxima has no totals.
    pub fn totals(&self, column: &Column, added: &[Option<Accumulator>]) -> Vec<Option<f64>> {
        if column.combine == Aggregation::Max {
            return vec![None; self.draws];
        }
        let (mut over, mut under) = (vec![0.0; self.draws], vec![0.0; self.draws]);
        for (times, added) in self.times.chunks_exact(self.draws.max(1)).zip(added) {
            let Some(added) = added else { continue };
            for ((over, under), times) in over.iter_mut().zip(&mut under).zip(times) {
                let times = f64::from(*times);
                *over += added.over * times;
                *under += added.under * times;
            }
        }
        over.into_iter().zip(under).map(|(over, under)| column.total_of(Accumulator { over, under })).collect()
    }
}

/// The middle part of draws (percentiles, linear between two of them); `None` where there are none.
pub fn interval(draws: impl IntoIterator<Item = f64>, level: f64) -> Option<[f64; 2]> {
    let mut sorted: Vec<f64> = draws.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = |quantile: f64| {
        let place = quantile * last as f64;
        let (below, part) = (place.floor() as usize, place.fract());
        let above = (below + 1).min(last);
        sorted[below] + (sorted[above] - sorted[below]) * part
    };
    Some([at((1.0 - level) / 2.0), at((1.0 + level) / 2.0)])
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
        Some(Accumulator { over, under })
    }

    #[test]
    fn an_interval_is_between_percentiles() {
        let draws = || (0..=100).map(f64::from);
        assert_eq!(interval(draws(), 0.5), Some([25.0, 75.0]));
        assert_eq!(interval([1.0, 2.0], 0.5), Some([1.25, 1.75]));
        assert_eq!(interval([7.0], 0.95), Some([7.0, 7.0]));
        assert_eq!(interval([], 0.95), None);
    }

    #[test]
    fn every_draw_holds_as_many_sessions_and_its_total_is_of_those() {
        let resamples = Resamples::new(3, 50, 7);
        assert_eq!(resamples, Resamples::new(3, 50, 7));
        assert_ne!(resamples, Resamples::new(3, 50, 8));
        let totals = resamples.totals(&ratio(), &[added(1.0, 2.0), None, added(4.0, 4.0)]);
        for (draw, total) in totals.into_iter().enumerate() {
            let [first, second, third] = [0, 1, 2].map(|session| f64::from(resamples.times[session * 50 + draw]));
            assert_eq!(first + second + third, 3.0);
            let under = 2.0 * first + 4.0 * third;
            assert_eq!(total, (under > 0.0).then(|| (first + 4.0 * third) / under));
        }
    }

    /// Of three sessions there are 27 draws, all alike.
    #[test]
    fn draws_come_as_often_as_all_draws_hold_them() {
        let sessions = [(1.0, 2.0), (3.0, 4.0), (9.0, 10.0)];
        let key = |total: f64| (total * 1e6).round() as i64;
        let mut expected: BTreeMap<i64, f64> = BTreeMap::new();
        for number in 0..27 {
            let drawn = [number / 9, number / 3 % 3, number % 3].map(|at: usize| sessions[at]);
            let total = drawn.iter().map(|(over, _)| over).sum::<f64>() / drawn.iter().map(|(_, under)| under).sum::<f64>();
            *expected.entry(key(total)).or_default() += 1.0 / 27.0;
        }
        const DRAWS: usize = 20_000;
        let totals = Resamples::new(3, DRAWS, 1).totals(&ratio(), &sessions.map(|(over, under)| added(over, under)));
        let mut drawn: BTreeMap<i64, f64> = BTreeMap::new();
        for total in totals.iter().flatten() {
            *drawn.entry(key(*total)).or_default() += 1.0 / DRAWS as f64;
        }
        assert_eq!(drawn.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (total, share) in &expected {
            let error = (share * (1.0 - share) / DRAWS as f64).sqrt();
            assert!((drawn[total] - share).abs() < 4.0 * error, "{total}: {} of {share}", drawn[total]);
        }
    }

    #[test]
    fn a_largest_value_has_no_draws() {
        let column = Column::counted("a.peak", Unit::Count, Direction::Lower, Aggregation::Max, "The largest.");
        assert_eq!(Resamples::new(2, 3, 1).totals(&column, &[added(5.0, 1.0), added(7.0, 1.0)]), [None; 3]);
    }
}
