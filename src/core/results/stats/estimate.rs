//! A total over sessions, and how much it would differ over other sessions.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::metrics::column::{Aggregation, Column, Unit};
use crate::results::saved::Accumulator;

use super::{LEVEL, Resamples, interval};

/// Part of a sum that rounding may leave where nothing is left.
const NOTHING_LEFT: f64 = 1e-12;

/// A total, or a difference of two, over a sample of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    value: f64,
    /// What each session adds to the error of the value, to first order. They sum to 0.
    influences: Vec<f64>,
    /// How much the value falls if a session is left out: the jackknife.
    left_out: Vec<f64>,
    /// Number of equally large sessions that would say as much (L. Kish, *Survey Sampling*, 1965): (Σ w)² ÷ Σ w².
    effective_sessions: f64,
    /// No sample of sessions can have a value outside of this range.
    possible: [f64; 2],
}

impl Estimate {
    /// Estimates the total of a column from what each session adds to it; `None` in a session without a value. Returns `None` if
    /// there is no total, or if it depends on one session alone.
    pub fn new(column: &Column, added: &[Option<Accumulator>]) -> Option<Self> {
        let added: Vec<Accumulator> = added.iter().map(|added| added.unwrap_or_default()).collect();
        let sum = added.iter().fold(Accumulator::default(), |sum, one| column.add(sum, *one));
        let value = column.exact_total_of(sum)?;
        let mut estimate = Self {
            value,
            influences: Vec::with_capacity(added.len()),
            left_out: Vec::with_capacity(added.len()),
            effective_sessions: sum.denominator.powi(2) / added.iter().map(|one| one.denominator.powi(2)).sum::<f64>(),
            possible: possible_totals(column, &added),
        };
        for one in &added {
            let denominator = sum.denominator - one.denominator;
            if denominator.abs() <= NOTHING_LEFT * sum.denominator.abs() {
                return None;
            }
            let without = column.exact_total_of(Accumulator { numerator: sum.numerator - one.numerator, denominator })?;
            estimate.left_out.push(value - without);
            estimate.influences.push((value - without) * denominator / sum.denominator);
        }
        Some(estimate)
    }

    /// Returns the difference of two estimates over the same sessions.
    pub fn minus(&self, other: &Self) -> Self {
        let differences = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(one, other)| one - other).collect();
        Self {
            value: self.value - other.value,
            influences: differences(&self.influences, &other.influences),
            left_out: differences(&self.left_out, &other.left_out),
            effective_sessions: self.effective_sessions.min(other.effective_sessions),
            possible: [self.possible[0] - other.possible[1], self.possible[1] - other.possible[0]],
        }
    }

    /// Returns the interval: the union of two, because each is too narrow where the other is not.
    ///
    /// * The bootstrap-t interval (B. Efron, R. Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 12) of the influences.
    ///   It becomes longer on the side on which rare large sessions are missing.
    /// * Student's t with the standard error of the jackknife, and with the effective number of sessions minus 1 as the degrees of
    ///   freedom: if one session is most of a sample, the sample is small.
    pub fn interval(&self, resamples: &Resamples) -> Option<[f64; 2]> {
        let standard_error = self.left_out.iter().map(|change| change * change).sum::<f64>().sqrt();
        let [low, high] = interval(resamples.t_statistics(&self.influences), LEVEL)?;
        let freedom = (self.effective_sessions - 1.0).max(1.0);
        let student = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf((1.0 + LEVEL) / 2.0);
        let ends = [self.value - standard_error * high.max(student), self.value - standard_error * low.min(-student)];
        let [least, most] = self.possible;
        Some([ends[0].max(least), ends[1].min(most)])
    }
}

