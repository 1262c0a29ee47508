//! The names a summary says, held against what it was made of. A name that stands nowhere in the input is *false*: nobody said it
//! to the summarizer.
//!
//! Names are [facts](crate::facts::extract) of three kinds: paths, names of files, identifiers; each counts once. A path is its last two
//! components, as everywhere: `/wrong/root/src/pool.rs` is not false where `src/pool.rs` stands. `read/write` may be a path or
//! two words, and counts for neither: a path of two components of letters only says nothing.
//!
//! To stand in the input is meant as kindly as it can be: a part of a longer name is enough, so `pool.rs` is not false where only
//! `threadpool.rs` stands, and what a limit of characters cut in the middle of a word is not either. But names must stand there
//! as they are: `src/pool.rs` is false where only `src` and `pool.rs` stand apart, though a summarizer that joins them may be
//! right.

use std::borrow::Cow;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

use crate::facts::extract::{self, FactKind, FactMatch};
use crate::transcript::conversation::{Block, BlockId, Conversation, Kind};
use crate::util::csr::Rows;

/// How many names a summary says, and how many of them are false.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NameCounts {
    pub facts: u64,
    pub false_facts: u64,
}

/// Which blocks of one conversation hold which names: found when the first summary asks, by whatever thread.
#[derive(Debug, Default)]
pub struct NameIndex {
    index: OnceLock<Index>,
    is_off: bool,
}

#[derive(Debug)]
struct Index {
    /// Numbers of the names, by their keys.
    numbers: FxHashMap<u64, u32>,
    blocks: Rows<BlockId>,
}

impl NameIndex {
    /// Where nobody wants to know: no summary has any names. Sweeps make hundreds of thousands of summaries, and looking for their
    /// names takes as long as half of a replay.
    pub fn off() -> Self {
        Self { is_off: true, ..Self::default() }
    }

    /// Counts the names of a summary. `whole` are recorded blocks it was made of, all of each; `texts` are all the texts it was
    /// made of, those first that are not in `whole`: they are read until every name is found.
    pub fn names<'t>(
        &self,
        conversation: &Conversation,
        summary: &str,
        whole: impl Iterator<Item = BlockId>,
        texts: impl Iterator<Item = Cow<'t, str>>,
    ) -> NameCounts {
        if self.is_off {
            return NameCounts::default();
        }
        let mut unseen = said(summary);
        let facts = unseen.len() as u64;
        if facts > 0 {
            let index = self.index.get_or_init(|| Index::new(conversation));
            let mut shown = vec![false; conversation.blocks.len()];
            whole.for_each(|block| shown[block.index()] = true);
            unseen.retain(|key, _| !index.holders(*key).iter().any(|block| shown[block.index()]));
        }
        NameCounts { facts, false_facts: in_no_text(unseen, texts).len() as u64 }
    }
}

impl Index {
    fn new(conversation: &Conversation) -> Self {
        let mut numbers = FxHashMap::default();
        let mut held: Vec<(u32, BlockId)> = Vec::new();
        for (id, block) in (0..).map(BlockId).zip(&conversation.blocks) {
            held_by(conversation, block, &mut |sighting| {
                if is_name(sighting.kind) {
                    let next = numbers.len() as u32;
                    held.push((*numbers.entry(sighting.key).or_insert(next), id));
                }
            });
        }
        held.sort_unstable();
        held.dedup();
        Self { blocks: Rows::new(numbers.len(), &held), numbers }
    }

    /// The blocks that hold the name with this key.
    fn holders(&self, key: u64) -> &[BlockId] {
        self.numbers.get(&key).map_or(&[], |number| self.blocks.row(*number as usize))
    }
}

/// Every fact of what a summarizer is shown of a block: thinking and the tool's name, too.
fn held_by(conversation: &Conversation, block: &Block, see: &mut dyn FnMut(FactMatch)) {
    match block.kind {
        Kind::Thinking => extract::in_text(&block.text(), see),
        Kind::ToolUse(pair) | Kind::ToolResult(pair) => {
            extract::in_text(&conversation.pair(pair).name, see);
            extract::in_block(block, see);
        }
        Kind::Text | Kind::Media | Kind::Other => {
            extract::in_block(block, see);
        }
    }
}

