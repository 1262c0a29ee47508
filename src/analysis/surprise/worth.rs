//! What a fact is worth, in bits: learned from the losses of gone facts, by kind and length.
//!
//! The model is a product: the mean loss × a factor for the kind × one for the length. The factors of each are fitted while
//! the others hold, in turn; small groups are drawn towards 1. Half of the repositories learn, the other half is predicted, and the
//! other way round, so that no use is predicted from its own repository.

use std::collections::BTreeSet;

use serde::Serialize;

use super::ask::ScoredUse;
use super::estimates::{Estimate, Sessions};
use crate::facts::extract::FactKind;
use crate::metrics::retention::{Worth, WorthGroups};

/// Rounds of fitting; the factors change by less than a thousandth after half of them.
const ROUNDS: usize = 20;
/// Number of average uses that are added to every group, so that a group of a few uses has a factor near 1.
const PRIOR: f64 = 5.0;
/// Smallest factor.
const LEAST: f64 = 0.01;

/// Fits the factors to the losses of gone facts.
pub(super) fn fit(uses: &[&ScoredUse]) -> Worth {
    let gone: Vec<(WorthGroups, f64)> =
        uses.iter().filter(|used| used.outcome.is_gone()).map(|used| (groups_of(used), used.lost)).collect();
    let mean = gone.iter().map(|(_, lost)| lost).sum::<f64>().max(0.0) / gone.len().max(1) as f64;
    let mut worth = Worth { mean, kinds: [1.0; _], lengths: [1.0; _] };
    for _ in 0..ROUNDS {
        for dimension in 0..2 {
            let mut sums = vec![(PRIOR * mean, PRIOR * mean); factors(&mut worth, dimension).len()];
            for (groups, lost) in &gone {
                let (measured, expected) = &mut sums[groups[dimension]];
                *measured += lost;
                *expected += worth.of(*groups) / factors(&mut worth, dimension)[groups[dimension]];
            }
            for (factor, (measured, expected)) in factors(&mut worth, dimension).iter_mut().zip(sums) {
                // A group that gains bits is worth next to nothing.
                *factor = if expected > 0.0 { (measured / expected).max(LEAST) } else { 1.0 };
            }
        }
    }
    worth
}

fn factors(worth: &mut Worth, dimension: usize) -> &mut [f64] {
    match dimension {
        0 => &mut worth.kinds,
        _ => &mut worth.lengths,
    }
}

fn groups_of(used: &ScoredUse) -> WorthGroups {
    let kind = FactKind::ALL.into_iter().find(|kind| kind.name() == used.kind).unwrap_or(FactKind::Path);
    Worth::groups_of(kind, used.bytes)
}

/// How well two weights predict the loss of gone facts on repositories that they were not learned on: rank correlation within sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorthCheck {
    /// Today's weight: the logarithm of the rarity.
    pub weight: Estimate,
    /// The learned worth.
    pub worth: Estimate,
    pub uses: usize,
}

impl WorthCheck {
    pub(super) fn new(uses: &[ScoredUse], seed: u64) -> Self {
        let repositories: BTreeSet<&str> = uses.iter().map(ScoredUse::repository).collect();
        let side = |used: &ScoredUse| repositories.iter().position(|name| *name == used.repository()).unwrap_or(0) % 2;
        let half = |wanted: usize| uses.iter().filter(|used| side(used) == wanted).collect::<Vec<_>>();
        let learned = [fit(&half(0)), fit(&half(1))];
        let gone: Vec<&ScoredUse> = uses.iter().filter(|used| used.outcome.is_gone()).collect();
        let sessions = Sessions::new(&gone, seed);
        Self {
            weight: sessions.rank_correlation(&gone, |used| used.weight),
            worth: sessions.rank_correlation(&gone, |used| learned[1 - side(used)].of(groups_of(used))),
            uses: gone.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Outcome;
    use super::*;

    fn used(kind: &'static str, bytes: usize, lost: f64) -> ScoredUse {
        ScoredUse { kind, bytes, lost, outcome: Outcome::Lost, ..ScoredUse::default() }
    }

    /// Paths lose 20 and 10 bits, numbers half as much: the factors of the two kinds are 2 : 1, those of the lengths too.
    #[test]
    fn factors_of_a_product_are_found() {
        let cells = [("path", 40, 20.0), ("path", 9, 10.0), ("number", 40, 10.0), ("number", 9, 5.0)];
        let uses: Vec<ScoredUse> =
            cells.iter().cycle().take(4_000).map(|(kind, bytes, lost)| used(kind, *bytes, *lost)).collect();
        let worth = fit(&uses.iter().collect::<Vec<_>>());
        assert!((worth.kinds[0] / worth.kinds[7] - 2.0).abs() < 0.02, "{worth:?}");
        assert!((worth.lengths[3] / worth.lengths[1] - 2.0).abs() < 0.02, "{worth:?}");
        for used in &uses[..4] {
            assert!((worth.of(groups_of(used)) - used.lost).abs() < 0.2, "{} for {}", worth.of(groups_of(used)), used.lost);
        }
        assert_eq!((worth.kinds[3], worth.lengths[0]), (1.0, 1.0), "groups without uses");
    }

    #[test]
    fn without_uses_everything_is_worth_nothing() {
        assert_eq!(fit(&[]).mean, 0.0);
        assert_eq!(WorthCheck::new(&[], 1).worth.value, None);
    }
}
