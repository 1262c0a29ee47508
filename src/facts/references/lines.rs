//! What was found in the lines that layers wrote: policies put the same placeholders, previews and summaries' lines again and
//! again, and each is read once.

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::FactId;

/// Lines are remembered up to so many: some 10 MB. Policies of one conversation write a few ten thousand.
const MOST: usize = 100_000;

/// What is in a line.
#[derive(Debug)]
pub(super) struct InLine {
    /// Facts and rules that are followed.
    pub found: Box<[FactId]>,
    /// Keys of paths, files and URLs that are not: a policy may know them.
    pub names: Box<[u64]>,
}

/// What is in each line, by its hash: two lines with one hash are taken for the same. Copies share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines(Arc<RwLock<FxHashMap<u64, InLine>>>);

impl Lines {
    /// Gives what is in each line of a text, in order; `read` looks into those that are new.
    pub fn each(&self, text: &str, is_summary: bool, read: &dyn Fn(&str) -> InLine, each: &mut dyn FnMut(&InLine)) {
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
        let room = MOST.saturating_sub(known.len());
        drop(known);
        if !new.is_empty() && room > 0 {
            self.0.write().unwrap_or_else(PoisonError::into_inner).extend(new.into_iter().take(room));
        }
    }
}
