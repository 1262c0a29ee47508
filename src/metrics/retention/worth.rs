//! What a use of a fact is worth, in bits: what a model loses that does not see the fact.

use serde::Serialize;

use super::GAPS;
use crate::facts::extract::FactKind;

/// Names and smallest weights of the bins of rarity. A weight of 3 is a fact in one of twenty blocks, of 5 in one of 150.
pub const RARITIES: [(&str, f64); 3] = [("common", 0.0), ("rare", 3.0), ("very rare", 5.0)];

/// Bits that uses are worth: a mean, and three factors for each use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worth {
    /// Mean loss of a gone fact, in bits.
    pub mean: f64,
    /// Factors, in the order of [`FactKind::ALL`], [`GAPS`] and [`RARITIES`].
    pub kinds: [f64; FactKind::ALL.len()],
    pub gaps: [f64; GAPS.len()],
    pub rarities: [f64; RARITIES.len()],
}

/// Places of a use in the three lists of factors.
pub type WorthGroups = [usize; 3];

/// Measured on 2026-11-25 with Qwen2.5-Coder-Instruct 0.5B: the fit to all uses in `fixtures/surprise`. The guide's page `validation`
/// has the method.
pub const MEASURED: Worth = Worth {
    mean: 24.2,
    // Path, file, identifier, hash, URL, line, quoted, number.
    kinds: [1.03, 0.58, 0.57, 0.93, 1.16, 1.99, 1.21, 0.62],
    gaps: [1.26, 1.07, 1.07, 0.82],
    rarities: [0.62, 0.98, 1.43],
};

impl Worth {
    /// Returns the groups of a use: its kind, the calls since the fact was last seen, and the weight of the fact.
    pub fn groups_of(kind: FactKind, gap: u32, weight: f64) -> WorthGroups {
        let gap = GAPS.iter().rposition(|(_, least)| *least <= gap).unwrap_or(0);
        let rarity = RARITIES.iter().rposition(|(_, least)| *least <= weight).unwrap_or(0);
        [kind as usize, gap, rarity]
    }

    /// Returns the bits that a use of these groups is worth.
    pub fn of(&self, [kind, gap, rarity]: WorthGroups) -> f64 {
        self.mean * self.kinds[kind] * self.gaps[gap] * self.rarities[rarity]
    }

    /// Returns all groups with their factors: what they are by, and their name.
    pub fn groups(&self) -> impl Iterator<Item = (&'static str, &'static str, f64)> {
        let kinds = FactKind::ALL.iter().zip(self.kinds).map(|(kind, factor)| ("kind", kind.name(), factor));
        let gaps = GAPS.iter().zip(self.gaps).map(|((name, _), factor)| ("gap", *name, factor));
        let rarities = RARITIES.iter().zip(self.rarities).map(|((name, _), factor)| ("rarity", *name, factor));
        kinds.chain(gaps).chain(rarities)
    }
}
