//! Finds a text with other signs: the words of a name in any spelling, a quotation without its marks.

#[cfg(test)]
mod tests;

use std::ops::Range;

use memchr::{memchr_iter, memchr2_iter, memmem};

/// What may differ between a text and what is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signs {
    /// Between two words of a name: one of `_`, `-` and `.`, or nothing; and the case. Where `spaces`, also a space.
    OfNames { spaces: bool },
    /// Spaces, quotation marks and backslashes, anywhere.
    OfQuotations,
}

/// Looks for one text.
#[derive(Debug, Clone)]
pub struct Matcher {
    /// Each byte that has to be there, in small letters if the case may differ, with whether a sign may be or must be before it.
    bytes: Vec<(u8, Gap)>,
    signs: Signs,
    /// Index of the byte that texts have least often: the search begins with it.
    rarest: usize,
}

/// Letters, digits and signs, the most frequent first, as counted in the sources of this program and in what agents and their tools
/// write. Only the speed of a search depends on it.
const FREQUENT: &[u8] = b"etaonisrlcdupmhfg-/_.=:,(){}y012vkbw3456789x;STECARIDNPLMFOBGjUVHWKqzXYQJZ[]<>|*&!?+#@%$~^";

/// Returns how rare a byte is in texts. Where texts have characters outside ASCII, these are all over.
fn rarity(byte: u8) -> usize {
    if byte.is_ascii() { FREQUENT.iter().position(|frequent| *frequent == byte).unwrap_or(FREQUENT.len()) } else { 0 }
}

/// Finds a text where it neither begins nor ends inside of a word.
#[derive(Debug, Clone)]
pub struct Whole(memmem::Finder<'static>);

impl Whole {
    pub fn new(part: &str) -> Self {
        Self(memmem::Finder::new(part).into_owned())
    }

    /// Returns where a text has it.
    pub fn find_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let found = self.0.find_iter(text.as_bytes()).map(|start| start..start + self.0.needle().len());
        found.filter(|found| !is_in_word(text, found.start) && !has_word_byte(text, found.end))
    }
}

/// Whether the byte before an offset belongs to a word.
pub fn is_in_word(text: &str, start: usize) -> bool {
    start.checked_sub(1).is_some_and(|before| has_word_byte(text, before))
}

fn has_word_byte(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    None,
    May,
    /// Two numbers are two: `1_23` is not `12_3`.
    Must,
}

impl Matcher {
    /// Looks for the words of a name. Its plural is the same name.
    pub fn words(name: &str) -> Self {
        let all = name.trim_matches(is_sign_char).as_bytes();
        let all = match all {
            [singular @ .., b's'] if !singular.ends_with(b"s") && singular.len() > 2 => singular,
            all => all,
        };
        let mut bytes: Vec<(u8, Gap)> = Vec::new();
        let mut gap = Gap::None;
        for (at, byte) in all.iter().enumerate() {
            if is_sign(*byte) {
                gap = Gap::May;
                continue;
            }
            let before = at.checked_sub(1).map(|before| all[before]);
            let is_between_numbers =
                gap == Gap::May && byte.is_ascii_digit() && bytes.last().is_some_and(|last| last.0.is_ascii_digit());
            let begins_word = before.is_some_and(|before| {
                before.is_ascii_lowercase() && byte.is_ascii_uppercase()
                    || before.is_ascii_digit() != byte.is_ascii_digit()
                    || before.is_ascii_uppercase()
                        && byte.is_ascii_uppercase()
                        && all.get(at + 1).is_some_and(u8::is_ascii_lowercase)
            });
            let gap_here = if is_between_numbers {
                Gap::Must
            } else if gap == Gap::May || begins_word {
                Gap::May
            } else {
                Gap::None
            };
            bytes.push((byte.to_ascii_lowercase(), if bytes.is_empty() { Gap::None } else { gap_here }));
            gap = Gap::None;
        }
        let mut matcher = Self::new(bytes, Signs::OfNames { spaces: false });
        matcher.signs = Signs::OfNames { spaces: matcher.count_words() >= 3 };
        matcher
    }

    /// Looks for a quotation or a line.
    pub fn signless(text: &str) -> Self {
        let bytes = text.bytes().filter(|byte| !is_mark(*byte)).map(|byte| (byte, Gap::May)).collect();
        Self::new(bytes, Signs::OfQuotations)
    }

    fn new(bytes: Vec<(u8, Gap)>, signs: Signs) -> Self {
        let rarest = (0..bytes.len()).max_by_key(|at| rarity(bytes[*at].0)).unwrap_or(0);
        Self { bytes, signs, rarest }
    }

