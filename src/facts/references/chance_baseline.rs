//! The placebo: how many of one conversation's references chance would find in another.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::facts::extract;

use super::{Fact, Use};

/// Facts kept of a conversation: at most 64 KiB each, whatever its length.
const MOST: usize = 4096;

/// What is needed of a conversation to compare it with others: what it used, and a sample of what it holds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Placebo {
    used: Vec<Used>,
    sample: Sample,
}

/// A fact that was used, with the weight of all its uses.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Used {
    key: u64,
    /// What it must stand beside; nothing for most facts.
    anchors: Box<[u64]>,
    weight: f64,
}

impl Placebo {
    pub(super) fn new(facts: &[Fact], uses: &[Use], sample: Sample) -> Self {
        let mut weights = vec![0.0; facts.len()];
        for used in uses {
            weights[used.fact as usize] += facts[used.fact as usize].weight;
        }
        let used = facts.iter().zip(weights).filter(|(_, weight)| *weight > 0.0).map(|(fact, weight)| Used {
            key: extract::key(fact.kind, &fact.text),
            anchors: if fact.kind.is_bound() { fact.anchors.clone() } else { Box::default() },
            weight,
        });
        Self { used: used.collect(), sample }
    }

    /// The share of the weight of this conversation's uses whose facts the other holds, anywhere; `None` where there are none
    /// to compare.
    pub fn chance(&self, other: &Placebo) -> Option<f64> {
        let (mut found, mut all) = (0.0, 0.0);
        for used in &self.used {
            if let Some(holds) = other.sample.holds(used.key, &used.anchors) {
                all += used.weight;
                found += if holds { used.weight } else { 0.0 };
            }
        }
        (all > 0.0).then(|| found / all)
    }
}

/// The facts with the smallest keys (a bottom-k sample): it tells exactly which facts with keys up to its limit a conversation
/// holds, and two conversations are compared on the keys both cover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sample {
    /// Keys, and for those that are bound the key of what stood beside each; else 0.
    seen: BTreeSet<(u64, u64)>,
    /// Keys from here on are not in it.
    limit: u64,
}

impl Default for Sample {
    fn default() -> Self {
        Self { seen: BTreeSet::new(), limit: u64::MAX }
    }
}

impl Sample {
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
        while self.seen.len() > MOST {
            let Some((last, _)) = self.seen.pop_last() else { break };
            self.limit = last;
            while self.seen.last().is_some_and(|(key, _)| *key == last) {
                self.seen.pop_last();
            }
        }
    }

    /// Whether the conversation holds a fact, beside one of `anchors` where there are any; `None` where the sample cannot
    /// tell.
    fn holds(&self, key: u64, anchors: &[u64]) -> Option<bool> {
        let holds = || match anchors {
            [] => self.seen.contains(&(key, 0)),
            anchors => anchors.iter().any(|anchor| self.seen.contains(&(key, *anchor))),
        };
        (key < self.limit).then(holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_tells_what_it_covers() {
        let mut sample = Sample::default();
        sample.insert(7, &[]);
        sample.insert(8, &[1, 2]);
        assert_eq!(
            [sample.holds(7, &[]), sample.holds(8, &[2, 5]), sample.holds(8, &[5])],
            [Some(true), Some(true), Some(false)]
        );
        for key in (0..20_000).rev() {
            sample.insert(key * 2, &[]);
        }
        assert_eq!(sample.seen.len(), MOST);
        assert_eq!([sample.holds(100, &[]), sample.holds(101, &[]), sample.holds(30_000, &[])], [Some(true), Some(false), None]);
    }
}
