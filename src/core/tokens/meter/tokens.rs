//! Counts tokens of text with OpenAI's vocabularies, as `tiktoken` does; special tokens count as ordinary text.
//!
//! tiktoken-rs does the counting. It gets the text in pieces (`pieces.rs`). The counts of short pieces and of lines are cached,
//! because transcripts repeat words and summaries repeat lines.
//!
//! A count is exact unless a single piece is longer than 64 KB: that many spaces in a row, or letters without a space or line
//! end among them. (tiktoken-rs itself panics on a megabyte of spaces.) Such a piece is halved until it is short enough, and
//! each cut may add a token or two.

mod table;

use std::cell::RefCell;
use std::collections::HashSet;

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};
use xxhash_rust::xxh3::xxh3_128;

use self::table::CountTable;
use super::pieces::{self, for_each_line};
use crate::util::text::{has_stand_ins, lone_surrogate};

/// A vocabulary. It is loaded on first use (about 0.2 s), once per process.
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
            Vocabulary::O200k => o200k.count(text, o200k_base_singleton()),
            Vocabulary::Cl100k => cl100k.count(text, cl100k_base_singleton()),
        })
    }
}

thread_local! {
    static COUNT_CACHES: RefCell<[CountCache; 2]> = RefCell::default();
}

/// Cached counts: 2.6 MB of short pieces and 1.6 MB of lines per vocabulary and thread.
#[derive(Default)]
struct CountCache {
    pieces: CountTable<PieceKey>,
    lines: CountTable<u128>,
}

/// A piece of up to 31 bytes, and its length in the last byte. Keys are unique, and none is 0.
type PieceKey = [u64; 4];

/// Shorter lines are not cached: they have only a piece or two.
const MIN_CACHED_LINE: usize = 32;

impl CountCache {
    /// Counts tokens. Two lines with the same 128-bit hash are treated as equal.
    fn count(&mut self, text: &str, bpe: &CoreBPE) -> u64 {
        let Self { pieces, lines } = self;
        let mut tokens = 0;
        for_each_line(text, |line| {
            let mut count = || count_pieces(pieces, line, bpe);
            let key = if line.len() < MIN_CACHED_LINE { None } else { Some(xxh3_128(line.as_bytes())) };
            tokens += match key {
                None => count(),
                Some(key) => lines.get_or_count(key, (key >> 64) as u64, count),
            };
        });
        tokens
    }
}

fn count_pieces(cache: &mut CountTable<PieceKey>, text: &str, bpe: &CoreBPE) -> u64 {
    let mut tokens = 0;
    pieces::for_each(text, |piece| {
        let count = || count_or_halve(piece, bpe);
        tokens += piece_key(piece).map_or_else(count, |key| cache.get_or_count(key, hash_key(key), count));
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

/// Maximum bytes passed to tiktoken-rs at once. Its time and memory (60 bytes per byte) grow with the piece, and its regular
/// expression fails on pieces about ten times as long.
const MAX_PIECE_BYTES: usize = 64 * 1024;

fn count_or_halve(piece: &str, bpe: &CoreBPE) -> u64 {
    if piece.len() <= MAX_PIECE_BYTES
        && let Ok((tokens, _)) = bpe.encode(piece, &HashSet::new())
    {
        return tokens.len() as u64;
    }
    let (left, right) = piece.split_at(piece.ceil_char_boundary(piece.len() / 2));
    if right.is_empty() { 1 } else { count_or_halve(left, bpe) + count_or_halve(right, bpe) }
}
