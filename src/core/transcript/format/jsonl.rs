//! Reads JSON Lines as they occur in real files.
//!
//! It handles two objects on one line, the first of which may break off, a last line that is cut off, blocks of NUL bytes, fields with
//! odd values, lone surrogates, a missing final newline, a byte-order mark, blank lines, and lines of 50 MB.

use std::borrow::Cow;

use memchr::{memchr, memmem};
use serde::de::DeserializeOwned;

use super::Note;
use super::odd_field::{self, Mended};

/// Returns the non-blank lines of a file with their numbers, from 1, without a byte-order mark and without carriage returns.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut rest = Some(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes));
    let mut number = 0u32;
    std::iter::from_fn(move || {
        let bytes = rest?;
        number = number.saturating_add(1);
        let (line, after) = match memchr(b'\n', bytes) {
            Some(end) => (&bytes[..end], Some(&bytes[end + 1..])),
            None => (bytes, None),
        };
        rest = after;
        Some((number, line.trim_ascii()))
    })
    .filter(|(_, line)| !line.is_empty())
}

/// Returns the values on one line: usually one, but more if records were written without a line break. What is unreadable becomes a
/// note; the values before it are kept, and so is a record that was appended behind one that breaks off. A field with an odd value is
/// left out with a note, and the rest of its record is kept.
pub fn values<T: DeserializeOwned>(number: u32, line: &[u8], notes: &mut Vec<Note>) -> Vec<T> {
    let line = match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            let at = error.valid_up_to() + 1;
            notes.push(Note::skipped(number, format!("not UTF-8 (byte {at} of the line); the line was skipped")));
            return Vec::new();
        }
    };
    let line = replace_lone_surrogates(line);
    // After a crash, a file can have blocks of NUL bytes where its text was not written any more.
    let mut rest = line.trim_matches('\0');
    if rest.len() < line.len() {
        notes.push(Note::info(number, format!("{} NUL bytes around the record were left out", line.len() - rest.len())));
    }
    let mut values = Vec::new();
    loop {
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<T>();
        let error = loop {
            match stream.next() {
                None => return values,
                Some(Ok(value)) => values.push(value),
                Some(Err(error)) => break error,
            }
        };
        let failed = &rest[stream.byte_offset()..];
        if error.is_data()
            && let Some(Mended { value, odd_fields, end }) = odd_field::mended(failed)
        {
            notes.extend(odd_fields.into_iter().map(|text| Note::skipped(number, text)));
            values.push(value);
            rest = &failed[end..];
            continue;
        }
        let behind = if error.is_data() { Vec::new() } else { behind_torn(failed, error.is_eof()) };
        notes.push(Note::skipped(number, skip_message(&error, values.len(), behind.len())));
        values.extend(behind);
        return values;
    }
}

/// How often the bytes of a torn line may be parsed. A record has fewer levels of objects.
const TIMES_PARSED: usize = 8;

