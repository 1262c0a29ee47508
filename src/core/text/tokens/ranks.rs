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
        let mut end = bytes as u32;
        for length in lengths {
            end += u32::from(*length);
            ends.push(end);
        }
        Self { data, pairs, ends, ranks, bytes }
    }

    /// Returns the rank of a token of two or more bytes.
    pub fn get(&self, token: &[u8]) -> Option<u32> {
        let [first, second, beyond @ ..] = token else { return None };
        let of_pair = self.pair([*first, *second]);
        // The pair alone, if it is a token, is the first of its tokens.
        let at = if beyond.is_empty() { of_pair.start } else { self.first(of_pair.clone(), |other| other >= beyond) };
        (at < of_pair.end && self.beyond(at) == beyond).then(|| self.rank(at))
    }

    /// Calls `each` with every token of two or more bytes that is somewhere in a text, and its rank.
    pub fn for_each_in<'t>(&self, text: &'t [u8], mut each: impl FnMut(&'t [u8], u32)) {
        for (start, pair) in text.windows(2).enumerate() {
            let mut tokens = self.pair([pair[0], pair[1]]);
            // All tokens of the range begin with the text from `start` to `end`, and the shortest is the first.
            let mut end = start + 2;
            while !tokens.is_empty() {
                let beyond = end - start - 2;
                if self.beyond(tokens.start).len() == beyond {
                    each(&text[start..end], self.rank(tokens.start));
                    tokens.start += 1;
                }
                let Some(next) = text.get(end) else { break };
                tokens.start = self.first(tokens.clone(), |other| other[beyond] >= *next);
                tokens.end = self.first(tokens.clone(), |other| other[beyond] > *next);
                end += 1;
            }
        }
    }

    /// Returns the first token of a range whose bytes beyond the pair are so; the end of the range if there is none. All tokens
    /// behind it must be so too.
    fn first(&self, tokens: Range<usize>, is_so: impl Fn(&[u8]) -> bool) -> usize {
        let Range { mut start, mut end } = tokens;
        while start < end {
            let middle = start.midpoint(end);
            if is_so(self.beyond(middle)) { end = middle } else { start = middle + 1 }
        }
        start
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
