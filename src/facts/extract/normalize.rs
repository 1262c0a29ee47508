//! What is taken off a text before it is read, so that one thing seen twice is the same: through a tool that numbers lines,
//! on a terminal in colour, from a system that writes `é` as two characters.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memchr3};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Bytes of a text that are read: half of them from its beginning, half from its end.
pub const MOST: usize = 100_000;

const ESC: u8 = 0x1B;
const BEL: u8 = 0x07;

/// The beginning and the end of a text, and how many lines break between them. Most texts are a beginning only.
pub fn ends(text: &str) -> (&str, usize, &str) {
    if text.len() <= MOST {
        return (text, 0, "");
    }
    let (head, tail) = (text.floor_char_boundary(MOST / 2), text.ceil_char_boundary(text.len() - MOST / 2));
    (&text[..head], memchr_iter(b'\n', &text.as_bytes()[head..tail]).count(), &text[tail..])
}

/// A text without escape sequences, composed (NFC).
pub fn normal(text: &str) -> Cow<'_, str> {
    let plain = without_escapes(text);
    if plain.is_ascii() || is_nfc_quick(plain.chars()) == IsNormalized::Yes {
        return plain;
    }
    Cow::Owned(plain.nfc().collect())
}

/// A line without the return before its break and without the number that a reader of files puts before it.
pub fn line(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    let Some(number) = line.find(|c: char| c != ' ' && c != '\t') else { return line };
    let rest = line[number..].trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() - number {
        return line;
    }
    rest.strip_prefix(['→', '\t']).unwrap_or(line)
}

/// A trimmed line without the sign a diff puts before it. The lines that name a diff's files keep theirs.
pub fn without_sign(line: &str) -> &str {
    if line.starts_with("+++") || line.starts_with("---") {
        return line;
    }
    line.strip_prefix(['+', '-']).map_or(line, str::trim_start)
}

/// Bytes of a line in which the place that a search puts before it must end.
const PLACE: usize = 300;

/// A line without the place that a search puts before it: `src/pool.rs:12:`, `src/pool.rs-12-`, `12:`, `12-`.
pub fn without_place(line: &str) -> &str {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len().min(PLACE) && !bytes[at].is_ascii_whitespace() {
        let begins = at == 0 || matches!(bytes[at - 1], b':' | b'-');
        let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let sign = bytes.get(at + digits);
        if begins && digits > 0 && matches!(sign, Some(b':' | b'-')) && (at == 0 || sign == bytes.get(at - 1)) {
            return line[at + digits + 1..].trim_start();
        }
        at += digits.max(1);
    }
    line
}

/// A text without what a terminal would not show: colours, moves, titles, links.
fn without_escapes(text: &str) -> Cow<'_, str> {
    let Some(mut escape) = memchr(ESC, text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        plain.push_str(&rest[..escape]);
        rest = &rest[escape..];
        rest = &rest[sequence(rest.as_bytes())..];
        let Some(next) = memchr(ESC, rest.as_bytes()) else { break };
        escape = next;
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The length of the escape sequence a text begins with. What is no sequence loses only its escape character: nothing may hide
/// a text behind an open sequence.
fn sequence(bytes: &[u8]) -> usize {
    let within = |from: usize, of: std::ops::RangeInclusive<u8>| {
        bytes[from..].iter().position(|byte| !of.contains(byte)).map_or(bytes.len(), |length| from + length)
    };
    let ends_at = |at: usize, of: std::ops::RangeInclusive<u8>| bytes.get(at).filter(|byte| of.contains(byte)).map(|_| at + 1);
    let length = match bytes.get(1) {
        Some(b'[') => ends_at(within(within(2, 0x30..=0x3F), 0x20..=0x2F), 0x40..=0x7E),
        Some(b']') => title(bytes),
        Some(0x20..=0x2F) => ends_at(within(1, 0x20..=0x2F), 0x30..=0x7E),
        _ => None,
    };
    length.unwrap_or(1)
}

/// A title or a link ends on its line, with a bell or with `ESC \`.
fn title(bytes: &[u8]) -> Option<usize> {
    let end = 2 + memchr3(BEL, ESC, b'\n', &bytes[2..])?;
    match bytes[end..] {
        [BEL, ..] => Some(end + 1),
        [ESC, b'\\', ..] => Some(end + 2),
        _ => None,
    }
}