/// Returns the records that were appended behind a record that breaks off, as after a crash: the first that are whole to the end of the
/// line, and before them those behind which another one begins. An object inside the torn record could look like that. So a record
/// must begin with the key with which the torn one begins, if another one or a line that ends too early is behind it. Hostile lines
/// would be parsed again from each of their objects, so the bytes that are parsed are limited.
fn behind_torn<T: DeserializeOwned>(torn: &str, ends_early: bool) -> Vec<T> {
    let torn = torn.trim_start();
    let first_key = |text: &str| text.strip_prefix("{\"").and_then(|rest| rest.split_once('"')).map(|(key, _)| key.to_owned());
    let key_of_torn = first_key(torn);
    let mut budget = torn.len().saturating_mul(TIMES_PARSED);
    let (mut kept, mut next, mut must_be_like) = (Vec::new(), 1, ends_early);
    for (at, _) in torn.match_indices("{\"") {
        let rest = &torn[at..];
        let is_like_torn = first_key(rest) == key_of_torn;
        if at < next || (must_be_like && !is_like_torn) {
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter();
        let mut records: Vec<T> = Vec::new();
        let error = loop {
            match stream.next() {
                None => break None,
                Some(Ok(record)) => records.push(record),
                Some(Err(error)) => break Some(error),
            }
        };
        let end = stream.byte_offset();
        let Some(error) = error else {
            kept.extend(records);
            return kept;
        };
        if is_like_torn && !records.is_empty() && rest[end..].trim_start().starts_with("{\"") {
            kept.extend(records);
            (next, must_be_like) = (at + end + 1, true);
        }
        if error.column() >= budget {
            break;
        }
        budget -= error.column();
    }
    kept
}

/// Returns the text of a note about an unreadable line, of which `read` values were read before it and `behind` after it.
fn skip_message(error: &serde_json::Error, read: usize, behind: usize) -> String {
    let reason = if error.is_eof() {
        "the line ends in the middle of a JSON value (cut off?)".to_owned()
    } else {
        // serde_json sees only this line, so only the column in its message is useful.
        let text = error.to_string();
        let cause = text.split(" at line ").next().unwrap_or(&text);
        match cause.split_once(", expected struct ") {
            Some((found, _)) => format!("not a record of this format: {found}, expected an object"),
            None if error.is_data() => format!("not a record of this format: {cause}"),
            None => format!("not valid JSON at column {}: {cause}", error.column()),
        }
    };
    match (read, behind) {
        (_, 1) => format!("{reason}; the record behind it on the line was kept"),
        (_, 2..) => format!("{reason}; {behind} records behind it on the line were kept"),
        (0, 0) => format!("{reason}; the line was skipped"),
        _ => format!("{reason}; the values before it on the line were kept"),
    }
}

/// Replaces the escape of every lone surrogate (`\ud83d` without its other half) by the escape of its stand-in (see
/// [`crate::text::surrogates`]), because a Rust string cannot contain lone surrogates.
pub fn replace_lone_surrogates(json: Cow<'_, str>) -> Cow<'_, str> {
    let Some(first) = find_lone_surrogate(json.as_bytes(), 0) else { return json };
    let bytes = json.as_bytes();
    let (mut out, mut copied, mut next) = (Vec::with_capacity(bytes.len() + 32), 0, Some(first));
    while let Some((at, unit)) = next {
        out.extend_from_slice(&bytes[copied..at]);
        // Both halves of U+10D800 + offset: the high half takes the offset's upper bits, the low half the rest.
        let offset = unit - 0xD800;
        out.extend_from_slice(format!("\\u{:04x}\\u{:04x}", 0xDBF6 + (offset >> 10), 0xDC00 + (offset & 0x3FF)).as_bytes());
        copied = at + 6;
        next = find_lone_surrogate(bytes, copied);
    }
    out.extend_from_slice(&bytes[copied..]);
    Cow::Owned(String::from_utf8(out).expect("only ASCII escapes were replaced"))
}

/// Finds the next lone surrogate at or after `from`. Returns the position of its backslash, and the surrogate.
fn find_lone_surrogate(bytes: &[u8], from: usize) -> Option<(usize, u16)> {
    let mut at = from;
    loop {
        at += memmem::find(&bytes[at..], b"\\u")?;
        if is_escaped(bytes, from, at) {
            at += 1;
            continue;
        }
        match (escape_at(bytes, at), escape_at(bytes, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(unit @ 0xD800..=0xDFFF), _) => return Some((at, unit)),
            _ => at += 2,
        }
    }
}

/// Returns whether the backslash at `at` is itself escaped: an odd number of backslashes is before it.
fn is_escaped(bytes: &[u8], from: usize, at: usize) -> bool {
    bytes[from..at].iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
}

/// Returns the UTF-16 unit of an escape `\uXXXX` at this position.
fn escape_at(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::surrogates::stand_in;
    use serde_json::{Value, json};

    fn read(line: &str) -> (Vec<Value>, Vec<String>) {
        let mut notes = Vec::new();
        let values = values(7, line.as_bytes(), &mut notes);
        (values, notes.into_iter().map(|n| n.what).collect())
    }

    #[test]
    fn jsonl_line_numbers_equal_an_editors() {
        let found: Vec<_> = lines(b"\xEF\xBB\xBF{}\r\n\n  \n[]").collect();
        assert_eq!(found, [(1, &b"{}"[..]), (4, &b"[]"[..])]);
    }

    #[test]
    fn glued_objects_are_read_as_two() {
        assert_eq!(read(r#"{"a":1}{"b":2}"#), (vec![json!({"a":1}), json!({"b":2})], vec![]));
    }

    #[test]
    fn truncated_line_is_noted_and_keeps_earlier_values() {
        let (values, notes) = read(r#"{"a":1}{"b":"#);
        assert_eq!(values, [json!({"a":1})]);
        assert_eq!(notes, ["the line ends in the middle of a JSON value (cut off?); the values before it on the line were kept"]);
    }

    #[test]
    fn a_record_behind_a_torn_one_is_kept() {
        let kept = "behind it on the line";
        for torn in [r#"{"a":"x{"b":2}"#, r#"{"a":[1,{"c":3},{"b{"a":1}{"b":2}"#, r#"{"b":{"b":2}"#] {
            let (values, notes) = read(torn);
            assert_eq!(values.last(), Some(&json!({"b":2})), "{torn}");
            assert!(notes.len() == 1 && notes[0].contains(kept), "{notes:?}");
        }
        for (torn, more) in [(r#"{"a":"x{"a":2}{"a":[5,{"c":3}"#, 1), (r#"{"a":"x{"a":2} {"a":"y{"a":3}{"a":4}"#, 3)] {
            let (values, notes) = read(torn);
            assert_eq!((values.first(), values.len()), (Some(&json!({"a":2})), more), "{torn}");
            assert_eq!(notes.len(), 1, "{notes:?}");
        }
        let hostile = format!("[{}{{", r#"{"a":1} "#.repeat(10_000));
        assert_eq!(read(&hostile).0, Vec::<Value>::new(), "in linear time");
        for cut in [r#"{"a":{"b":2}"#, r#"{"a":"x","b":{"c":1}} {"d":"{"#, r#"{"a":x,"b":{"c":1}}"#] {
            assert!(!read(cut).1[0].contains(kept), "{cut}");
        }
    }

    #[test]
    fn lone_surrogates_become_stand_ins_and_pairs_stay() {
        let (values, notes) = read(r#"["\ud83d", "\ud83d\ude00", "\\ud83d", "\\\ude00\ud800"]"#);
        let lone = |unit| stand_in(unit).expect("a surrogate");
        let expected = json!([lone(0xD83D).to_string(), "😀", "\\ud83d", format!("\\{}{}", lone(0xDE00), lone(0xD800)),]);
        assert_eq!((values, notes), (vec![expected], vec![]));
    }
}
