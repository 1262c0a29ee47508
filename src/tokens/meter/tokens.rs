//! Tokens of text by OpenAI's vocabularies: what `tiktoken` counts, special tokens in the text read as ordinary text.
//!
//! tiktoken-rs does the counting. Text goes to it in pieces (`pieces.rs`), and the counts of short pieces and of lines are
//! remembered: transcripts say the same words again and again, and summaries the same lines.
//!
//! A count is exact unless a single piece is longer than 64 KB: that many spaces in a row, or letters with neither a space nor a
//! line end among them. (tiktoken-rs itself panics on a megabyte of spaces.) Such a piece is counted in halves of halves, and
//! each cut may add a token or two.

mod table;

use std::cell::RefCell;
use std::collections::HashSet;

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};
use xxhash_rust::xxh3::xxh3_128;

use self::table::Table;
use super::pieces::{self, for_each_line};
use crate::util::text::{has_stand_ins, lone_surrogate};

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
        REMEMBERED.with_borrow_mut(|[o200k, cl100k]| match self {
            Vocabulary::O200k => o200k.count(text, o200k_base_singleton()),
            Vocabulary::Cl100k => cl100k.count(text, cl100k_base_singleton()),
        })
    }
}

thread_local! {
    static REMEMBERED: RefCell<[Remembered; 2]> = RefCell::default();
}

/// What was counted before: 2.6 MB of short pieces and 1.6 MB of lines a vocabulary and thread.
#[derive(Default)]
struct Remembered {
    pieces: Table<Piece>,
    lines: Table<u128>,
}

/// A piece of up to 31 bytes and, in the last byte, its length: no other piece has the same key, and none has the key 0.
type Piece = [u64; 4];

/// A shorter line is hardly more than a piece or two.
const LINE: usize = 32;

impl Remembered {
    /// Two lines with one hash of 128 bits are taken for the same.
    fn count(&mut self, text: &str, bpe: &CoreBPE) -> u64 {
        let Self { pieces, lines } = self;
        let mut tokens = 0;
        for_each_line(text, |line| {
            let mut count = || count_pieces(pieces, line, bpe);
            let key = if line.len() < LINE { None } else { Some(xxh3_128(line.as_bytes())) };
            tokens += match key {
                None => count(),
                Some(key) => lines.get(key, (key >> 64) as u64, count),
            };
        });
        tokens
    }
}

fn count_pieces(known: &mut Table<Piece>, text: &str, bpe: &CoreBPE) -> u64 {
    let mut tokens = 0;
    pieces::for_each(text, |piece| {
        let count = || count_or_halve(piece, bpe);
        tokens += key(piece).map_or_else(count, |key| known.get(key, mixed(key), count));
    });
    tokens
}

fn key(piece: &str) -> Option<Piece> {
    let mut bytes = [0; 32];
    bytes[..31].get_mut(..piece.len())?.copy_from_slice(piece.as_bytes());
    bytes[31] = piece.len() as u8;
    let (words, _) = bytes.as_chunks();
    Some(std::array::from_fn(|i| u64::from_le_bytes(words[i])))
}

/// Multiplication by 2^64 / φ spreads keys over the rows (Knuth, *The Art of Computer Programming* 3, 6.4).
fn mixed(key: Piece) -> u64 {
    key.into_iter().fold(0u64, |mixed, word| (mixed.rotate_left(26) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15))
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
