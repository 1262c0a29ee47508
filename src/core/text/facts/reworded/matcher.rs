//! Finds a text with other signs: the words of a name in any spelling, a quotation without its marks.

use std::ops::Range;

use memchr::{memchr2_iter, memmem};

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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    None,
    May,
    /// Two numbers are two: `1_23` is not `12_3`.
    Must,
}

/// Returns the number of words in a name.
pub fn words_of(name: &str) -> usize {
    count_words(&Matcher::words(name).bytes)
}

fn count_words(bytes: &[(u8, Gap)]) -> usize {
    1 + bytes.iter().filter(|(_, gap)| *gap != Gap::None).count()
}

/// Whether a text has the words of an identifier.
pub fn is_in_words(identifier: &str, text: &str) -> bool {
    Matcher::words(identifier).find_in(text).next().is_some()
}

/// Returns where a text has a part that neither begins nor ends inside of a word.
pub fn whole<'t>(part: &'t str, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let bytes = text.as_bytes();
    let found = memmem::find_iter(bytes, part.as_bytes()).map(|start| start..start + part.len()).collect::<Vec<_>>();
    found.into_iter().filter(move |found| {
        let before = found.start.checked_sub(1).and_then(|before| bytes.get(before));
        !is_word(before) && !is_word(bytes.get(found.end))
    })
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
        let spaces = count_words(&bytes) >= 3;
        Self { bytes, signs: Signs::OfNames { spaces } }
    }

    /// Looks for a quotation or a line.
    pub fn signless(text: &str) -> Self {
        let bytes = text.bytes().filter(|byte| !is_mark(*byte)).map(|byte| (byte, Gap::May)).collect();
        Self { bytes, signs: Signs::OfQuotations }
    }

    /// Returns where a text has it.
    pub fn find_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let first = self.bytes.first().map_or(0, |(first, _)| *first);
        let other = if self.signs == Signs::OfQuotations { first } else { first.to_ascii_uppercase() };
        let starts = memchr2_iter(first, other, text.as_bytes());
        starts.filter_map(|start| self.end_of(text.as_bytes(), start).map(|end| start..end))
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
                    let is_gap = text.get(at).is_some_and(|byte| is_sign(*byte) || spaces && *byte == b' ');
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

fn is_sign(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b'.')
}

fn is_sign_char(c: char) -> bool {
    matches!(c, '_' | '-' | '.')
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'`')
}