/// The names a summary says, by their keys.
fn said(summary: &str) -> FxHashMap<u64, Box<str>> {
    let mut said = FxHashMap::default();
    extract::in_text(summary, &mut |sighting| {
        if sighting.said && is_name(sighting.kind) && !may_be_words(&sighting) {
            said.entry(sighting.key).or_insert_with(|| sighting.text.into());
        }
    });
    said
}

fn is_name(kind: FactKind) -> bool {
    matches!(kind, FactKind::Path | FactKind::File | FactKind::Identifier)
}

/// Whether a path may be two words with a stroke between them.
fn may_be_words(sighting: &FactMatch) -> bool {
    sighting.kind == FactKind::Path && sighting.text.bytes().all(|byte| byte.is_ascii_alphabetic() || b"/-".contains(&byte))
}

/// The names that stand in none of the texts, in the order of the alphabet.
fn in_no_text<'t>(unseen: FxHashMap<u64, Box<str>>, texts: impl Iterator<Item = Cow<'t, str>>) -> Vec<Box<str>> {
    let mut names: Vec<(Box<str>, bool)> = unseen.into_values().map(|name| (name, false)).collect();
    let mut left = names.len();
    // An automaton has no room for more names than any summary says.
    let Some(finder) = AhoCorasick::new(names.iter().map(|(name, _)| name.as_bytes())).ok().filter(|_| left > 0) else {
        return Vec::new();
    };
    for text in texts {
        for found in finder.find_overlapping_iter(&*extract::plain(&text)) {
            let (_, is_there) = &mut names[found.pattern().as_usize()];
            left -= usize::from(!std::mem::replace(is_there, true));
        }
        if left == 0 {
            break;
        }
    }
    let mut missing: Vec<Box<str>> = names.into_iter().filter(|(_, is_there)| !is_there).map(|(name, _)| name).collect();
    missing.sort_unstable();
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_is_what_stands_nowhere() {
        let cases = [
            // A name, the end of a path, a path behind another root; what is not there is false.
            ("see src/net/pool.rs", "net/pool.rs, pool.rs, /root/src/net/pool.rs", 1, ""),
            ("see src/net/pool.rs", "src/pool.rs and pond.rs", 2, "pond.rs src/pool.rs"),
            // Joined by the summary, however right.
            ("ls src\nlib.rs", "src/lib.rs", 1, "src/lib.rs"),
            // A part of a longer name will do: what is cut off in the middle of a word is not made up.
            ("max_tokens_out and threadpool.rs", "max_tokens pool.rs max_tok", 3, ""),
            ("max_tokens", "max_tokens_out", 1, "max_tokens_out"),
            // As JSON writes line ends, tabs and quotes before a word.
            (r#"{"command":"ls\nsrc/lib.rs\t\"new_name\""}"#, "`src/lib.rs`, new_name", 2, ""),
            // Two words with a stroke between them are no path for certain; with a dot or a digit they are.
            ("files", "read/write files/directories client-side/server-side", 0, ""),
            ("files", "files/dirs.d tests/case_1", 2, "files/dirs.d tests/case_1"),
            // Each name counts once; numbers, hashes, quotations, URLs and plain words do not count.
            ("", "fooBar fooBar 123456 0ab12cd34 `some words here` https://a.example/b_c.rs plain", 1, "fooBar"),
            // What every session has.
            ("", "README.md, TypeError, GitHub", 0, ""),
            // In colour, and written with a combining accent.
            ("\u{1b}[1mfoo\u{1b}[0m_bar caf\u{65}\u{301}_au_lait", "foo_bar caf\u{e9}_au_lait", 2, ""),
        ];
        for (input, summary, facts, missing) in cases {
            let said = said(summary);
            assert_eq!(said.len(), facts, "{summary}");
            assert_eq!(in_no_text(said, [Cow::Borrowed(input)].into_iter()).join(" "), missing, "{summary}, of {input}");
        }
    }
}
