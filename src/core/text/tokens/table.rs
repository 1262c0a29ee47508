//! A cache of numbers by key, with a fixed size.

use xxhash_rust::xxh3::xxh3_128;

/// A two-way cache: each row has two entries, and a new entry replaces the least recently used one. An entry is one number: a key of
/// [`KEY_BITS`], and its value in the bits above.
#[derive(Default)]
pub(super) struct Table {
    /// Empty until the first value, then [`ROWS`] long. An empty entry has the key 0, which no value has.
    rows: Vec<[u128; 2]>,
}

/// Bits of a key. The other 24 are enough for a rank, and for the tokens of 16 MB.
const KEY_BITS: u32 = 104;

/// Small enough that the hot part stays in a processor's second-level cache: a table has 1 MB.
const ROWS: usize = 1 << 15;

const KEY: u128 = (1 << KEY_BITS) - 1;

impl Table {
    /// Returns the kept value of a key, which is not 0, or computes it. A value of more than 24 bits is not kept.
    pub fn get_or(&mut self, key: u128, compute: impl FnOnce() -> u64) -> u64 {
        if self.rows.is_empty() {
            self.rows = vec![Default::default(); ROWS];
        }
        let row = &mut self.rows[row_of(key)];
        if row[0] & KEY != key {
            if row[1] & KEY != key {
                let value = compute();
                let entry = u128::from(value) << KEY_BITS;
                if (entry >> KEY_BITS) as u64 != value {
                    return value;
                }
                row[1] = entry | key;
            }
            row.swap(0, 1);
        }
        (row[0] >> KEY_BITS) as u64
    }
}

/// Selects a row by multiplication with 2^64 / φ (Knuth, *The Art of Computer Programming* 3, 6.4).
fn row_of(key: u128) -> usize {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let high = ((key >> 64) as u64).wrapping_mul(FACTOR).rotate_left(32);
    ((high ^ key as u64).wrapping_mul(FACTOR) >> (64 - ROWS.trailing_zeros())) as usize
}

/// Returns the key of a text: the text itself if it is short, else 104 bits of its hash. `text` begins at `start` in `all`, and what is
/// behind it does not matter. An empty text has none.
pub(super) fn key(all: &[u8], start: usize, len: usize) -> u128 {
    const LONGEST: usize = KEY_BITS as usize / 8;
    let rest = &all[start..];
    let ends_with_nul = rest[len - 1] == 0;
    if len > LONGEST || ends_with_nul {
        return xxh3_128(&rest[..len]) & KEY;
    }
    let bytes = match rest.first_chunk::<16>() {
        Some(bytes) => u128::from_le_bytes(*bytes),
        None => rest.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte)),
    };
    bytes & ((1 << (8 * len)) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_computed_once_and_kept_for_its_key() {
        let mut table = Table::default();
        assert_eq!([table.get_or(7, || 1), table.get_or(7, || 2), table.get_or(8, || 3)], [1, 1, 3]);
        let too_large = 1 << 24;
        assert_eq!(
            [table.get_or(9, || too_large), table.get_or(9, || too_large - 1), table.get_or(9, || 4)],
            [1 << 24, too_large - 1, too_large - 1]
        );
    }

    #[test]
    fn a_row_keeps_the_two_that_were_used_last() {
        let same_row: Vec<u128> = (1..).filter(|key| row_of(*key) == row_of(1)).take(3).collect();
        let mut table = Table::default();
        let mut ask = |key: usize, value: u64| table.get_or(same_row[key], || value);
        assert_eq!([ask(0, 1), ask(1, 2), ask(0, 3), ask(2, 4), ask(0, 5), ask(1, 6)], [1, 2, 1, 4, 1, 6]);
    }

    #[test]
    fn different_texts_have_different_keys_wherever_they_are() {
        let texts = ["a", "a\0", "\0", "a\0\0", "ab", "abcdefghijklm", "abcdefghijklmn", "abcdefghijklmo", "é"];
        let key_in =
            |before: &str, text: &str, after: &str| key(format!("{before}{text}{after}").as_bytes(), before.len(), text.len());
        let keys: std::collections::BTreeSet<u128> = texts.iter().map(|text| key_in("", text, "")).collect();
        assert_eq!(keys.len(), texts.len());
        for text in texts {
            for after in ["", "x", "twenty more letters.", "\0"] {
                assert_eq!(key_in("before ", text, after), key_in("", text, ""), "{text:?} {after:?}");
            }
        }
    }
}
