//! Counts tokens of text with OpenAI's vocabularies, as `tiktoken` does; special tokens count as ordinary text.
//!
//! The text is cut in pieces (`pieces.rs`, `blocks.rs`), a piece that is no token is split into pre-tokens by the expression of the
//! vocabulary (`expression.rs`), and the bytes of what remains are merged into tokens (`merge.rs`). The counts of pieces and of lines
//! are cached, because transcripts repeat words and summaries repeat lines.
//!
//! tiktoken-rs does all of this too, and is what the tests compare with. It remembers no count, and it loads a vocabulary from text
//! into three tables, which takes longer than most commands run. So the vocabularies are here in a form that is ready once it is
//! inflated (`ranks.rs`).
//!
//! A count is exact unless a single piece is longer than 64 KB: that many spaces in a row, or letters without a space or line
//! end among them. Such a piece is halved until it is short enough, and each cut may add a token or two.

mod blocks;
mod expression;
mod merge;
mod pieces;
mod ranks;
mod table;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::sync::LazyLock;

use regex::Regex;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use self::expression::{Expression, SPLIT_TOKENS};
use self::merge::Merger;
use self::pieces::for_each_line;
use self::ranks::Ranks;
use self::table::Table;
use crate::surrogates::{has_stand_ins, lone_surrogate};

/// Bytes of a text per token, where nothing counts them: OpenAI's rule of thumb for English, which Codex applies to bytes
/// (`approx_token_count` in its source).
pub const BYTES_PER_TOKEN: u64 = 4;

/// A vocabulary. Its tokens and its expression are each loaded on first use (a hundredth of a second), once per process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vocabulary {
    /// o200k_base: GPT-4o and later.
    O200k,
    /// cl100k_base: GPT-4 and GPT-3.5.
    Cl100k,
}

impl Vocabulary {
    /// Counts the tokens of a text. Lone surrogates count as U+FFFD, as in text that is encoded for a model.
    pub fn count(self, text: &str) -> u64 {
        if has_stand_ins(text) {
            let replaced: String =
                text.chars().map(|c| if lone_surrogate(c).is_some() { char::REPLACEMENT_CHARACTER } else { c }).collect();
            return self.count(&replaced);
        }
        COUNT_CACHES.with_borrow_mut(|[o200k, cl100k]| match self {
            Vocabulary::O200k => o200k.count(text, &O200K),
            Vocabulary::Cl100k => cl100k.count(text, &CL100K),
        })
    }
}

/// The parts of a vocabulary. Each is loaded on first use: many texts have only pieces that are tokens.
struct Tables {
    ranks: LazyLock<Ranks>,
    expression: &'static Expression,
}

static O200K: Tables =
    Tables { ranks: LazyLock::new(|| Ranks::read(include_bytes!("tokens/o200k_base.deflate"))), expression: &expression::O200K };

static CL100K: Tables = Tables {
    ranks: LazyLock::new(|| Ranks::read(include_bytes!("tokens/cl100k_base.deflate"))),
    expression: &expression::CL100K,
};

thread_local! {
    static COUNT_CACHES: RefCell<[CountCache; 2]> = RefCell::default();
}

/// What a thread knows of a vocabulary: counts of pieces and of lines, a megabyte each, and what it counts others with.
#[derive(Default)]
struct CountCache {
    pieces: Table,
    lines: Table,
    counter: PieceCounter,
}

/// Shorter lines are not cached: they have only a piece or two.
const MIN_CACHED_LINE: usize = 32;

impl CountCache {
    /// Counts tokens. Two long pieces or lines whose hashes have the same 104 bits are treated as equal.
    fn count(&mut self, text: &str, tables: &Tables) -> u64 {
        let Self { pieces, lines, counter } = self;
        let mut tokens = 0;
        for_each_line(text, |line| {
            let mut count = || {
                let mut tokens = 0;
                pieces::for_each(text, line.clone(), |piece| {
                    let key = table::key(text.as_bytes(), piece.start, piece.len());
                    tokens += pieces.get_or(key, || counter.count_or_halve(&text[piece], tables));
                });
                tokens
            };
            tokens += match line.len() {
                ..MIN_CACHED_LINE => count(),
                len => lines.get_or(table::key(text.as_bytes(), line.start, len), count),
            };
        });
        tokens
    }
}

/// Maximum bytes of a piece that is counted at once. Merging keeps a possible merge and two places for each byte.
const MAX_PIECE_BYTES: usize = 64 * 1024;

/// Counts pieces that are not in the cache.
#[derive(Default)]
struct PieceCounter {
    regex: Option<Regex>,
    merger: Merger,
    /// Counts of the parts of pieces that were halved, by hash: those of a run of one character are equal.
    halves: FxHashMap<u128, u64>,
}

impl PieceCounter {
    fn count_or_halve(&mut self, piece: &str, tables: &Tables) -> u64 {
        if piece.len() <= MAX_PIECE_BYTES {
            return self.count(piece, tables);
        }
        let (left, right) = piece.split_at(piece.ceil_char_boundary(piece.len() / 2));
        self.count_half(left, tables) + self.count_half(right, tables)
    }

    fn count_half(&mut self, half: &str, tables: &Tables) -> u64 {
        let hash = xxh3_128(half.as_bytes());
        if let Some(count) = self.halves.get(&hash) {
            return *count;
        }
        let count = self.count_or_halve(half, tables);
        self.halves.insert(hash, count);
        count
    }

    fn count(&mut self, piece: &str, Tables { ranks, expression }: &Tables) -> u64 {
        let is_token = |text: &str| ranks.get(text.as_bytes()).is_some();
        if is_token(piece) && !SPLIT_TOKENS.contains(&piece) {
            return 1;
        }
        let Self { regex, merger, .. } = self;
        let mut tokens = 0;
        expression.for_each(regex, piece, |pre_token| {
            let is_one = pre_token.len() < piece.len() && is_token(pre_token);
            tokens += if is_one { 1 } else { merger.count(pre_token.as_bytes(), ranks) };
        });
        tokens
    }
}
