//! Splits a line into the pieces of `pieces.rs`, 61 places at a time: a bit says of each byte which class it has, and the rules for cuts
//! become operations on 64 bits. So the time does not depend on where the cuts are, which a processor cannot foretell.

use std::ops::Range;

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Of a block, the first two bytes say what is before the first place of a cut, and the last one what is behind the last place.
const STEP: usize = BLOCK - 3;

/// Whether the rules of this module are enough for a line: it has line ends only in its last white space, and no white space outside ASCII.
pub(super) fn is_plain(line: &str) -> bool {
    let body = line.as_bytes().trim_ascii_end();
    memchr::memchr2(b'\r', b'\n', body).is_none()
        && (line.is_ascii() || !line.contains(|c: char| !c.is_ascii() && c.is_whitespace()))
}

/// Calls `each` with the pieces of a plain line, which is a range of a text.
#[inline]
pub(super) fn for_each(text: &[u8], line: Range<usize>, mut each: impl FnMut(Range<usize>)) {
    let mut from = line.start;
    let mut block = line.start;
    // The first byte of the line is no place of a cut.
    let mut places = !1;
    while from < line.end {
        let mut cuts = places & cuts(text, block..line.end);
        while cuts != 0 {
            let at = block + cuts.trailing_zeros() as usize;
            each(from..at);
            from = at;
            cuts &= cuts - 1;
        }
        if line.end - block <= BLOCK {
            each(from..line.end);
            return;
        }
        block += STEP;
        places = !0b11;
    }
}

/// Returns the places of cuts in the first block of a range: a bit is set where a piece begins.
#[inline]
fn cuts(text: &[u8], range: Range<usize>) -> u64 {
    let rest = &text[range.start..];
    let block = match rest.first_chunk::<BLOCK>() {
        Some(block) => *block,
        None => {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            block
        }
    };
    let len = range.len().min(BLOCK);
    let inside = u64::MAX >> (BLOCK - len);
    let behind_last = if range.len() > BLOCK { 1 << (BLOCK - 1) } else { 0 };
    let letters = bits(&block, |byte| byte.is_ascii_alphabetic());
    let digits = bits(&block, |byte| byte.is_ascii_digit());
    let spaces = bits(&block, |byte| matches!(byte, b'\t'..=b'\r' | b' '));
    let line_ends = bits(&block, |byte| matches!(byte, b'\r' | b'\n'));
    let blanks = bits(&block, |byte| byte == b' ');
    let apostrophes = bits(&block, |byte| byte == b'\'');
    let others = bits(&block, |byte| !byte.is_ascii());
    let signs = !(letters | digits | spaces | others);
    let after = |class: u64| class << 1;
    let cuts = after(letters) & (digits | spaces | signs & !apostrophes)
        | after(digits) & (letters | signs | spaces)
        | after(signs) & (digits | letters & after(after(signs | blanks)))
        | after(signs | others) & spaces & !line_ends
        // The last character of white space belongs to what is behind it.
        | after(spaces) & spaces & !(spaces >> 1) & (inside >> 1);
    cuts & inside & !behind_last
}

/// Returns a bit for each byte of a block, the lowest for the first.
#[inline]
fn bits(block: &[u8; BLOCK], is_one: impl Fn(u8) -> bool) -> u64 {
    // The product moves the lowest bit of each of eight bytes into the highest byte.
    const TO_HIGHEST: u64 = 0x0102_0408_1020_4080;
    let ones = block.map(|byte| u8::from(is_one(byte)));
    let (words, _) = ones.as_chunks::<8>();
    words.iter().rev().fold(0, |bits, word| bits << 8 | u64::from_le_bytes(*word).wrapping_mul(TO_HIGHEST) >> 56)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::pieces::by_runs;

    /// Compares with the pieces found run by run, of a plain line in the middle of a text.
    fn assert_same(line: &str) -> bool {
        if !is_plain(line) {
            return false;
        }
        let text = format!("a1 {line}b");
        let range = 3..3 + line.len();
        let mut pieces = Vec::new();
        for_each(text.as_bytes(), range, |piece| pieces.push(&text[piece]));
        let mut expected = Vec::new();
        by_runs(line, |piece| expected.push(&line[piece]));
        assert_eq!(pieces, expected, "{line:?}");
        true
    }

    #[test]
    fn pieces_of_plain_lines_are_those_of_their_runs() {
        let parts = ["a", " ", "  ", "\t", "\n", "\r\n", "/", "((", "'s", "é", "→", "7", "\u{2028}"];
        let mut plain = 0;
        for code in 0..parts.len().pow(5) {
            let line: String = (0..5).map(|digit| parts[code / parts.len().pow(digit) % parts.len()]).collect();
            plain += usize::from(assert_same(&line));
        }
        assert!(plain > 50_000, "{plain}");
    }

    /// Each place of a cut is once the first and once the last of a block.
    #[test]
    fn pieces_do_not_depend_on_where_blocks_begin() {
        let parts = ["a", " ", "  ", "/", "((", "'", "é", "7"];
        for code in 0..parts.len().pow(4) {
            let bit = |digit| parts[code / parts.len().pow(digit) % parts.len()];
            let unit: String = (0..4).map(bit).collect();
            let first: String = (0..code as u32 % 5).map(bit).collect();
            assert!(assert_same(&format!("{first}{}\n", unit.repeat(40))));
        }
    }
}
