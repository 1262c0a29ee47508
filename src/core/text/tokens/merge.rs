//! Counts the tokens of a pre-token: adjacent parts are merged into tokens, the token of lowest rank first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use tiktoken_rs::{Rank, byte_pair_split};

use super::ranks::Ranks;

/// The tokens that occurred in the pre-tokens so far: all that tiktoken-rs needs to merge these.
pub(super) type SeenTokens = FxHashMap<Vec<u8>, Rank>;

/// Bytes from which a pre-token is merged here. tiktoken-rs looks at all parts for each merge, which takes longest for long ones;
/// it has another way for these, from the same length on, but not for tables like ours.
const LONG: usize = 100;

/// Returns the number of tokens of a pre-token that is not a token itself.
pub(super) fn count_merged(pre_token: &[u8], ranks: &Ranks, seen: &mut SeenTokens) -> u64 {
    match pre_token.len() {
        short @ 0..=1 => short as u64,
        LONG.. => count_long(pre_token, ranks),
        _ => {
            ranks.for_each_in(pre_token, |token, rank| {
                if !seen.contains_key(token) {
                    seen.insert(token.to_vec(), rank);
                }
            });
            byte_pair_split(pre_token, seen).len() as u64
        }
    }
}

/// Counts like `byte_pair_split`, with a queue of the possible merges.
fn count_long(pre_token: &[u8], ranks: &Ranks) -> u64 {
    /// End of a part that was merged into the one before it.
    const GONE: u32 = u32::MAX;
    let len = pre_token.len() as u32;
    let merge = |start: u32, end: u32| {
        let token = pre_token.get(start as usize..end as usize)?;
        ranks.get(token).map(|rank| Reverse(Merge::new(rank, start, token.len())))
    };
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
    fn new(rank: Rank, start: u32, bytes: usize) -> Self {
        Self(u64::from(rank) << 40 | u64::from(start) << 8 | bytes as u64)
    }

    fn range(self) -> (u32, u32) {
        let start = (self.0 >> 8) as u32;
        (start, start + (self.0 & 0xFF) as u32)
    }
}
