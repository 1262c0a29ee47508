//! A cache of counts by key, with a fixed size.

/// A two-way cache: each row has two entries, and a new entry replaces the least recently used one.
pub(super) struct CountTable<K> {
    /// Empty until the first count, then [`ROWS`] long. An empty entry has the default key, which no count has.
    rows: Vec<[(K, u64); 2]>,
}

/// Small enough that the hot part stays in a processor's second-level cache.
const ROWS: usize = 1 << 15;

impl<K> Default for CountTable<K> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

impl<K: Copy + Default + PartialEq> CountTable<K> {
    /// Returns the cached count of a key, or computes it with `count`. The highest bits of `hash` select the row.
    pub fn get_or_count(&mut self, key: K, hash: u64, count: impl FnOnce() -> u64) -> u64 {
        if self.rows.is_empty() {
            self.rows = vec![Default::default(); ROWS];
        }
        let row = &mut self.rows[(hash >> (64 - ROWS.trailing_zeros())) as usize];
        if row[0].0 != key {
            if row[1].0 != key {
                row[1] = (key, count());
            }
            row.swap(0, 1);
        }
        row[0].1
    }
}
