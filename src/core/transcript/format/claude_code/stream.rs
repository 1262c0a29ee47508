//! Records on lines, as in sessions and in the output of `claude -p --output-format stream-json`, or as the elements of JSON arrays, as
//! `--output-format json --verbose` prints one for each run.

use std::iter;

use memchr::memchr_iter;
use serde_json::value::RawValue;

use crate::transcript::format::jsonl;

/// Returns the records of a file with their lines, from 1.
pub fn records(bytes: &[u8]) -> Box<dyn Iterator<Item = (u32, &[u8])> + '_> {
    match std::str::from_utf8(without_mark(bytes)) {
        Ok(text) if is_array(bytes) => Box::new(elements(text)),
        _ => Box::new(jsonl::lines(bytes)),
    }
}

/// Whether the file begins with a JSON array.
pub fn is_array(bytes: &[u8]) -> bool {
    without_mark(bytes).trim_ascii_start().starts_with(b"[")
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Returns the elements of one array or several, each with the line on which it begins. One that breaks off is the last.
fn elements(text: &str) -> impl Iterator<Item = (u32, &[u8])> {
    let lines = |text: &str| memchr_iter(b'\n', text.as_bytes()).count() as u32;
    let (mut rest, mut line) = (text, 1);
    iter::from_fn(move || {
        let from = rest.trim_start_matches(|sign: char| sign.is_ascii_whitespace() || "[,]".contains(sign));
        let begin = line + lines(&rest[..rest.len() - from.len()]);
        let whole = serde_json::Deserializer::from_str(from).into_iter::<&RawValue>().next()?;
        let element = whole.map_or(from, RawValue::get);
        (rest, line) = (&from[element.len()..], begin + lines(element));
        Some((begin, element.as_bytes()))
    })
}
