//! Writes `/` for `\` in the paths of Windows: harnesses, Git and shells write one file both ways.
//!
//! `D:\work\src\pool.rs` is a path, and so is `src\net\pool.rs` by its extension. A backslash also begins an escape, as in
//! `"one\npool.rs"`: so a path without a drive needs a backslash that cannot be an escaped line break or tab.

use memchr::memchr_iter;

use super::bytes::{DIGIT, DOT, HIGH, JOINT, LETTER, UNDERSCORE, has_class};
use super::token;

/// The classes of the bytes of a component.
const COMPONENT: u8 = LETTER | DIGIT | UNDERSCORE | DOT | JOINT | HIGH;

/// Returns the text with its paths rewritten; `None` if it has none.
pub fn with_slashes(text: &str) -> Option<String> {
    let mut unified = String::new();
    let (mut copied, mut read) = (0, 0);
    for backslash in memchr_iter(b'\\', text.as_bytes()) {
        if backslash < read {
            continue;
        }
        let Candidate { separator, end, is_path } = Candidate::at(text, read, backslash);
        read = end;
        if is_path {
            unified.push_str(&text[copied..backslash]);
            unified.push_str(&text[backslash..end].replace(separator, "/"));
            copied = end;
        }
    }
    (copied > 0).then(|| unified + &text[copied..])
}

/// Components with backslashes between them.
struct Candidate {
    /// One backslash, or two in a quoted program.
    separator: &'static str,
    end: usize,
    is_path: bool,
}

impl Candidate {
    /// Reads the candidate whose first separator is at `backslash`. Its first component begins at `from` or later.
    fn at(text: &str, from: usize, backslash: usize) -> Self {
        let bytes = text.as_bytes();
        let is_part = |byte: &&u8| has_class(**byte, COMPONENT);
        let before = &bytes[from..backslash];
        let has_name = before.last().is_some_and(|byte| is_part(&byte));
        let has_drive = match before {
            [.., other, drive, b':'] => drive.is_ascii_alphabetic() && !(other.is_ascii() && is_part(&other)),
            [drive, b':'] => drive.is_ascii_alphabetic(),
            _ => false,
        };
        let separator = if bytes.get(backslash + 1) == Some(&b'\\') { "\\\\" } else { "\\" };
        let (mut end, mut is_clear, mut name) = (backslash, has_drive, backslash);
        while text[end..].starts_with(separator) {
            let length = bytes[end + separator.len()..].iter().take_while(is_part).count();
            if length == 0 {
                break;
            }
            name = end + separator.len();
            is_clear |= !matches!(bytes[name], b'n' | b'r' | b't');
            end = name + length;
        }
        let ends = !matches!(bytes.get(end), Some(b'\\' | b'/'));
        let is_file = has_name && is_clear && ends && token::parse_file_name(&text[name..end]).is_some();
        Self { separator, is_path: end > backslash && (has_drive || is_file), end: end.max(backslash + separator.len()) }
    }
}
