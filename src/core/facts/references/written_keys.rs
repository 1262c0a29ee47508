//! How the pairs of a sample are written: the bytes of their numbers as Base64, first the keys without an anchor, then those with one. The
//! digits of a key are random, so as decimal numbers in JSON they take twice the room, and three times as long to compress.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<S: Serializer>(seen: &[(u64, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    let (alone, anchored): (Vec<_>, Vec<_>) = seen.iter().copied().partition(|(_, anchor)| *anchor == 0);
    let alone = alone.into_iter().map(|(key, _)| key);
    let anchored = anchored.into_iter().flat_map(|(key, anchor)| [key, anchor]);
    [base64_of(alone), base64_of(anchored)].serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(u64, u64)>, D::Error> {
    let written = <[String; 2]>::deserialize(deserializer)?;
    let [Some(alone), Some(anchored)] = written.map(|base64| numbers(&base64)) else {
        return Err(D::Error::custom("keys that are not numbers of eight bytes in Base64"));
    };
    let (pairs, []) = anchored.as_chunks::<2>() else {
        return Err(D::Error::custom("a key without its anchor"));
    };
    let alone = alone.into_iter().map(|key| (key, 0));
    let mut seen: Vec<(u64, u64)> = alone.chain(pairs.iter().map(|[key, anchor]| (*key, *anchor))).collect();
    // Two runs that are in order are merged in one pass, unlike by an unstable sort.
    seen.sort();
    Ok(seen)
}

fn base64_of(numbers: impl Iterator<Item = u64>) -> String {
    BASE64_STANDARD.encode(numbers.flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
}

fn numbers(base64: &str) -> Option<Vec<u64>> {
    let bytes = BASE64_STANDARD.decode(base64).ok()?;
    let (numbers, []) = bytes.as_chunks::<8>() else { return None };
    Some(numbers.iter().map(|number| u64::from_le_bytes(*number)).collect())
}
