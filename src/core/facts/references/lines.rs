//! A cache of the facts in lines that layers wrote. Policies write the same placeholders, previews and summary lines again and
//! again; each line is scanned once.

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::FactId;

/// Maximum lines in the cache, about 10 MB. The policies of one conversation write a few ten thousand.
const MAX_LINES: usize = 100_000;

/// The facts of a line.
#[derive(Debug)]
pub(super) struct LineContent {
    /// Tracked facts and rules.
    pub found: Box<[FactId]>,
    /// Keys of untracked paths, files and URLs, which a policy may track.
    pub names: Box<[u64]>,
}

/// The facts of each line, by its hash. Lines with the same hash are treated as equal. Clones share the cache.
#[derive(Debug, Clone, Default)]
pub(super) struct LineCache(Arc<RwLock<FxHashMap<u64, LineContent>>>);

impl LineCache {
    /// Calls `each` with the facts of every line of a text: first the cached lines, then the new ones, which `read` scans.
    pub fn for_each_line(
        &self,
        text: &str,
        is_summary: bool,
        read: &dyn Fn(&str) -> LineContent,
        each: &mut dyn FnMut(&LineContent),
    ) {
        let lines = || text.split('\n').map(|line| (xxh3_64_with_seed(line.as_bytes(), u64::from(is_summary)), line));
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut new = Vec::new();
        for (key, line) in lines() {
            match known.get(&key) {
                Some(line) => each(line),
                None => new.push((key, read(line))),
            }
        }
        new.iter().for_each(|(_, line)| each(line));
        let room = MAX_LINES.saturating_sub(known.len());
        drop(known);
        if !new.is_empty() && room > 0 {
            self.0.write().unwrap_or_else(PoisonError::into_inner).extend(new.into_iter().take(room));
        }
    }
}
