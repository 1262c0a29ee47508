//! Estimates how often another configuration would be better in every objective, had other sessions been recorded.

use rayon::prelude::*;

use crate::metrics::column::{Aggregation, Column};
use crate::results::saved::{Accumulator, Objective};
use crate::results::stats::{MIN_SESSIONS, RESAMPLES, Resamples};

use super::objective::losses;
use super::pareto::dominates;

/// What the sessions of one candidate add to each objective's column: by objective, then by session.
pub type BySession = Vec<Vec<Option<Accumulator>>>;

/// Returns, for the candidates with indices `members`, the share of bootstrap resamples of sessions in which another
/// candidate dominates it. All candidates use the same resamples. Returns `None` if there are too few sessions, or if an
/// objective is a maximum: resamples are meaningless for a maximum, and without that objective a candidate that is best in it
/// would look dominated.
pub fn dominated(
    columns: &[&Column],
    objectives: &[Objective],
    all: &[BySession],
    members: &[usize],
    seed: u64,
) -> Vec<Option<f64>> {
    let sessions = all.iter().flatten().map(Vec::len).max().unwrap_or(0);
    if sessions < MIN_SESSIONS || columns.iter().any(|column| column.combine == Aggregation::Max) {
        return vec![None; members.len()];
    }
    let resamples = Resamples::new(sessions, RESAMPLES, seed);
    let epsilons: Vec<f64> = objectives.iter().map(|objective| objective.epsilon).collect();
    // Losses of one candidate, by resample. Those of all candidates at once would need too much memory.
    let drawn = |added: &BySession| -> Vec<Vec<f64>> {
        let totals: Vec<_> = columns.iter().zip(added).map(|(column, added)| resamples.totals(column, added)).collect();
        (0..RESAMPLES).map(|draw| losses(objectives, totals.iter().map(|of| of.get(draw).copied().flatten()))).collect()
    };
    let member_losses: Vec<Vec<Vec<f64>>> = members.par_iter().map(|at| drawn(&all[*at])).collect();
    let dominates_in = |other: &BySession| -> Vec<bool> {
        let other = drawn(other);
        let pairs = member_losses.iter().flat_map(|own| own.iter().zip(&other));
        pairs.map(|(own, other)| dominates(other, own, &epsilons)).collect()
    };
    let none = || vec![false; member_losses.len() * RESAMPLES];
    let either = |one: Vec<bool>, other: Vec<bool>| one.iter().zip(other).map(|(a, b)| a | b).collect();
    let is_dominated = all.par_iter().map(dominates_in).reduce(none, either);
    let share = |draws: &[bool]| draws.iter().filter(|is_dominated| **is_dominated).count() as f64 / RESAMPLES as f64;
    is_dominated.chunks(RESAMPLES).map(|draws| Some(share(draws))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::column::{Aggregation, ColumnId, Direction, Unit};

    const UNDER: ColumnId = ColumnId::Borrowed("under");

    /// Six sessions, equal for both candidates except one, in which `b` keeps more at the same price. `b` dominates `a`
    /// unless a resample leaves that session out, which (5/6)⁶ = 33.5 % of resamples do.
    #[test]
    fn dominance_probability_equals_a_count() {
        let ratio = |id: &'static str| {
            Column::counted(
                id,
                Unit::Ratio,
                Direction::Lower,
                Aggregation::Ratio { over: ColumnId::Borrowed("over"), under: UNDER },
                "",
            )
        };
        let (cost, lost) = (ratio("cost"), ratio("lost"));
        let objective = |column: &Column| Objective { column: column.id.clone(), better: Direction::Lower, epsilon: 0.01 };
        let objectives = [objective(&cost), objective(&lost)];
        let add = |over: f64| Some(Accumulator { numerator: over, denominator: 1.0 });
        let with = |sessions: usize, last: f64| -> BySession {
            let mut lost = vec![add(0.2); sessions];
            lost[sessions - 1] = add(last);
            vec![vec![add(0.5); sessions], lost]
        };
        let shares = |sessions| dominated(&[&cost, &lost], &objectives, &[with(sessions, 0.9), with(sessions, 0.1)], &[0, 1], 1);
        let six = shares(6);
        assert!(six[0].is_some_and(|share| (share - 0.665).abs() < 0.03), "{six:?}");
        assert_eq!(six[1], Some(0.0));
        assert_eq!(six, shares(6), "the same again");
        assert_eq!(shares(5), [None, None], "too few to say");
        let largest = Column { combine: Aggregation::Max, ..cost };
        let all = [with(6, 0.9), with(6, 0.1)];
        assert_eq!(dominated(&[&largest, &lost], &objectives, &all, &[0, 1], 1), [None, None], "draws say nothing of it");
    }
}
