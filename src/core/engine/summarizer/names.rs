//! Compares the names in a summary with its input: a name that is nowhere in the input is *false*.
//!
//! Names are [facts](crate::facts::extract) of three kinds: paths, file names, identifiers; each counts once. Only the last two
//! components of a path count, as everywhere: `/wrong/root/src/pool.rs` is not false if the input contains `src/pool.rs`.
//! `read/write` may be a path or two words, so a path of two components that consist only of letters does not count.
//!
//! The search in the input is as generous as possible: a part of a longer name is enough, so `pool.rs` is not false if the input
//! contains only `threadpool.rs`, and neither is a name that a character limit cut off. But the name itself must be there:
//! `src/pool.rs` is false if the input contains only `src` and `pool.rs` separately, although a summarizer that joins them may
//! be right.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use crate::facts::block_names::BlockNames;
use crate::facts::extract::{self, FactKind, FactMatch};
use crate::transcript::conversation::{BlockId, BlockKind, Conversation};
use crate::util::csr::Rows;
use crate::util::search::quick_matcher;

/// Number of names in a summary, and how many of them are false.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NameCounts {
    /// Number of distinct names.
    pub facts: u64,
    /// Number of names that are nowhere in the input.
    pub false_facts: u64,
}

/// Index from names to the blocks of one conversation that contain them, including thinking and the names of tools. Built when the
/// first summary needs it, by any thread.
#[derive(Debug, Default)]
pub struct NameIndex {
    holders: OnceLock<NameHolders>,
    /// What an earlier scan of the blocks found.
    scanned: Arc<BlockNames>,
    is_off: bool,
}

#[derive(Debug)]
struct NameHolders {
    /// Row of each name in `blocks`, by its key.
    rows: FxHashMap<u64, u32>,
    blocks: Rows<BlockId>,
}

impl NameIndex {
    /// Returns an index that scans only the blocks that were not scanned before.
    pub fn new(scanned: Arc<BlockNames>) -> Self {
        Self { scanned, ..Self::default() }
    }

    /// Returns an index that counts no names. Sweeps make hundreds of thousands of summaries, and the search for names takes half
    /// as long as a replay.
    pub fn off() -> Self {
        Self { is_off: true, ..Self::default() }
    }

    /// Counts the names in a summary. `whole` are the recorded blocks that are completely in its input. `texts` are all texts of
    /// the input, first those that are not in `whole`; they are read until every name is found.
    pub fn count_names<'t>(
        &self,
        conversation: &Conversation,
        summary: &str,
        whole: impl Iterator<Item = BlockId>,
        texts: impl Iterator<Item = Cow<'t, str>>,
    ) -> NameCounts {
        if self.is_off {
            return NameCounts::default();
        }
        let mut missing = names_in(summary);
        let facts = missing.len() as u64;
        if facts > 0 {
            let holders = self.holders.get_or_init(|| NameHolders::new(conversation, &self.scanned));
            let mut in_input = vec![false; conversation.blocks.len()];
            whole.for_each(|block| in_input[block.index()] = true);
            missing.retain(|key, _| !holders.blocks_with(*key).iter().any(|block| in_input[block.index()]));
        }
        NameCounts { facts, false_facts: missing_names(missing, texts).len() as u64 }
    }
}

impl NameHolders {
    fn new(conversation: &Conversation, scanned: &BlockNames) -> Self {
        let mut rows = FxHashMap::default();
        let mut entries: Vec<(u32, BlockId)> = Vec::new();
        let mut add = |key: u64, id: BlockId| {
            let next = rows.len() as u32;
            entries.push((*rows.entry(key).or_insert(next), id));
        };
        let mut is_scanned = vec![false; conversation.blocks.len()];
        for (id, keys) in scanned.iter() {
            is_scanned[id.index()] = true;
            keys.iter().for_each(|key| add(*key, id));
        }
        for (id, block) in (0..).map(BlockId).zip(&conversation.blocks) {
            let mut add_name = |fact: FactMatch| {
                if BlockNames::is_name(fact.kind) {
                    add(fact.key, id);
                }
            };
            if let BlockKind::ToolUse(pair) | BlockKind::ToolResult(pair) = block.kind {
                extract::in_text(&conversation.pair(pair).name, &mut add_name);
            }
            if !is_scanned[id.index()] {
                extract::shown_by(block, &mut add_name);
            }
        }
        entries.sort_unstable();
        entries.dedup();
        Self { blocks: Rows::new(rows.len(), &entries), rows }
    }

