//! The chance baseline: the share of one conversation's references that another conversation contains by chance.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::facts::extract;

use super::{Fact, Use};

/// Maximum facts in the sample of a conversation; a sample takes at most 64 KiB.
const MAX_FACTS: usize = 4096;

/// The facts of a conversation for the comparison with others: those it used, and a sample of all.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Placebo {
    used: Vec<UsedFact>,
    sample: KeySample,
}

/// A fact that was used, with the total weight of its uses.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct UsedFact {
    key: u64,
    /// Keys of anchors of which one must be near; empty for most facts.
    anchors: Box<[u64]>,
    weight: f64,
}

impl Placebo {
    pub(super) fn new(facts: &[Fact], uses: &[Use], sample: KeySample) -> Self {
        let mut weights = vec![0.0; facts.len()];
        for used in uses {
            weights[used.fact as usize] += facts[used.fact as usize].weight;
        }
        let used = facts.iter().zip(weights).filter(|(_, weight)| *weight > 0.0).map(|(fact, weight)| UsedFact {
            key: extract::key(fact.kind, &fact.text),
            anchors: fact.required_anchors().into(),
            weight,
        });
        Self { used: used.collect(), sample }
    }

    /// Returns the share (by weight) of this conversation's uses whose facts occur anywhere in the other; `None` if no fact can be
    /// compared.
    pub fn chance(&self, other: &Placebo) -> Option<f64> {
        let (mut found, mut all) = (0.0, 0.0);
        for used in &self.used {
            if let Some(is_found) = other.sample.contains(used.key, &used.anchors) {
                all += used.weight;
                found += if is_found { used.weight } else { 0.0 };
            }
        }
        (all > 0.0).then(|| found / all)
    }

    /// Whether the conversation contains a fact; `None` if the sample does not cover it.
    pub fn contains(&self, fact: &Fact) -> Option<bool> {
        self.sample.contains(extract::key(fact.kind, &fact.text), fact.required_anchors())
    }
}

/// A bottom-k sample: the facts of a conversation with the smallest keys. It is complete for keys below its limit, and two
/// conversations are compared on the keys that both samples cover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeySample {
    /// Pairs of a fact's key and an anchor's key; 0 for facts that need no anchor.
    seen: BTreeSet<(u64, u64)>,
    /// The sample has only keys below this one.
    limit: u64,
}

impl Default for KeySample {
    fn default() -> Self {
        Self { seen: BTreeSet::new(), limit: u64::MAX }
    }
}

impl KeySample {
    pub(super) fn insert(&mut self, key: u64, anchors: &[u64]) {
        if key >= self.limit {
            return;
        }
        match anchors {
            [] => {
                self.seen.insert((key, 0));
            }
            anchors => self.seen.extend(anchors.iter().map(|anchor| (key, *anchor))),
        }
        while self.seen.len() > MAX_FACTS {
            let Some((last, _)) = self.seen.pop_last() else { break };
            self.limit = last;
            while self.seen.last().is_some_and(|(key, _)| *key == last) {
                self.seen.pop_last();
            }
        }
    }

    /// Whether the conversation contains a fact, near one of `anchors` if there are any; `None` if the sample does not cover the key.
    fn contains(&self, key: u64, anchors: &[u64]) -> Option<bool> {
        let is_in_sample = || match anchors {
            [] => self.seen.contains(&(key, 0)),
            anchors => anchors.iter().any(|anchor| self.seen.contains(&(key, *anchor))),
        };
        (key < self.limit).then(is_in_sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_answers_only_for_keys_it_covers() {
        let mut sample = KeySample::default();
        sample.insert(7, &[]);
        sample.insert(8, &[1, 2]);
        assert_eq!(
            [sample.contains(7, &[]), sample.contains(8, &[2, 5]), sample.contains(8, &[5])],
            [Some(true), Some(true), Some(false)]
        );
        for key in (0..20_000).rev() {
            sample.insert(key * 2, &[]);
        }
        assert_eq!(sample.seen.len(), MAX_FACTS);
        assert_eq!(
            [sample.contains(100, &[]), sample.contains(101, &[]), sample.contains(30_000, &[])],
            [Some(true), Some(false), None]
        );
    }
}