/// Returns the range of the totals that sessions such as these can have.
fn possible_totals(column: &Column, added: &[Accumulator]) -> [f64; 2] {
    let is_ratio = added.iter().all(|one| one.numerator >= 0.0 && one.denominator >= 0.0);
    let is_share = is_ratio && column.unit == Unit::Share && added.iter().all(|one| one.numerator <= one.denominator);
    match (&column.combine, is_ratio) {
        (Aggregation::Saving { .. }, true) => [f64::NEG_INFINITY, 1.0],
        (_, true) => [0.0, if is_share { 1.0 } else { f64::INFINITY }],
        (_, false) => [f64::NEG_INFINITY, f64::INFINITY],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::column::{ColumnId, Direction};

    fn ratio(unit: Unit) -> Column {
        let combine = Aggregation::Ratio { over: ColumnId::Borrowed("a"), under: ColumnId::Borrowed("b") };
        Column::counted("a.ratio", unit, Direction::Lower, combine, "a ÷ b.")
    }

    fn added(sessions: &[(f64, f64)]) -> Vec<Option<Accumulator>> {
        sessions.iter().map(|(over, under)| Some(Accumulator { numerator: *over, denominator: *under })).collect()
    }

    /// Of 6 ÷ 12. Without the first session 5 ÷ 10, so nothing changes; without the second 4 ÷ 8, too; without the third 3 ÷ 6.
    /// Of 9 ÷ 12: without the sessions 8 ÷ 10, 4 ÷ 8 and 6 ÷ 6; influences are 10/12, 8/12 and 6/12 of these changes.
    #[test]
    fn influences_equal_hand_computation() {
        let equal = Estimate::new(&ratio(Unit::Ratio), &added(&[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)])).expect("a total");
        assert_eq!((equal.value, &equal.left_out[..], &equal.influences[..]), (0.5, &[0.0; 3][..], &[0.0; 3][..]));
        assert!((equal.effective_sessions - 144.0 / 56.0).abs() < 1e-12);
        let other = Estimate::new(&ratio(Unit::Ratio), &added(&[(1.0, 2.0), (5.0, 4.0), (3.0, 6.0)])).expect("a total");
        let rounded = |values: &[f64]| values.iter().map(|value| (value * 1e6).round() / 1e6).collect::<Vec<_>>();
        assert_eq!(rounded(&other.left_out), [-0.05, 0.25, -0.25]);
        assert_eq!(rounded(&other.influences), [-0.041667, 0.166667, -0.125]);
        assert_eq!(rounded(&other.minus(&equal).left_out), [-0.05, 0.25, -0.25]);
    }

    /// Six equal sessions that differ by chance: the interval of Student's t is 4 ± 2.571 · √(17.5 ÷ 30), and the bootstrap's is not
    /// shorter.
    #[test]
    fn interval_holds_that_of_student() {
        let mean = Column::counted("a.mean", Unit::Usd, Direction::Lower, Aggregation::Mean, "A mean.");
        let sessions: Vec<_> = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5].map(|value| (value, 1.0)).to_vec();
        let estimate = Estimate::new(&mean, &added(&sessions)).expect("a total");
        let [low, high] = estimate.interval(&Resamples::new(6, 2_000, 1)).expect("an interval");
        let half = 2.570_582 * (17.5_f64 / 30.0).sqrt();
        assert!(low <= 4.0 - half + 1e-5 && high >= 4.0 + half - 1e-5 && low > 0.0 && high < 9.0, "{low} {high}");
    }

    #[test]
    fn intervals_hold_only_possible_values() {
        let resamples = Resamples::new(3, 200, 1);
        let ends = |unit, sessions: &[(f64, f64)]| Estimate::new(&ratio(unit), &added(sessions))?.interval(&resamples);
        assert_eq!(ends(Unit::Share, &[(0.0, 2.0), (4.0, 4.0), (3.0, 6.0)]), Some([0.0, 1.0]));
        assert_eq!(
            ends(Unit::Ratio, &[(0.0, 2.0), (4.0, 4.0), (3.0, 6.0)]).map(|[low, high]| (low, high > 1.0)),
            Some((0.0, true))
        );
        assert_eq!(ends(Unit::Share, &[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]), Some([0.5, 0.5]));
        let share = |sessions: &[(f64, f64)]| Estimate::new(&ratio(Unit::Share), &added(sessions)).expect("a total");
        let difference = share(&[(0.0, 2.0), (4.0, 4.0), (3.0, 6.0)]).minus(&share(&[(2.0, 2.0), (0.0, 4.0), (3.0, 6.0)]));
        assert_eq!(difference.interval(&resamples), Some([-1.0, 1.0]), "no share differs by more than the whole");
        assert_eq!(ends(Unit::Share, &[(1.0, 2.0), (0.0, 0.0), (0.0, 0.0)]), None, "one session has all the weight");
    }
}
