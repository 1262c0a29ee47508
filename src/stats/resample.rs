//! The paired cluster bootstrap: sessions drawn with replacement, the same draws for everything that is compared.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::column::Column;
use crate::results::Added;

/// So many draws of as many sessions as there are, with replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resamples {
    sessions: usize,
    /// How often each draw holds each session, draw by draw.
    times: Vec<u32>,
}

impl Resamples {
    pub fn new(sessions: usize, draws: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut times = vec![0; sessions * draws];
        let most = u32::try_from(sessions).unwrap_or(u32::MAX);
        for draw in times.chunks_exact_mut(sessions.max(1)) {
            for _ in 0..sessions {
                draw[random.random_range(0..most) as usize] += 1;
            }
        }
        Self { sessions, times }
    }

    /// How often each session is in a draw, draw by draw.
    pub fn draws(&self) -> impl Iterator<Item = &[u32]> {
        self.times.chunks_exact(self.sessions.max(1))
    }

    /// A column's total in every draw, from what each session adds (`None`: nothing, it has no value there).
    pub fn totals(&self, column: &Column, added: &[Option<Added>]) -> Vec<Option<f64>> {
        let total = |times: &[u32]| {
            let drawn = times.iter().zip(added).filter(|(times, _)| **times > 0);
            let mut sum = None;
            for (times, added) in drawn {
                let Some(Added { over, under }) = *added else { continue };
                let times = f64::from(*times);
                let so_often = Added { over: over * times, under: under * times };
                sum = Some(sum.map_or(so_often, |sum| column.add(sum, so_often)));
            }
            column.total_of(sum?)
        };
        self.draws().map(total).collect()
    }
}

/// The middle part of draws (percentiles, linear between two of them); `None` where there are none.
pub fn interval(draws: impl IntoIterator<Item = f64>, level: f64) -> Option<[f64; 2]> {
    let mut sorted: Vec<f64> = draws.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
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
    use super::*;
    use crate::column::{Better, Combine, Id, Unit};

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
        let combine = Combine::Ratio { over: Id::Borrowed("a"), under: Id::Borrowed("b") };
        let column = Column::counted("a.ratio", Unit::Ratio, Better::Lower, combine, "a ÷ b.");
        let resamples = Resamples::new(3, 50, 7);
        assert_eq!(resamples, Resamples::new(3, 50, 7));
        assert!(resamples.draws().all(|times| times.iter().sum::<u32>() == 3));
        let added = [Some(Added { over: 1.0, under: 2.0 }), None, Some(Added { over: 4.0, under: 4.0 })];
        for (times, total) in resamples.draws().zip(resamples.totals(&column, &added)) {
            let [first, _, third] = [0, 1, 2].map(|session| f64::from(times[session]));
            let under = 2.0 * first + 4.0 * third;
            assert_eq!(total, (under > 0.0).then(|| (first + 4.0 * third) / under));
        }
    }
}
