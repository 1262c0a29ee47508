//! Sums the outcomes of uses, in total and by group.

use serde::{Deserialize, Serialize};

use crate::facts::references::{References, Use};

use super::{Retention, UseOutcome};

/// Names and smallest gaps of the bins, in calls since the fact was last seen.
pub const GAPS: [(&str, u32); 4] = [("2–3", 2), ("4–10", 4), ("11–30", 11), ("over 30", 31)];

/// Names of the generations: the number of summaries between a fact and its use.
pub const GENERATIONS: [&str; 5] = ["none", "1", "2", "3", "4 or more"];

/// Weights of uses by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct OutcomeWeights {
    pub uses: u64,
    pub weight: f64,
    pub hit: f64,
    /// Part of `hit`: only a summary contains the fact.
    pub hit_summary: f64,
    pub soft: f64,
    /// Part of `soft`: the file was written since, and the call quotes the fact from it.
    #[serde(default)]
    pub soft_quoted: f64,
    #[serde(default)]
    pub stale: f64,
    pub hard: f64,
}

impl OutcomeWeights {
    pub fn count(&mut self, weight: f64, outcome: UseOutcome) {
        self.uses += 1;
        self.weight += weight;
        match outcome {
            UseOutcome::Hit { in_summary } => {
                self.hit += weight;
                self.hit_summary += if in_summary { weight } else { 0.0 };
            }
            UseOutcome::Soft { quoted } => {
                self.soft += weight;
                self.soft_quoted += if quoted { weight } else { 0.0 };
            }
            UseOutcome::Stale => self.stale += weight,
            UseOutcome::Hard => self.hard += weight,
        }
    }

    pub fn add(&mut self, other: &OutcomeWeights) {
        self.uses += other.uses;
        self.weight += other.weight;
        self.hit += other.hit;
        self.hit_summary += other.hit_summary;
        self.soft += other.soft;
        self.soft_quoted += other.soft_quoted;
        self.stale += other.stale;
        self.hard += other.hard;
    }
}

impl Retention {
    pub(super) fn count(&mut self, references: &References, used: &Use, outcome: UseOutcome, generation: usize) {
        let fact = &references.facts[used.fact as usize];
        let gap = GAPS.iter().rposition(|(_, least)| *least <= used.gap).unwrap_or(0);
        let shares = [
            &mut self.all,
            &mut self.by_gap[gap],
            &mut self.by_kind[fact.kind as usize],
            &mut self.by_provenance[used.provenance as usize],
            &mut self.by_generation[generation.min(GENERATIONS.len() - 1)],
        ];
        shares.into_iter().for_each(|share| share.count(fact.weight, outcome));
    }

    /// Adds the shares of another conversation. Does not add rules, tokens and misses.
    pub fn add_shares(&mut self, other: &Retention) {
        self.all.add(&other.all);
        let pairs = self.by_gap.iter_mut().zip(&other.by_gap).chain(self.by_kind.iter_mut().zip(&other.by_kind));
        let pairs = pairs.chain(self.by_provenance.iter_mut().zip(&other.by_provenance));
        let pairs = pairs.chain(self.by_generation.iter_mut().zip(&other.by_generation));
        pairs.for_each(|(sum, share)| sum.add(share));
    }
}