    /// Returns the blocks that contain the name with this key.
    fn blocks_with(&self, key: u64) -> &[BlockId] {
        self.rows.get(&key).map_or(&[], |row| self.blocks.row(*row as usize))
    }
}

/// Returns the names in a summary, by their keys.
fn names_in(summary: &str) -> FxHashMap<u64, Box<str>> {
    let mut names = FxHashMap::default();
    extract::in_text(summary, &mut |fact| {
        if fact.said && BlockNames::is_name(fact.kind) && !may_be_words(&fact) {
            names.entry(fact.key).or_insert_with(|| fact.text.into());
        }
    });
    names
}

/// Returns whether a path may be two words with a slash between them.
fn may_be_words(fact: &FactMatch) -> bool {
    fact.kind == FactKind::Path && fact.text.bytes().all(|byte| byte.is_ascii_alphabetic() || b"/-".contains(&byte))
}

/// Returns the names that are in none of the texts, sorted.
fn missing_names<'t>(names: FxHashMap<u64, Box<str>>, texts: impl Iterator<Item = Cow<'t, str>>) -> Vec<Box<str>> {
    let mut names: Vec<(Box<str>, bool)> = names.into_values().map(|name| (name, false)).collect();
    let mut missing_count = names.len();
    // A summary is checked once.
    let finder = quick_matcher(names.iter().map(|(name, _)| name.as_bytes()));
    let Some(finder) = finder.filter(|_| missing_count > 0) else { return Vec::new() };
    for text in texts {
        for found in finder.find_overlapping_iter(&*extract::plain(&text)) {
            let (_, is_found) = &mut names[found.pattern().as_usize()];
            missing_count -= usize::from(!std::mem::replace(is_found, true));
        }
        if missing_count == 0 {
            break;
        }
    }
    let mut missing: Vec<Box<str>> = names.into_iter().filter(|(_, is_found)| !is_found).map(|(name, _)| name).collect();
    missing.sort_unstable();
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_absent_from_the_source_are_false() {
        let cases = [
            // A name, the end of a path, a path with another root; a name that is missing is false.
            ("see src/net/pool.rs", "net/pool.rs, pool.rs, /root/src/net/pool.rs", 1, ""),
            ("see src/net/pool.rs", "src/pool.rs and pond.rs", 2, "pond.rs src/pool.rs"),
            // Joined by the summary, even if correctly.
            ("ls src\nlib.rs", "src/lib.rs", 1, "src/lib.rs"),
            // A part of a longer name is enough: a name that was cut off is not made up.
            ("max_flow_out and threadpool.rs", "max_flow pool.rs max_flo", 3, ""),
            ("max_flow", "max_flow_out", 1, "max_flow_out"),
            // Line ends, tabs and quotes before a word, as JSON escapes them.
            (r#"{"command":"ls\nsrc/lib.rs\t\"pool_name\""}"#, "`src/lib.rs`, pool_name", 2, ""),
            // Two words with a slash between them are maybe not a path; with a dot or a digit they are one.
            ("files", "read/write files/directories client-side/server-side", 0, ""),
            ("files", "files/dirs.d tests/case_1", 2, "files/dirs.d tests/case_1"),
            // Each name counts once; numbers, hashes, quotations, URLs and plain words do not count.
            ("", "fooBar fooBar 123456 0ab12cd34 `some words here` https://a.example/b_c.rs plain", 1, "fooBar"),
            // Names that every session has do not count.
            ("", "README.md, TypeError, GitHub", 0, ""),
            // In colour, and with a combining accent.
            ("\u{1b}[1mfoo\u{1b}[0m_bar caf\u{65}\u{301}_au_lait", "foo_bar caf\u{e9}_au_lait", 2, ""),
        ];
        for (input, summary, facts, missing) in cases {
            let names = names_in(summary);
            assert_eq!(names.len(), facts, "{summary}");
            assert_eq!(missing_names(names, [Cow::Borrowed(input)].into_iter()).join(" "), missing, "{summary}, of {input}");
        }
    }
}
