use proptest::prelude::*;

use super::{Matcher, Signs};

/// Tries every byte of a text.
fn slowly(matcher: &Matcher, text: &str) -> Vec<(usize, usize)> {
    let begins = |start: &usize| {
        let (first, byte) = (matcher.bytes[0].0, text.as_bytes()[*start]);
        byte == first || matcher.signs != Signs::OfQuotations && byte.to_ascii_lowercase() == first
    };
    let starts = (0..text.len()).filter(begins);
    starts.filter_map(|start| Some((start, matcher.end_of(text.as_bytes(), start)?))).collect()
}

fn at_once(matcher: &Matcher, text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    matcher.any_in(text, |here| {
        found.push((here.start, here.end));
        false
    });
    found
}

proptest! {
    #[test]
    fn the_search_for_the_rarest_byte_finds_what_a_look_at_every_byte_finds(
        name in "[aBbq]([aBbq1_.-]{0,6}[aBbq1s])?",
        quoted in "[aB1é][aB1é \"'\\\\\n]{0,6}",
        text in "[aBbq1s_. é\"'\\\\\n-]{0,60}",
        before in "[aq_ \\\\n\"]{0,2}",
    ) {
        for matcher in [Matcher::words(&name), Matcher::signless(&quoted)] {
            // The text has it at least once, with other signs.
            let text = format!("{text}{before}{}{before}{text}", if matcher.signs == Signs::OfQuotations { &quoted } else { &name });
            prop_assert_eq!(at_once(&matcher, &text), slowly(&matcher, &text), "{:?} in {:?}", matcher, text);
        }
    }
}
