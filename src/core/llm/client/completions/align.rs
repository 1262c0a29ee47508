//! Finds the tokens of a part of a text, from the end of the text backwards.
//!
//! Servers show tokens in several ways: `�` for bytes that are no whole character, an empty text for all but the last token of a
//! character, `bytes:\xe2\x80`, `▁` for a space, or without their first space. So a token may fit in several places, and all of
//! them are followed.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

/// What a token may be: texts with their log-probabilities, the likeliest reading first.
pub type Token<'a> = Vec<(&'a str, &'a Value)>;

/// More places of one token are given up.
const MAX_PLACES: usize = 256;

/// Returns the log-probabilities of the tokens that overlap `part` of `text`; `None` if the tokens do not make up the text from
/// its end to the beginning of the part.
pub fn logprobs_of<'a>(tokens: &[Token<'a>], text: &str, part: Range<usize>) -> Option<Vec<&'a Value>> {
    let bytes = text.as_bytes();
    let mut ends = vec![text.len()];
    let mut found = Vec::new();
    for token in tokens.iter().rev() {
        if ends.iter().all(|end| *end <= part.start) {
            // The first bytes of the character with which the part begins.
            let begins_character = |(text, value): &&(&str, &Value)| text.is_empty() && !value.is_null();
            match token.first().filter(begins_character).filter(|_| bytes.get(part.start).is_some_and(|byte| !byte.is_ascii())) {
                Some((_, value)) => found.push(*value),
                None => break,
            }
            continue;
        }
        let (value, places) = token.iter().find_map(|(text, value)| {
            let is_inside_or_outside = |place: &Range<usize>| place.end <= part.end || place.start >= part.end;
            let places: Vec<_> = ends.iter().flat_map(|end| places(bytes, *end, text)).filter(is_inside_or_outside).collect();
            (!places.is_empty()).then_some((*value, places))
        })?;
        if places.iter().any(|place| place.start < part.end && place.end > part.start) {
            found.push(value);
        }
        ends = places.into_iter().map(|place| place.start).collect();
        ends.sort_unstable();
        ends.dedup();
        if ends.len() > MAX_PLACES {
            return None;
        }
    }
    found.reverse();
    ends.iter().all(|end| *end <= part.start).then_some(found)
}

/// Returns where a token may be that ends at `end`.
fn places(text: &[u8], end: usize, token: &str) -> Vec<Range<usize>> {
    let mut starts = starts(text, end, token);
    if starts.is_empty() && token.contains('▁') {
        starts = self::starts(text, end, &token.replace('▁', " "));
    }
    if let Some(bytes) = token.strip_prefix("bytes:").and_then(unescaped)
        && starts.is_empty()
    {
        starts.extend(text[..end].strip_suffix(&bytes[..]).map(<[u8]>::len));
    }
    if !token.is_empty() && !token.starts_with(' ') {
        let before_space = starts.iter().filter(|start| text[..**start].ends_with(b" ")).map(|start| start - 1);
        starts = before_space.clone().chain(starts.iter().copied()).collect();
    }
    starts.into_iter().map(|start| start..end).collect()
}

/// Returns where a token may begin that ends at `end`. A `�` is one to three bytes of a character.
fn starts(text: &[u8], end: usize, token: &str) -> Vec<usize> {
    let mut starts = vec![end];
    for (at, literal) in token.split('\u{fffd}').rev().enumerate() {
        if at > 0 {
            let lengths = |end: usize| (1..=3).take_while(move |length| end >= *length && !text[end - length].is_ascii());
            starts = starts.into_iter().flat_map(|end| lengths(end).map(move |length| end - length)).collect();
            starts.sort_unstable();
            starts.dedup();
        }
        starts.retain_mut(|start| match text[..*start].strip_suffix(literal.as_bytes()) {
            Some(before) => {
                *start = before.len();
                true
            }
            None => false,
        });
    }
    starts
}

/// Returns the bytes of a token that is written with escapes such as `\xe2\x80`; characters without one are unchanged.
fn unescaped(written: &str) -> Option<Cow<'_, [u8]>> {
    let Some((head, rest)) = written.split_once("\\x") else { return Some(Cow::Borrowed(written.as_bytes())) };
    let mut bytes = head.as_bytes().to_vec();
    for part in rest.split("\\x") {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(&part.as_bytes()[2..]);
    }
    Some(Cow::Owned(bytes))
}
