//! What is said of a file that no format knows.

use super::Unread;
use crate::transcript::format::{self, FORMATS};

/// Why a file is not read that no format knows. One that the user named must be a transcript.
pub(super) fn why(bytes: &[u8], is_explicit: bool) -> Unread {
    match is_explicit {
        true => Unread::Failed(unknown_format(bytes)),
        false if is_utf_16(bytes) => Unread::Skipped(UTF_16.to_owned()),
        false if begins_with_json(bytes) => Unread::Foreign(UNKNOWN_FORMAT.to_owned()),
        false => Unread::Skipped(UNKNOWN_FORMAT.to_owned()),
    }
}

/// Largest file that is read in every format to find one that reads it.
const TRIED: usize = 50 << 20;

/// What is said of a file in a folder that no format knows.
const UNKNOWN_FORMAT: &str = "skipped, not a transcript in a known format";

/// What is said of a file in UTF-16, which editors on Windows write.
const UTF_16: &str = "text in UTF-16; save it as UTF-8";

/// Whether a file begins with the mark of UTF-16, in either order of bytes.
fn is_utf_16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// How many first bytes show whether a file is JSON.
const BEGINNING: usize = 64 << 10;

/// Whether the beginning is JSON that says something: then the file is no damaged transcript, but something else. The first value of a short
/// file must be whole.
fn begins_with_json(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii_start();
    let says_something = match bytes {
        [b'{' | b'[', rest @ ..] => !matches!(rest.trim_ascii_start(), [] | [b'}' | b']', ..]),
        _ => false,
    };
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    let is_json = || match serde_json::Deserializer::from_slice(beginning).into_iter::<serde::de::IgnoredAny>().next() {
        Some(Ok(_)) => true,
        Some(Err(error)) => error.is_eof() && beginning.len() < bytes.len(),
        None => false,
    };
    says_something && is_json()
}

/// What is said of a named file that no format knows.
fn unknown_format(bytes: &[u8]) -> String {
    if is_utf_16(bytes) {
        return UTF_16.to_owned();
    }
    let known = FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let binary = if bytes[..bytes.len().min(8_000)].contains(&0) { "a binary file, " } else { "" };
    let reads = if bytes.len() > TRIED { None } else { format::readable_as(bytes).next() };
    let offer = reads.map(|format| format!("; --format {} reads it anyway", format.name)).unwrap_or_default();
    format!("{binary}not a transcript in a known format ({known}){offer}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_known_by_its_beginning() {
        let list = |length: usize, end: &str| format!("[{}{end}", "1,".repeat(length));
        let long = list(BEGINNING, "x");
        let cases =
            [("{\"a\": 1}\n{", true), ("{}", false), ("[1, 2", false), (&long, true), (&list(9, "x"), false), ("\"a\"", false)];
        for (text, expected) in cases {
            assert_eq!(begins_with_json(text.as_bytes()), expected, "{}", &text[..text.len().min(20)]);
        }
    }
}
