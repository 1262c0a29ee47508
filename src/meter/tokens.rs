//! Tokens of text by OpenAI's vocabularies: what `tiktoken` counts, special tokens in the text read as ordinary text.
//!
//! tiktoken-rs does the counting. Text goes to it in pieces (`pieces.rs`), and the counts of short pieces are remembered: transcripts
//! say the same words again and again.
//!
//! A count is exact unless a single piece is longer than 64 KB: that many spaces in a row, or letters with neither a space nor a
//! line end among them. (tiktoken-rs itself panics on a megabyte of spaces.) Such a piece is counted in halves of halves, and
//! each cut may add a token or two.

use std::cell::RefCell;
use std::collections::HashSet;

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

use super::pieces;
use crate::text::{has_stand_ins, lone_surrogate};

/// A vocabulary. It is loaded when something is first counted by it (some 0.2 s), once a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vocabulary {
    /// o200k_base: GPT-4o and later.
    O200k,
    /// cl100k_base: GPT-4 and GPT-3.5.
    Cl100k,
}

impl Vocabulary {
    /// The tokens of a text. Half surrogate pairs count as U+FFFD, as they do where text is encoded for a model.
    pub fn count(self, text: &str) -> u64 {
        if has_stand_ins(text) {
            let replaced: String =
                text.chars().map(|c| if lone_surrogate(c).is_some() { char::REPLACEMENT_CHARACTER } else { c }).collect();
            return self.count(&replaced);
        }
        let mut tokens = 0;
        REMEMBERED.with_borrow_mut(|[o200k, cl100k]| {
            let (remembered, bpe) = match self {
                Vocabulary::O200k => (o200k, o200k_base_singleton()),
                Vocabulary::Cl100k => (cl100k, cl100k_base_singleton()),
            };
            pieces::for_each(text, |piece| tokens += remembered.count(piece, bpe));
        });
        tokens
    }
}

thread_local! {
    static REMEMBERED: RefCell<[Remembered; 2]> = RefCell::default();
}

/// Counts of short pieces, in a table of fixed size: a row has room for two, and of those the one not asked for last goes.
#[derive(Default)]
struct Remembered {
    /// Empty until the first count, then [`ROWS`] long.
    rows: Vec<[(Key, u64); 2]>,
}

/// 2.6 MB a vocabulary and thread, of which the hot part stays in a processor's second cache.
const ROWS: usize = 1 << 15;

/// A piece of up to 31 bytes and, in the last byte, its length: no other piece has the same key, and none has the key 0.
type Key = [u64; 4];

impl Remembered {
    fn count(&mut self, piece: &str, bpe: &CoreBPE) -> u64 {
        let Some(key) = key(piece) else { return count_or_halve(piece, bpe) };
        if self.rows.is_empty() {
            self.rows = vec![Default::default(); ROWS];
        }
        let row = &mut self.rows[row(key)];
        if row[0].0 != key {
            if row[1].0 != key {
                row[1] = (key, count_or_halve(piece, bpe));
            }
            row.swap(0, 1);
        }
        row[0].1
    }
}

fn key(piece: &str) -> Option<Key> {
    let mut bytes = [0; 32];
    bytes[..31].get_mut(..piece.len())?.copy_from_slice(piece.as_bytes());
    bytes[31] = piece.len() as u8;
    let (words, _) = bytes.as_chunks();
    Some(std::array::from_fn(|i| u64::from_le_bytes(words[i])))
}

/// Multiplication by 2^64 / φ spreads keys over the rows (Knuth, *The Art of Computer Programming* 3, 6.4).
fn row(key: Key) -> usize {
    let mixed = key.into_iter().fold(0u64, |mixed, word| (mixed.rotate_left(26) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    (mixed >> (64 - ROWS.trailing_zeros())) as usize
}

/// Bytes of a piece that tiktoken-rs is given at once: its time and memory (60 bytes a byte) grow with it, and its expression
/// fails on some ten times as much.
const LONGEST: usize = 64 * 1024;

fn count_or_halve(piece: &str, bpe: &CoreBPE) -> u64 {
    if piece.len() <= LONGEST
        && let Ok((tokens, _)) = bpe.encode(piece, &HashSet::new())
    {
        return tokens.len() as u64;
    }
    let (left, right) = piece.split_at(piece.ceil_char_boundary(piece.len() / 2));
    if right.is_empty() { 1 } else { count_or_halve(left, bpe) + count_or_halve(right, bpe) }
}
