//! Sums the outcomes of uses, in total and by group.

mod saved;

use serde::{Deserialize, Serialize};

use crate::facts::extract::FactKind;
use crate::facts::references::{Provenance, References, Use};

use super::{Retention, UseOutcome};

/// Names and smallest gaps of the bins, in calls since the fact was last seen.
pub const GAPS: [(&str, u32); 4] = [("2–3", 2), ("4–10", 4), ("11–30", 11), ("over 30", 31)];

/// Returns the index of the bin of [`GAPS`] that a gap is in.
pub fn gap_bin(gap: u32) -> usize {
    GAPS.iter().rposition(|(_, least)| *least <= gap).unwrap_or(0)
}

/// Names of the generations: the number of summaries between a fact and its use.
pub const GENERATIONS: [&str; 5] = ["none", "1", "2", "3", "4 or more"];

/// Weights of uses by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct OutcomeWeights {
    pub uses: u64,
    /// In bits, as all other fields.
    pub weight: f64,
    pub hit: f64,
    /// Part of `hit`: only a summary contains the fact.
    pub hit_summary: f64,
    pub soft: f64,
    /// Part of `soft`: the file was written since, and the call quotes the fact from it.
    pub soft_quoted: f64,
    pub stale: f64,
    pub hard: f64,
}

impl OutcomeWeights {
    /// Adds one use.
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
            UseOutcome::Reworded => self.soft += weight,
            UseOutcome::Stale => self.stale += weight,
            UseOutcome::Hard => self.hard += weight,
        }
    }

    /// Adds the uses of another total.
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
        let shares = [
            &mut self.all,
            &mut self.by_gap[gap_bin(used.gap)],
            &mut self.by_kind[fact.kind as usize],
            &mut self.by_provenance[used.provenance as usize],
            &mut self.by_generation[generation.min(GENERATIONS.len() - 1)],
        ];
        shares.into_iter().for_each(|share| share.count(fact.weight, outcome));
    }

    /// Returns the weights of every group, in the order of [`group_names`].
    fn groups(&self) -> impl Iterator<Item = &OutcomeWeights> {
        self.by_gap.iter().chain(&self.by_kind).chain(&self.by_provenance).chain(&self.by_generation)
    }
}

/// Returns the grouping and the name of every group.
pub fn group_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let gaps = GAPS.iter().map(|(name, _)| ("gap", *name));
    let kinds = FactKind::ALL.iter().map(|kind| ("kind", kind.name()));
    let provenances = Provenance::ALL.iter().map(|from| ("provenance", from.name()));
    gaps.chain(kinds).chain(provenances).chain(GENERATIONS.iter().map(|name| ("generation", *name)))
}

/// Outcomes by group, summed over conversations. Groups without a use are not stored: a study holds one sum per session and
/// policy, and most groups of a small session are empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<saved::SavedGroup>", try_from = "Vec<saved::SavedGroup>")]
pub struct GroupTotals(
    /// Index in [`group_names`] and weights, by index.
    Vec<(u8, OutcomeWeights)>,
);

impl GroupTotals {
    /// Adds the uses of one replay.
    pub fn add_retention(&mut self, retention: &Retention) {
        let used = retention.groups().enumerate().filter(|(_, weights)| weights.uses > 0);
        used.for_each(|(group, weights)| self.add_group(group as u8, weights));
        self.0.shrink_to_fit();
    }

    /// Adds the uses of other totals, group by group.
    pub fn add(&mut self, other: &GroupTotals) {
        other.0.iter().for_each(|(group, weights)| self.add_group(*group, weights));
    }

    /// Returns the groups that have a use.
    pub fn iter(&self) -> impl Iterator<Item = ((&'static str, &'static str), &OutcomeWeights)> {
        let weights = |(index, name): (usize, _)| {
            let place = self.0.binary_search_by_key(&index, |(group, _)| usize::from(*group)).ok()?;
            Some((name, &self.0[place].1))
        };
        group_names().enumerate().filter_map(weights)
    }

    fn add_group(&mut self, group: u8, weights: &OutcomeWeights) {
        match self.0.binary_search_by_key(&group, |(known, _)| *known) {
            Ok(place) => self.0[place].1.add(weights),
            Err(place) => self.0.insert(place, (group, *weights)),
        }
    }
}
