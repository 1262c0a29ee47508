//! Counts tokens of text with OpenAI's vocabularies, as `tiktoken` does; special tokens count as ordinary text.
//!
//! The text is cut in pieces (`pieces.rs`), a piece that is no token is split by the expression of the vocabulary, and tiktoken-rs
//! merges the bytes of what remains into tokens. The counts of short pieces and of lines are cached, because transcripts repeat words
//! and summaries repeat lines.
//!
//! tiktoken-rs can also do all of this alone, but it loads a vocabulary from text into three tables, which takes longer than most
//! commands run. So the vocabularies are here in a form that is ready once it is inflated (`ranks.rs`).
//!
//! A count is exact unless a single piece is longer than 64 KB: that many spaces in a row, or letters without a space or line
//! end among them. Such a piece is halved until it is short enough, and each cut may add a token or two.

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

use self::expression::{SPLIT_TOKENS, for_each_pre_token, is_one_word};
use self::merge::{SeenTokens, count_merged};
use self::pieces::for_each_line;
use self::ranks::Ranks;
use self::table::CountTable;
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
    expression: LazyLock<Regex>,
}

static O200K: Tables = Tables {
    ranks: LazyLock::new(|| Ranks::read(include_bytes!("tokens/o200k_base.deflate"))),
    expression: LazyLock::new(|| expression::compile(expression::O200K)),
};

static CL100K: Tables = Tables {
    ranks: LazyLock::new(|| Ranks::read(include_bytes!("tokens/cl100k_base.deflate"))),
    expression: LazyLock::new(|| expression::compile(expression::CL100K)),
};

thread_local! {
    static COUNT_CACHES: RefCell<[CountCache; 2]> = RefCell::default();
}

/// What a thread knows of a vocabulary: 2.6 MB of counts of short pieces, 1.6 MB of counts of lines, and what it counts others with.
#[derive(Default)]
struct CountCache {
    pieces: CountTable<PieceKey>,
    lines: CountTable<u128>,
    counter: PieceCounter,
}

/// A piece of up to 31 bytes, and its length in the last byte. Keys are unique, and none is 0.
type PieceKey = [u64; 4];

/// Shorter lines are not cached: they have only a piece or two.
const MIN_CACHED_LINE: usize = 32;

impl CountCache {
    /// Counts tokens. Two lines with the same 128-bit hash are treated as equal.
    fn count(&mut self, text: &str, tables: &Tables) -> u64 {
        let Self { pieces, lines, counter } = self;
        let mut tokens = 0;
        for_each_line(text, |line| {
            let mut count = || count_pieces(pieces, line, |piece| counter.count_or_halve(piece, tables));
            let key = if line.len() < MIN_CACHED_LINE { None } else { Some(xxh3_128(line.as_bytes())) };
            tokens += match key {
                None => count(),
                Some(key) => lines.get_or_count(key, (key >> 64) as u64, count),
            };
        });
        tokens
    }
}

fn count_pieces(cache: &mut CountTable<PieceKey>, text: &str, mut count: impl FnMut(&str) -> u64) -> u64 {
    let mut tokens = 0;
    pieces::for_each(text, |piece| {
        tokens += match piece_key(piece) {
            None => count(piece),
            Some(key) => cache.get_or_count(key, hash_key(key), || count(piece)),
        };
    });
    tokens
}

/// Returns the cache key of a piece; `None` if the piece is too long.
fn piece_key(piece: &str) -> Option<PieceKey> {
    let mut bytes = [0; 32];
    bytes[..31].get_mut(..piece.len())?.copy_from_slice(piece.as_bytes());
    bytes[31] = piece.len() as u8;
    let (words, _) = bytes.as_chunks();
    Some(std::array::from_fn(|i| u64::from_le_bytes(words[i])))
}

/// Hashes a key by multiplication with 2^64 / φ (Knuth, *The Art of Computer Programming* 3, 6.4).
fn hash_key(key: PieceKey) -> u64 {
    key.into_iter().fold(0u64, |hash, word| (hash.rotate_left(26) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Maximum bytes of a piece that is counted at once. The memory for it is 50 times as large.
const MAX_PIECE_BYTES: usize = 64 * 1024;

/// Counts pieces that are not in the cache.
#[derive(Default)]
struct PieceCounter {
    /// The tables' expression. Threads that share one wait for each other.
    expression: Option<Regex>,
    seen: SeenTokens,
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
        let Self { expression: own, seen, .. } = self;
        if is_one_word(piece) {
            return count_merged(piece.as_bytes(), ranks, seen);
        }
        let mut tokens = 0;
        for_each_pre_token(own.get_or_insert_with(|| Regex::clone(expression)), piece, |pre_token| {
            tokens += if is_token(pre_token) { 1 } else { count_merged(pre_token.as_bytes(), ranks, seen) };
        });
        tokens
    }
}
