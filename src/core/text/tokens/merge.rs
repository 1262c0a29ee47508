//! Counts the tokens of a pre-token: adjacent parts are merged into tokens, the token of lowest rank first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ranks::Ranks;
use super::table::{self, Table};

/// Merges bytes into tokens, and remembers what it asked of their ranks.
#[derive(Default)]
pub(super) struct Merger {
    /// By text: one more than the rank of a token, and 0 for a text that is no token.
    known: Table,
}

/// Bytes from which a queue finds the next merge. Below it, a look at all parts is faster.
const LONG: usize = 32;

impl Merger {
    /// Returns the number of tokens of a pre-token that is not a token itself.
    pub fn count(&mut self, pre_token: &[u8], ranks: &Ranks) -> u64 {
        let rank = |start: u32, end: u32| {
            let (start, end) = (start as usize, end as usize);
            match pre_token.get(start..end)? {
                whole if whole.len() == pre_token.len() => None,
                [first, second] => ranks.of_pair([*first, *second]),
                part => {
                    let rank = || ranks.get(part).map_or(0, |rank| u64::from(rank) + 1);
                    let number = self.known.get_or(table::key(pre_token, start, part.len()), rank);
                    number.checked_sub(1).map(|rank| rank as u32)
                }
            }
        };
        if pre_token.len() < LONG { count_short(pre_token.len(), rank) } else { count_long(pre_token.len(), rank) }
    }
}

/// Merges the bytes of a short pre-token. `rank` is that of the token from one byte to before another one.
fn count_short(len: usize, mut rank: impl FnMut(u32, u32) -> Option<u32>) -> u64 {
    const NONE: u32 = u32::MAX;
    // Where each part begins, and the rank of the token that it makes with the next part. Behind the last part is the end.
    let mut parts: [(u32, u32); LONG] = std::array::from_fn(|at| (at as u32, NONE));
    let mut count = len;
    let mut rank_at = |parts: &[(u32, u32)], at: usize| match parts[at..] {
        [(start, _), _, (end, _), ..] => rank(start, end).unwrap_or(NONE),
        _ => NONE,
    };
    for at in 0..len {
        parts[at].1 = rank_at(&parts[..=len], at);
    }
    while let Some(at) = (0..count).min_by_key(|at| parts[*at].1).filter(|at| parts[*at].1 != NONE) {
        parts.copy_within(at + 2..=count, at + 1);
        count -= 1;
        for changed in at.saturating_sub(1)..=at {
            parts[changed].1 = rank_at(&parts[..=count], changed);
        }
    }
    count as u64
}

/// Merges the bytes of a long pre-token like [`count_short`].
fn count_long(len: usize, mut rank: impl FnMut(u32, u32) -> Option<u32>) -> u64 {
    /// End of a part that was merged into the one before it.
    const GONE: u32 = u32::MAX;
    let len = len as u32;
    let mut merge = |start: u32, end: u32| Some(Reverse(Merge::new(rank(start, end)?, start, end - start)));
    let mut queue: BinaryHeap<_> = (0..len).filter_map(|start| merge(start, start + 2)).collect();
    // For each byte that begins a part: where the part ends, and where the one before it begins.
    let mut ends: Vec<u32> = (1..=len).collect();
    let mut before: Vec<u32> = (0..len).map(|start| start.saturating_sub(1)).collect();
    let mut parts = len;
    while let Some(Reverse(next)) = queue.pop() {
        let (start, end) = next.range();
        let middle = ends[start as usize] as usize;
        if ends.get(middle) != Some(&end) {
            continue; // One of the two parts was merged with another.
        }
        (ends[start as usize], ends[middle]) = (end, GONE);
        parts -= 1;
        if end < len {
            before[end as usize] = start;
            queue.extend(merge(start, ends[end as usize]));
        }
        if start > 0 {
            queue.extend(merge(before[start as usize], end));
        }
    }
    u64::from(parts)
}

/// A possible merge of two parts: the rank of the token that they make, where it begins, and its bytes (up to 255), in one number,
/// because a queue spends its time on comparing them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Merge(u64);

impl Merge {
    fn new(rank: u32, start: u32, bytes: u32) -> Self {
        Self(u64::from(rank) << 40 | u64::from(start) << 8 | u64::from(bytes))
    }

    fn range(self) -> (u32, u32) {
        let start = (self.0 >> 8) as u32;
        (start, start + (self.0 & 0xFF) as u32)
    }
}
