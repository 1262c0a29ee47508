//! How often another configuration would have been better in everything, had other sessions been recorded.

use rayon::prelude::*;

use crate::column::Column;
use crate::results::{Added, Objective};
use crate::stats::{DRAWS, Resamples};

use super::objective::losses;
use super::pareto::dominates;

/// What one candidate's sessions add to each objective's column: by objective, then session.
pub type BySession = Vec<Vec<Option<Added>>>;

/// For some of the candidates, by their places, the share of draws of sessions in which another candidate dominates it. All are
/// drawn alike.
pub fn dominated(columns: &[&Column], objectives: &[Objective], all: &[BySession], of: &[usize], seed: u64) -> Vec<f64> {
    let sessions = all.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let resamples = Resamples::new(sessions, DRAWS, seed);
    let epsilons: Vec<f64> = objectives.iter().map(|objective| objective.epsilon).collect();
    // Draw by draw the losses of one candidate: those of all at once would be much memory.
    let drawn = |added: &BySession| -> Vec<Vec<f64>> {
        let totals: Vec<_> = columns.iter().zip(added).map(|(column, added)| resamples.totals(column, added)).collect();
        (0..DRAWS).map(|draw| losses(objectives, totals.iter().map(|of| of.get(draw).copied().flatten()))).collect()
    };
    let asked: Vec<Vec<Vec<f64>>> = of.par_iter().map(|at| drawn(&all[*at])).collect();
    let dominates_in = |other: &BySession| -> Vec<bool> {
        let other = drawn(other);
        let pairs = asked.iter().flat_map(|own| own.iter().zip(&other));
        pairs.map(|(own, other)| dominates(other, own, &epsilons)).collect()
    };
    let none = || vec![false; asked.len() * DRAWS];
    let either = |one: Vec<bool>, other: Vec<bool>| one.iter().zip(other).map(|(a, b)| a | b).collect();
    let is_dominated = all.par_iter().map(dominates_in).reduce(none, either);
    let share = |draws: &[bool]| draws.iter().filter(|is_dominated| **is_dominated).count() as f64 / DRAWS as f64;
    is_dominated.chunks(DRAWS).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{Better, Combine, Id, Unit};

    const UNDER: Id = Id::Borrowed("under");

    /// Two sessions. In one both are alike; in the other `b` is better at the same price: it dominates `a` unless a draw holds the
    /// first session twice, which one in four does.
    #[test]
    fn a_share_that_can_be_counted() {
        let ratio = |id: &'static str| {
            Column::counted(id, Unit::Ratio, Better::Lower, Combine::Ratio { over: Id::Borrowed("over"), under: UNDER }, "")
        };
        let (cost, lost) = (ratio("cost"), ratio("lost"));
        let objective = |column: &Column| Objective { column: column.id.clone(), better: Better::Lower, epsilon: 0.01 };
        let objectives = [objective(&cost), objective(&lost)];
        let add = |over: f64| Some(Added { over, under: 1.0 });
        let a = vec![vec![add(0.5), add(0.5)], vec![add(0.2), add(0.4)]];
        let b = vec![vec![add(0.5), add(0.5)], vec![add(0.2), add(0.1)]];
        let added = [a, b];
        let shares = dominated(&[&cost, &lost], &objectives, &added, &[0, 1], 1);
        assert!((shares[0] - 0.75).abs() < 0.03, "{shares:?}");
        assert_eq!(shares[1], 0.0);
        assert_eq!(shares, dominated(&[&cost, &lost], &objectives, &added, &[0, 1], 1));
    }
}
