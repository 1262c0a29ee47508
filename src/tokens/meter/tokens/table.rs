//! Counts that were made before, by key, in a table of fixed size.

/// A row has room for two, and of those the one not asked for last goes.
pub(super) struct Table<K> {
    /// Empty until the first count, then [`ROWS`] long. No count has the key that stands where there is none.
    rows: Vec<[(K, u64); 2]>,
}

/// The hot part stays in a processor's second cache.
const ROWS: usize = 1 << 15;

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

impl<K: Copy + Default + PartialEq> Table<K> {
    /// The count of a key, made by `count` where it is not known. `mixed` spreads keys over the rows by its highest bits.
    pub fn get(&mut self, key: K, mixed: u64, count: impl FnOnce() -> u64) -> u64 {
        if self.rows.is_empty() {
            self.rows = vec![Default::default(); ROWS];
        }
        let row = &mut self.rows[(mixed >> (64 - ROWS.trailing_zeros())) as usize];
        if row[0].0 != key {
            if row[1].0 != key {
                row[1] = (key, count());
            }
            row.swap(0, 1);
        }
        row[0].1
    }
}
