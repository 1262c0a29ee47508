//! What a fact is worth, in bits: learned from the losses of gone facts, by kind and length.
//!
//! The model is a product: the mean loss × a factor for the kind × one for the length. The factors of each are fitted while
//! the others hold, in turn; small groups are drawn towards 1. Half of the repositories learn, the other half is predicted, and the
//! other way round, so that no use is predicted from its own repository.

use std::collections::BTreeSet;

use serde::Serialize;

use super::bits::Sessions;
use super::grouping::Grouping;
use super::scored::ScoredUse;
use crate::analysis::probe::Estimate;
use crate::facts::extract::FactKind;
use crate::facts::references::{Worth, WorthGroups};

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

/// Factors on top of a worth for how many other sessions of the repository have the fact too, in the order of [`Grouping::Shared`].
type Sharing = [f64; 4];

/// Fits a factor for each group of sharing to the losses of gone facts.
fn fit_sharing(worth: &Worth, uses: &[&ScoredUse]) -> Sharing {
    let mut sums = [(PRIOR * worth.mean, PRIOR * worth.mean); 4];
    for used in uses.iter().filter(|used| used.outcome.is_gone()) {
        let (measured, expected) = &mut sums[sharing_of(used)];
        *measured += used.lost;
        *expected += worth.of(groups_of(used));
    }
    sums.map(|(measured, expected)| if expected > 0.0 { (measured / expected).max(LEAST) } else { 1.0 })
}

fn sharing_of(used: &ScoredUse) -> usize {
    Grouping::Shared.group_of(used, &[]).0
}

/// Two worths, each learned on half of the repositories: a use is weighed by the one that did not see its repository.
pub struct LearnedElsewhere<'a> {
    /// All repositories in alphabetic order; those at even places are one half.
    repositories: Vec<&'a str>,
    learned: [(Worth, Sharing); 2],
}

impl<'a> LearnedElsewhere<'a> {
    /// Learns from the uses of each half.
    pub fn new(uses: &'a [ScoredUse]) -> Self {
        let repositories: BTreeSet<&str> = uses.iter().map(ScoredUse::repository).collect();
        let repositories: Vec<&str> = repositories.into_iter().collect();
        let learned = [0, 1].map(|half| {
            let uses: Vec<&ScoredUse> = uses.iter().filter(|used| half_of(&repositories, used) == half).collect();
            let worth = fit(&uses);
            let sharing = fit_sharing(&worth, &uses);
            (worth, sharing)
        });
        Self { repositories, learned }
    }

    fn of(&self, used: &ScoredUse) -> &(Worth, Sharing) {
        &self.learned[1 - half_of(&self.repositories, used)]
    }

    /// Returns what a use is worth by the other half, in bits.
    pub fn weight(&self, used: &ScoredUse) -> f64 {
        self.of(used).0.of(groups_of(used))
    }

    /// The same, with a factor for how many other sessions have the fact.
    fn weight_with_sharing(&self, used: &ScoredUse) -> f64 {
        self.weight(used) * self.of(used).1[sharing_of(used)]
    }
}

fn half_of(repositories: &[&str], used: &ScoredUse) -> usize {
    repositories.binary_search(&used.repository()).unwrap_or(0) % 2
}

/// How well weights predict the loss of gone facts on repositories that they were not learned on: rank correlation within sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorthCheck {
    /// The logarithm of the rarity.
    pub rarity: Estimate,
    /// The learned worth.
    pub worth: Estimate,
    /// The learned worth with a factor for how many other sessions of the repository have the fact. It is no weight of the program: a
    /// session would weigh differently beside other sessions.
    pub with_sharing: Estimate,
    pub uses: usize,
}

impl WorthCheck {
    pub(super) fn new(uses: &[ScoredUse], seed: u64) -> Self {
        let learned = LearnedElsewhere::new(uses);
        let gone: Vec<&ScoredUse> = uses.iter().filter(|used| used.outcome.is_gone()).collect();
        let sessions = Sessions::new(&gone, seed);
        Self {
            rarity: sessions.rank_correlation(&gone, |used| used.rarity),
            worth: sessions.rank_correlation(&gone, |used| learned.weight(used)),
            with_sharing: sessions.rank_correlation(&gone, |used| learned.weight_with_sharing(used)),
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

    /// A fact that all sessions have loses half of what one that no other has; paths lose what they lost before.
    #[test]
    fn facts_that_sessions_share_have_a_factor_of_their_own() {
        let of = |shared, lost| ScoredUse { shared, ..used("path", 9, lost) };
        let cells = [of(Some(0.0), 20.0), of(Some(1.0), 10.0)];
        let uses: Vec<&ScoredUse> = cells.iter().cycle().take(4_000).collect();
        let [alone, few, most, _] = fit_sharing(&fit(&uses), &uses);
        assert!((alone / most - 2.0).abs() < 0.02 && few == 1.0, "{alone}, {few}, {most}");
    }

    #[test]
    fn without_uses_everything_is_worth_nothing() {
        assert_eq!(fit(&[]).mean, 0.0);
        assert_eq!(WorthCheck::new(&[], 1).worth.value, None);
    }
}