    /// Returns the number of words in a name.
    pub fn count_words(&self) -> usize {
        1 + self.bytes.iter().filter(|(_, gap)| *gap != Gap::None).count()
    }

    /// Whether a text has it at a place that is wanted.
    pub fn any_in(&self, text: &str, mut is_wanted: impl FnMut(Range<usize>) -> bool) -> bool {
        let Some((byte, _)) = self.bytes.get(self.rarest) else { return false };
        let text = text.as_bytes();
        let mut is_here = |at: usize| {
            let start = self.start_of(text, at);
            let found = start.and_then(|start| self.end_of(text, start).map(|end| start..end));
            found.is_some_and(&mut is_wanted)
        };
        let in_capitals = if self.signs == Signs::OfQuotations { *byte } else { byte.to_ascii_uppercase() };
        if in_capitals == *byte {
            memchr_iter(*byte, text).any(&mut is_here)
        } else {
            memchr2_iter(*byte, in_capitals, text).any(&mut is_here)
        }
    }

    /// Returns the start of a match whose rarest byte is at `at`. What comes behind that byte is not compared.
    fn start_of(&self, text: &[u8], mut at: usize) -> Option<usize> {
        for index in (0..self.rarest).rev() {
            let (wanted, gap) = (self.bytes[index].0, self.bytes[index + 1].1);
            at -= match self.signs {
                Signs::OfQuotations => text[..at].iter().rev().take_while(|byte| is_mark(**byte)).count(),
                Signs::OfNames { spaces } => {
                    usize::from(gap != Gap::None && at.checked_sub(1).is_some_and(|before| is_gap(text[before], spaces)))
                }
            };
            at = at.checked_sub(1)?;
            let byte = text[at];
            if byte != wanted && (self.signs == Signs::OfQuotations || byte.to_ascii_lowercase() != wanted) {
                return None;
            }
        }
        Some(at)
    }

    /// Returns the end of a match that begins at `start`.
    fn end_of(&self, text: &[u8], start: usize) -> Option<usize> {
        let mut at = start;
        for (wanted, gap) in &self.bytes {
            match self.signs {
                Signs::OfQuotations => {
                    at += text[at..].iter().take_while(|byte| is_mark(**byte)).count();
                    if text.get(at) != Some(wanted) {
                        return None;
                    }
                }
                Signs::OfNames { spaces } => {
                    let is_gap = text.get(at).is_some_and(|byte| is_gap(*byte, spaces));
                    at += usize::from(is_gap && *gap != Gap::None);
                    if *gap == Gap::Must && !is_gap || text.get(at).map(u8::to_ascii_lowercase) != Some(*wanted) {
                        return None;
                    }
                }
            }
            at += 1;
        }
        match self.signs {
            Signs::OfQuotations => Some(at),
            Signs::OfNames { .. } => {
                (!self.bytes.is_empty() && begins_word(text, start)).then(|| end_of_word(text, at)).flatten()
            }
        }
    }
}

/// Whether a word of a name begins at an offset: it is no letter inside of a word.
fn begins_word(text: &[u8], start: usize) -> bool {
    let Some(before) = start.checked_sub(1).map(|before| text[before]) else { return true };
    let is_inside = before.is_ascii_alphabetic() && (text[start].is_ascii_lowercase() || before.is_ascii_uppercase())
        || before.is_ascii_digit() && text[start].is_ascii_digit();
    !is_inside || is_escape(text, start)
}

/// Whether the letter before an offset belongs to an escaped line break or tab.
fn is_escape(text: &[u8], start: usize) -> bool {
    start >= 2 && text[start - 2] == b'\\' && matches!(text[start - 1], b'n' | b'r' | b't' | b'b')
}

/// Returns the end of the word that ends at `at` or with an `s` behind it.
fn end_of_word(text: &[u8], at: usize) -> Option<usize> {
    let last = *text.get(at.checked_sub(1)?)?;
    let goes_on = |at: usize| {
        text.get(at).is_some_and(|next| {
            next.is_ascii_lowercase()
                || next.is_ascii_uppercase() && last.is_ascii_uppercase()
                || next.is_ascii_digit() && last.is_ascii_digit()
        })
    };
    let is_plural = matches!(text.get(at), Some(b's' | b'S'));
    match (goes_on(at), is_plural) {
        (false, _) => Some(at),
        (true, true) if !goes_on(at + 1) => Some(at + 1),
        _ => None,
    }
}

/// Whether a byte may be between two words of a name.
fn is_gap(byte: u8, spaces: bool) -> bool {
    is_sign(byte) || spaces && byte == b' '
}

fn is_sign(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b'.')
}

fn is_sign_char(c: char) -> bool {
    matches!(c, '_' | '-' | '.')
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'`')
}
