//! The tokens of a vocabulary with their ranks, as a sorted table that needs no work beyond inflating it.
//!
//! A process that counts one small file reads a few hundred of 200,000 tokens. So there is no hash map of all of them, which would take
//! longer to fill than such a process runs. tiktoken-rs has the same tokens as Base64 text; a test compares them, and writes the files.
//!
//! A file is deflated. Inside it, tokens are sorted by their bytes, and those of one byte are left out, because every byte is a token:
//! 1. for each of the 65,536 pairs of bytes, how many tokens begin with it (16 bits, little-endian);
//! 2. for each token, its bytes beyond that pair (8 bits);
//! 3. the lowest, the middle and the highest byte of each rank, as three lists, because only the last one can be compressed;
//! 4. these bytes beyond the pair, one token after the other.

use std::ops::Range;

use crate::inflate::inflate;

/// Number of pairs of bytes.
pub(super) const PAIRS: usize = 1 << 16;

/// Every token of two or more bytes, with its rank: tokens with lower ranks are merged first.
pub(super) struct Ranks {
    /// The inflated file.
    data: Vec<u8>,
    /// First token of each pair, and behind the last pair the number of tokens.
    pairs: Vec<u32>,
    /// Where the bytes of each token end.
    ends: Vec<u32>,
    /// The first bytes of each token beyond its pair, in its order.
    heads: Vec<u32>,
    /// Where the ranks begin in `data`.
    ranks: usize,
    /// Where the bytes of the first token begin in `data`.
    bytes: usize,
}

impl Ranks {
    /// Reads a file of the form above. It is a part of the program, so a fault in it is a defect of the program.
    pub fn read(deflated: &[u8]) -> Self {
        let data = inflate(deflated);
        let (counts, rest) = data.split_at(2 * PAIRS);
        let (counts, _) = counts.as_chunks();
        let mut pairs = Vec::with_capacity(PAIRS + 1);
        let mut tokens = 0;
        pairs.push(0);
        for count in counts {
            tokens += u32::from(u16::from_le_bytes(*count));
            pairs.push(tokens);
        }
        let lengths = &rest[..tokens as usize];
        let ranks = 2 * PAIRS + lengths.len();
        let bytes = ranks + 3 * lengths.len();
        let mut ends = Vec::with_capacity(lengths.len());
        let mut heads = Vec::with_capacity(lengths.len());
        let mut end = bytes as u32;
        for length in lengths {
            heads.push(head(&data[end as usize..][..usize::from(*length)]));
            end += u32::from(*length);
            ends.push(end);
        }
        Self { data, pairs, ends, heads, ranks, bytes }
    }

    /// Returns the rank of a token of two bytes.
    pub fn of_pair(&self, pair: [u8; 2]) -> Option<u32> {
        // It is the first of the tokens that begin with the pair.
        let tokens = self.pair(pair);
        (!tokens.is_empty() && self.beyond(tokens.start).is_empty()).then(|| self.rank(tokens.start))
    }

    /// Returns the rank of a token of two or more bytes.
    pub fn get(&self, token: &[u8]) -> Option<u32> {
        let (pair, beyond) = token.split_first_chunk()?;
        if beyond.is_empty() {
            return self.of_pair(*pair);
        }
        let tokens = self.pair(*pair);
        let (heads, head) = (&self.heads[tokens.clone()], head(beyond));
        let first = heads.partition_point(|other| *other < head);
        let ties = heads[first..].iter().take_while(|other| **other == head).count();
        let mut same = tokens.start + first..tokens.start + first + ties;
        same.find(|at| self.beyond(*at) == beyond).map(|at| self.rank(at))
    }

    /// Returns the tokens that begin with a pair of bytes.
    fn pair(&self, pair: [u8; 2]) -> Range<usize> {
        let pair = usize::from(u16::from_be_bytes(pair));
        self.pairs[pair] as usize..self.pairs[pair + 1] as usize
    }

    /// Returns the bytes of a token beyond its pair.
    fn beyond(&self, token: usize) -> &[u8] {
        let start = token.checked_sub(1).map_or(self.bytes, |before| self.ends[before] as usize);
        &self.data[start..self.ends[token] as usize]
    }

    fn rank(&self, token: usize) -> u32 {
        let byte = |place: usize| self.data[self.ranks + place * self.ends.len() + token];
        u32::from_le_bytes([byte(0), byte(1), byte(2), 0])
    }
}

/// Returns four bytes as a number whose order is theirs. Where there are fewer, the rest is 0.
fn head(bytes: &[u8]) -> u32 {
    let mut head = [0; 4];
    let len = bytes.len().min(4);
    head[..len].copy_from_slice(&bytes[..len]);
    u32::from_be_bytes(head)
}
