//! Normalises text so that equal content compares equal, even with line numbers, terminal colours, or `é` as two characters.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memchr3};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::windows_paths;

/// Maximum bytes of a text that are read: half from its beginning, half from its end.
pub const MAX_BYTES: usize = 100_000;

const ESC: u8 = 0x1B;
const BEL: u8 = 0x07;

/// Returns the beginning of a text, the number of line breaks left out, and the end. A text of up to [`MAX_BYTES`] is all beginning.
pub fn head_and_tail(text: &str) -> (&str, usize, &str) {
    if text.len() <= MAX_BYTES {
        return (text, 0, "");
    }
    let (head, tail) = (text.floor_char_boundary(MAX_BYTES / 2), text.ceil_char_boundary(text.len() - MAX_BYTES / 2));
    (&text[..head], memchr_iter(b'\n', &text.as_bytes()[head..tail]).count(), &text[tail..])
}

/// Removes escape sequences, writes `/` in the paths of Windows, and composes characters (NFC).
pub fn normalize(text: &str) -> Cow<'_, str> {
    let plain = strip_escapes(text);
    let plain = windows_paths::with_slashes(&plain).map_or(plain, Cow::Owned);
    if plain.is_ascii() || is_nfc_quick(plain.chars()) == IsNormalized::Yes {
        return plain;
    }
    Cow::Owned(plain.nfc().collect())
}

/// Removes the carriage return at the end of a line, and the line number that a file reader puts before it.
pub fn strip_line_number(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    let Some(number) = line.find(|c: char| c != ' ' && c != '\t') else { return line };
    let rest = line[number..].trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() - number {
        return line;
    }
    rest.strip_prefix(['→', '\t']).unwrap_or(line)
}

/// Removes the sign of a diff from a trimmed line. Lines that name the files of a diff keep theirs.
pub fn strip_diff_sign(line: &str) -> &str {
    if line.starts_with("+++") || line.starts_with("---") {
        return line;
    }
    line.strip_prefix(['+', '-']).map_or(line, str::trim_start)
}

/// Maximum length of a search tool's location, in bytes.
const MAX_LOCATION_BYTES: usize = 300;

/// Removes the location that a search tool puts before a line: `src/pool.rs:12:`, `src/pool.rs-12-`, `12:`, `12-`.
pub fn strip_search_location(line: &str) -> &str {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len().min(MAX_LOCATION_BYTES) && !bytes[at].is_ascii_whitespace() {
        if at == 0 || matches!(bytes[at - 1], b':' | b'-') {
            let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let sign = bytes.get(at + digits);
            if digits > 0 && matches!(sign, Some(b':' | b'-')) && (at == 0 || sign == bytes.get(at - 1)) {
                return line[at + digits + 1..].trim_start();
            }
        }
        at += 1;
    }
    line
}

/// Removes the escape sequences of a terminal: colours, cursor moves, titles, links.
fn strip_escapes(text: &str) -> Cow<'_, str> {
    let Some(mut escape) = memchr(ESC, text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        plain.push_str(&rest[..escape]);
        rest = &rest[escape..];
        rest = &rest[escape_len(rest.as_bytes())..];
        let Some(next) = memchr(ESC, rest.as_bytes()) else { break };
        escape = next;
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Returns the length of the escape sequence at the start. If the sequence is invalid, that is 1, the escape character alone, so
/// that an unfinished sequence cannot hide text.
fn escape_len(bytes: &[u8]) -> usize {
    let within = |from: usize, of: std::ops::RangeInclusive<u8>| {
        bytes[from..].iter().position(|byte| !of.contains(byte)).map_or(bytes.len(), |length| from + length)
    };
    let ends_at = |at: usize, of: std::ops::RangeInclusive<u8>| bytes.get(at).filter(|byte| of.contains(byte)).map(|_| at + 1);
    let length = match bytes.get(1) {
        Some(b'[') => ends_at(within(within(2, 0x30..=0x3F), 0x20..=0x2F), 0x40..=0x7E),
        Some(b']') => title_len(bytes),
        Some(0x20..=0x2F) => ends_at(within(1, 0x20..=0x2F), 0x30..=0x7E),
        _ => None,
    };
    length.unwrap_or(1)
}

/// Returns the length of a title or link sequence. It must end on the same line, with a bell or with `ESC \`.
fn title_len(bytes: &[u8]) -> Option<usize> {
    let end = 2 + memchr3(BEL, ESC, b'\n', &bytes[2..])?;
    match bytes[end..] {
        [BEL, ..] => Some(end + 1),
        [ESC, b'\\', ..] => Some(end + 2),
        _ => None,
    }
}
