//! The chance baseline: the share of one conversation's references that another conversation contains by chance.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::facts::extract;

use super::{Fact, Use, written_keys};

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
    /// Pairs of a fact's key and an anchor's key, in order; 0 for facts that count without one there.
    #[serde(with = "written_keys")]
    seen: Vec<(u64, u64)>,
    /// The sample has only keys below this one.
    limit: u64,
}

impl Default for KeySample {
    fn default() -> Self {
        Self { seen: Vec::new(), limit: u64::MAX }
    }
}

impl KeySample {
    /// Whether the conversation contains a fact, near one of `anchors` if there are any; `None` if the sample does not cover the key.
    fn contains(&self, key: u64, anchors: &[u64]) -> Option<bool> {
        let has = |anchor: u64| self.seen.binary_search(&(key, anchor)).is_ok();
        (key < self.limit).then(|| has(0) || anchors.iter().any(|anchor| has(*anchor)))
    }
}

/// Takes the sample of a conversation while its facts come by.
#[derive(Debug, Default)]
pub(super) struct KeySampler {
    seen: FxHashSet<(u64, u64)>,
    /// What was cut off: a key, and all above it.
    limit: Option<u64>,
}

impl KeySampler {
    pub(super) fn insert(&mut self, key: u64, anchors: &[u64]) {
        if self.limit.is_some_and(|limit| key >= limit) {
            return;
        }
        match anchors {
            [] => self.seen.extend([(key, 0)]),
            anchors => self.seen.extend(anchors.iter().map(|anchor| (key, *anchor))),
        }
        // Most facts come again and again, so a set that is cut seldom is quicker than an ordered one.
        if self.seen.len() > 2 * MAX_FACTS {
            let KeySample { seen, limit } = std::mem::take(self).finish();
            *self = Self { seen: seen.into_iter().collect(), limit: Some(limit) };
        }
    }

    /// Returns the sample. The first pair that is too many is left out, with all of its key.
    pub(super) fn finish(self) -> KeySample {
        let mut seen: Vec<(u64, u64)> = self.seen.into_iter().collect();
        seen.sort_unstable();
        let limit = seen.get(MAX_FACTS).map(|(key, _)| *key).or(self.limit).unwrap_or(u64::MAX);
        seen.truncate(seen.partition_point(|(key, _)| *key < limit));
        KeySample { seen, limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(facts: impl IntoIterator<Item = (u64, &'static [u64])>) -> KeySample {
        let mut sampler = KeySampler::default();
        facts.into_iter().for_each(|(key, anchors)| sampler.insert(key, anchors));
        sampler.finish()
    }

    #[test]
    fn sample_answers_only_for_keys_it_covers() {
        let few = sample([(7, &[][..]), (8, &[1, 2])]);
        assert_eq!(
            [few.contains(7, &[]), few.contains(8, &[2, 5]), few.contains(8, &[5])],
            [Some(true), Some(true), Some(false)]
        );
        // Where a longer fact shows it, it counts without an anchor.
        assert_eq!(few.contains(7, &[5]), Some(true));
        let many = sample((0..20_000).rev().map(|key| (key * 2, &[][..])));
        assert_eq!(many.seen.len(), MAX_FACTS);
        assert_eq!(
            [many.contains(100, &[]), many.contains(101, &[]), many.contains(30_000, &[])],
            [Some(true), Some(false), None]
        );
    }

    #[test]
    fn sample_comes_back_as_it_was_written() {
        let all = [(1, &[][..]), (7, &[u64::MAX, 3]), (8, &[]), (8, &[5])];
        for few in [sample([]), sample(all)] {
            let json = serde_json::to_string(&few).expect("plain data");
            assert_eq!(serde_json::from_str::<KeySample>(&json).expect("what was written"), few);
            let packed = rmp_serde::to_vec_named(&few).expect("plain data");
            assert_eq!(rmp_serde::from_slice::<KeySample>(&packed).expect("what was written"), few);
        }
        for wrong in [r#"["AA==",""]"#, r#"["?",""]"#, r#"["","AQAAAAAAAAA="]"#, r#"[""]"#] {
            let json = format!(r#"{{"seen":{wrong},"limit":1}}"#);
            assert!(serde_json::from_str::<KeySample>(&json).is_err(), "{wrong}");
        }
    }

    /// 4,095 facts, one with three anchors, and one more are 4,099 pairs for 4,096 places: of the three anchors none stays. In any order, and
    /// however often a fact comes.
    #[test]
    fn a_fact_that_does_not_fit_leaves_with_all_of_its_anchors() {
        let last = MAX_FACTS as u64 - 1;
        let facts = || (0..last).map(|key| (key, &[][..])).chain([(last, &[1, 2, 3][..]), (last + 1, &[])]);
        let forwards = sample(facts());
        assert_eq!((forwards.seen.len() as u64, forwards.limit), (last, last));
        let backwards = sample(facts().collect::<Vec<_>>().into_iter().rev().chain(facts()));
        let behind_many = sample((0..20_000).rev().map(|key| (key + 1_000_000, &[][..])).chain(facts()));
        assert_eq!([&backwards, &behind_many], [&forwards, &forwards]);
        assert_eq!(sample(facts().take(3)).limit, u64::MAX);
    }
}
