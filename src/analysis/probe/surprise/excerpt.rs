//! Cuts a text to a number of tokens around a fact, at its beginning or at its end. The same text is always cut in the same place, so a
//! block that a policy left as it was is the same in both requests.

use std::ops::Range;

use crate::tokens::meter::SizeUnit;
use crate::util::text::{clip, clip_tail, head, tail};

/// Marks what was cut off.
const CUT: char = '…';
/// No token of a vocabulary is longer than this number of bytes, except for runs of spaces: more text is not even counted.
const MAX_BYTES_PER_TOKEN: usize = 16;

/// Which part of a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Beginning,
    End,
    /// Around the first place where the text has the fact; its beginning if it has none.
    AroundFact,
}

/// Returns at most `max` tokens (o200k) of a text.
pub(super) fn excerpt(text: &str, part: Part, fact: &str, max: u64) -> String {
    let room = usize::try_from(max).unwrap_or(usize::MAX).saturating_mul(MAX_BYTES_PER_TOKEN);
    let place = find(text, fact).filter(|_| part == Part::AroundFact);
    let (from, kept) = match (part, place) {
        (Part::End, _) => {
            let kept = clip_tail(tail(text, room), max, &tokens);
            (text.len() - kept.len(), kept)
        }
        (_, None) => (0, clip(head(text, room), max, &tokens)),
        (_, Some(place)) => {
            let before = clip_tail(tail(&text[..place.start], room), max.saturating_sub(tokens(fact)) / 2, &tokens);
            let from = place.start - before.len();
            (from, clip(head(&text[from..], room), max, &tokens))
        }
    };
    let mark = |is_cut: bool| if is_cut { CUT.to_string() } else { String::new() };
    format!("{}{kept}{}", mark(from > 0), mark(from + kept.len() < text.len()))
}

/// Returns the tokens of a text by o200k.
pub(super) fn tokens(text: &str) -> u64 {
    SizeUnit::O200k.text(text)
}

/// Returns the first place where a text has the fact as a whole: `pool` is not in `pooling`.
pub(super) fn find(text: &str, fact: &str) -> Option<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let begins_with_word = fact.starts_with(is_word);
    let ends_with_word = fact.ends_with(is_word);
    text.match_indices(fact).map(|(at, _)| at..at + fact.len()).find(|place| {
        let joins_before = begins_with_word && text[..place.start].ends_with(is_word);
        let joins_after = ends_with_word && text[place.end..].starts_with(is_word);
        !fact.is_empty() && !joins_before && !joins_after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_keeps_the_part_that_is_asked_for() {
        let text = "one two three four five six seven eight nine ten";
        let cases = [
            (Part::Beginning, "", 3, "one two three…"),
            (Part::End, "", 2, "… nine ten"),
            (Part::AroundFact, "five", 3, "… five six seven…"),
            (Part::AroundFact, "one", 2, "one two…"),
            (Part::AroundFact, "eleven", 2, "one two…"),
            (Part::Beginning, "", 10, text),
            (Part::End, "", 0, "…"),
        ];
        for (part, fact, max, expected) in cases {
            assert_eq!(excerpt(text, part, fact, max), expected, "{part:?} {fact} {max}");
        }
    }

    #[test]
    fn a_fact_is_found_as_a_whole_only() {
        let cases = [
            ("the pooling pool", "pool", Some(12..16)),
            ("pool_size", "pool", None),
            ("src/pool.rs:3", "src/pool.rs", Some(0..11)),
            ("a src/pool.rsx", "src/pool.rs", None),
            ("x", "", None),
        ];
        for (text, fact, expected) in cases {
            assert_eq!(find(text, fact), expected, "{fact} in {text}");
        }
    }
}
