//! A total over sessions, and how much it would differ over other sessions.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::metrics::column::{Aggregation, Column, Unit};
use crate::results::saved::Accumulator;

use super::{LEVEL, Resamples, interval};

/// Standard error of equal sessions, as a part of the total: what rounding leaves.
const SAME: f64 = 1e-9;

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
        let [low, high] = interval(resamples.t_statistics(&self.influences), LEVEL)?;
        let student = self.student(1.0)?;
        Some(self.ends([-high.max(student), -low.min(-student)]))
    }

    /// Returns the interval of the total over the next sessions, as many as these: the union of two, like [`Self::interval`]. `None` if
    /// these sessions do not differ, because then they do not say how far others may be.
    ///
    /// * Two resamples are these sessions and the next ones; their difference in standard errors of the first.
    /// * Student's t, with √2 times the standard error: the totals of both are off (G. Hahn, *Factors for calculating two-sided
    ///   prediction intervals*, Journal of the American Statistical Association 64, 1969). It has one degree of freedom less than the
    ///   interval, because what is predicted was chosen for its values in these sessions.
    pub fn prediction(&self, resamples: &Resamples) -> Option<[f64; 2]> {
        if self.standard_error() <= SAME * self.value.abs() {
            return None;
        }
        let [low, high] = interval(resamples.next_t_statistics(&self.influences), LEVEL)?;
        let student = self.student(2.0)? * f64::sqrt(2.0);
        Some(self.ends([low.min(-student), high.max(student)]))
    }

    /// Returns the quantile of Student's t for these sessions, if this number of quantities was taken from them.
    fn student(&self, taken: f64) -> Option<f64> {
        let freedom = (self.effective_sessions - taken).max(1.0);
        Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf((1.0 + LEVEL) / 2.0))
    }

    /// Returns the standard error by the jackknife.
    fn standard_error(&self) -> f64 {
        self.left_out.iter().map(|change| change * change).sum::<f64>().sqrt()
    }

    /// Returns the ends of an interval that are this number of standard errors away, as far as they are possible.
    fn ends(&self, [low, high]: [f64; 2]) -> [f64; 2] {
        let standard_error = self.standard_error();
        let [least, most] = self.possible;
        [(self.value + standard_error * low).max(least), (self.value + standard_error * high).min(most)]
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

    /// Next sessions that are as many: 4 ± √2 · 2.776 · √(17.5 ÷ 30), and the bootstrap's is not shorter.
    #[test]
    fn prediction_holds_that_of_student() {
        let mean = Column::counted("a.mean", Unit::Usd, Direction::Lower, Aggregation::Mean, "A mean.");
        let sessions: Vec<_> = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5].map(|value| (value, 1.0)).to_vec();
        let estimate = Estimate::new(&mean, &added(&sessions)).expect("a total");
        let resamples = Resamples::new(6, 2_000, 1);
        let [low, high] = estimate.prediction(&resamples).expect("an interval");
        let half = 2.776_445 * (2.0_f64 * 17.5 / 30.0).sqrt();
        assert!(low <= 4.0 - half + 1e-5 && high >= 4.0 + half - 1e-5 && low > -1.0 && high < 9.0, "{low} {high}");
        let equal = Estimate::new(&mean, &added(&[(2.0, 1.0); 6])).expect("a total");
        assert_eq!((equal.prediction(&resamples), equal.interval(&resamples)), (None, Some([2.0, 2.0])));
    }

    /// Leaves each session out, writes each resample as a list of sessions, and compares it with the next list.
    #[test]
    fn prediction_equals_slow_computation() {
        let sessions = [(1.0, 2.0), (5.0, 4.0), (3.0, 6.0), (0.5, 3.0), (2.0, 9.0)];
        let resamples = Resamples::new(5, 400, 7);
        let total = |of: &[(f64, f64)]| of.iter().map(|one| one.0).sum::<f64>() / of.iter().map(|one| one.1).sum::<f64>();
        let without = |at: usize| [&sessions[..at], &sessions[at + 1..]].concat();
        let changes: Vec<f64> = (0..5).map(|at| total(&sessions) - total(&without(at))).collect();
        let influence = |at: usize| changes[at] * without(at).iter().map(|one| one.1).sum::<f64>() / 24.0;
        let drawn = |resample: usize| -> Vec<f64> {
            let times = |at: usize| resamples.counts(at)[resample] as usize;
            (0..5).flat_map(|at| vec![influence(at); times(at)]).collect()
        };
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        let error = |values: &[f64]| values.iter().map(|value| (value - sum(values) / 5.0).powi(2)).sum::<f64>().sqrt();
        let compared = |at: usize| {
            let (these, next) = (drawn(at), drawn((at + 1) % 400));
            if these.iter().all(|value| *value == these[0]) { 0.0 } else { (sum(&next) - sum(&these)) / error(&these) }
        };
        let [low, high] = interval((0..400).map(compared), LEVEL).expect("resamples");
        let freedom = 24.0_f64.powi(2) / (4.0 + 16.0 + 36.0 + 9.0 + 81.0) - 2.0;
        let student = f64::sqrt(2.0) * StudentsT::new(0.0, 1.0, freedom).expect("a distribution").inverse_cdf(0.975);
        let standard_error = changes.iter().map(|change| change * change).sum::<f64>().sqrt();
        let slow = [low.min(-student), high.max(student)].map(|far| (11.5 / 24.0 + far * standard_error).max(0.0));
        let fast = Estimate::new(&ratio(Unit::Ratio), &added(&sessions)).expect("a total").prediction(&resamples);
        let [slow, fast] = [slow, fast.expect("an interval")].map(|ends| ends.map(|end| (end * 1e9).round()));
        assert_eq!(slow, fast);
    }

    #[test]
    fn intervals_hold_only_possible_values() {
        let resamples = Resamples::new(3, 200, 1);
        let ends = |unit, sessions: &[(f64, f64)]| Estimate::new(&ratio(unit), &added(sessions))?.interval(&resamples);
        assert_eq!(ends(Unit::Share, &[(0.0, 2.0), (4.0, 4.0), (3.0, 6.0)]), Some([0.0, 1.0]));
        let estimate = Estimate::new(&ratio(Unit::Share), &added(&[(0.0, 2.0), (4.0, 4.0), (3.0, 6.0)])).expect("a total");
        assert_eq!(estimate.prediction(&resamples), Some([0.0, 1.0]));
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
