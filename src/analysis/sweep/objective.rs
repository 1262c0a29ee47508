//! Objectives: columns, their direction, and which differences are too small to count.

use crate::metrics::column::{Column, Direction, Unit};
use crate::metrics::metric::{cost, retention};
use crate::results::condition::Condition;
use crate::results::saved::Objective;

/// Objectives of a sweep by default: dollars as billed, as a share of the baseline's, and facts in context.
pub const DEFAULT_OBJECTIVES: [(&str, Direction); 2] = [(cost::RATIO, Direction::Lower), (retention::HIT, Direction::Higher)];

/// Differences up to a hundredth are noise: the simulated cost is within about 1 % of the bill where the record shows it at
/// all, and about as many uses are found by chance alone.
const TOLERANCE: f64 = 0.01;

/// Returns the size of a step in a column near a value: a hundredth of the unit for ratios and shares, a hundredth of the
/// value for all others (of 1 if the value is 0).
fn step(column: &Column, around: f64) -> f64 {
    match column.unit {
        Unit::Ratio | Unit::Share => TOLERANCE,
        _ if around == 0.0 => TOLERANCE,
        _ => TOLERANCE * around.abs(),
    }
}

/// Returns how far a total is from meeting a condition: 0 if it does, else in steps of the column near the limit.
pub fn missed_by(condition: &Condition, column: &Column, value: Option<f64>) -> f64 {
    match value {
        _ if condition.holds(value) => 0.0,
        None => f64::INFINITY,
        // A value equal to the limit does not meet `<`; it misses by the smallest amount.
        Some(value) => ((value - condition.limit()).abs() / step(column, condition.limit())).max(f64::MIN_POSITIVE),
    }
}

/// Returns the smallest difference that counts, from the totals of all compared candidates: a hundredth of the unit for
/// ratios and shares, a hundredth of the best total for all others. If the best total is 0, every difference counts.
pub fn epsilon(column: &Column, better: Direction, totals: impl Iterator<Item = Option<f64>>) -> f64 {
    if matches!(column.unit, Unit::Ratio | Unit::Share) {
        return TOLERANCE;
    }
    let best = totals.flatten().reduce(|a, b| if loss(better, Some(a)) <= loss(better, Some(b)) { a } else { b });
    best.map_or(0.0, |best| TOLERANCE * best.abs())
}

/// Converts a total to a loss: smaller is better, and a missing total is infinitely bad.
pub fn loss(better: Direction, total: Option<f64>) -> f64 {
    match (better, total) {
        (_, None) => f64::INFINITY,
        (Direction::Higher, Some(total)) => -total,
        (Direction::Lower | Direction::Neither, Some(total)) => total,
    }
}

/// Returns the losses of one configuration, from its totals by objective.
pub fn losses(objectives: &[Objective], totals: impl IntoIterator<Item = Option<f64>>) -> Vec<f64> {
    objectives.iter().zip(totals).map(|(objective, total)| loss(objective.better, total)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::column::Aggregation;

    #[test]
    fn epsilon_is_a_hundredth_of_the_unit_or_scale() {
        let column = |unit| Column::counted("a", unit, Direction::Lower, Aggregation::Sum, "");
        let smallest = |unit, better| epsilon(&column(unit), better, [Some(50.0), None, Some(200.0)].into_iter());
        assert_eq!(smallest(Unit::Ratio, Direction::Lower), 0.01);
        assert_eq!(smallest(Unit::Share, Direction::Higher), 0.01);
        assert_eq!((smallest(Unit::Usd, Direction::Lower), smallest(Unit::Tokens, Direction::Higher)), (0.5, 2.0));
        assert_eq!(epsilon(&column(Unit::Count), Direction::Lower, [Some(0.0), Some(9.0)].into_iter()), 0.0);
        assert_eq!(epsilon(&column(Unit::Count), Direction::Lower, [None].into_iter()), 0.0);
        assert_eq!((step(&column(Unit::Share), 9.0), step(&column(Unit::Count), 9.0)), (0.01, 0.09));
    }

    #[test]
    fn missing_value_has_the_worst_loss() {
        assert_eq!((loss(Direction::Lower, Some(2.0)), loss(Direction::Higher, Some(2.0))), (2.0, -2.0));
        assert!(loss(Direction::Higher, None) > loss(Direction::Higher, Some(-1e300)));
    }

    #[test]
    fn condition_distance_is_measured_in_steps() {
        let share = Column::counted("kept.hard", Unit::Share, Direction::Lower, Aggregation::Sum, "");
        let tokens = Column::counted("tokens.peak", Unit::Tokens, Direction::Lower, Aggregation::Max, "");
        let by = |written: &str, column: &Column, value: Option<f64>| missed_by(&written.parse().expect(written), column, value);
        assert_eq!(by("kept.hard <= 0.02", &share, Some(0.01)), 0.0);
        assert!((by("kept.hard <= 0.02", &share, Some(0.05)) - 3.0).abs() < 1e-9);
        assert!((by("tokens.peak <= 50000", &tokens, Some(60_000.0)) - 20.0).abs() < 1e-9);
        assert_eq!(by("tokens.peak <= 50000", &tokens, None), f64::INFINITY);
    }
}
