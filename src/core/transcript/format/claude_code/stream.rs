//! Records on lines, as in sessions and in the output of `claude -p --output-format stream-json`, or as the elements of one JSON array,
//! as `--output-format json --verbose` prints them.

use memchr::memchr_iter;
use serde_json::value::RawValue;

use crate::transcript::format::jsonl;

/// Returns the records of a file with their lines, from 1.
pub fn records(bytes: &[u8]) -> Box<dyn Iterator<Item = (u32, &[u8])> + '_> {
    match elements(bytes) {
        Some(elements) => Box::new(elements.into_iter()),
        None => Box::new(jsonl::lines(bytes)),
    }
}

/// Whether the file is one JSON array.
pub fn is_array(bytes: &[u8]) -> bool {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start().starts_with(b"[")
}

/// Returns the elements of an array, each with the line on which it begins; `None` if the file is no array.
fn elements(bytes: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    if !is_array(bytes) {
        return None;
    }
    let text = std::str::from_utf8(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)).ok()?;
    let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let (mut line, mut counted) = (1, 0);
    let mut records = Vec::with_capacity(elements.len());
    for json in elements.into_iter().map(|element| element.get().as_bytes()) {
        let begin = json.as_ptr() as usize - text.as_ptr() as usize;
        line += memchr_iter(b'\n', &text.as_bytes()[counted..begin]).count() as u32;
        counted = begin;
        records.push((line, json));
    }
    Some(records)
}
