//! The texts that compactions inserted into a request, and the search for typed texts in them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use super::Survival;
use crate::findings::timeline::ReplayView;
use crate::findings::timeline::visible::VisibleBlocks;
use crate::transcript::conversation::Origin;
use crate::util::search::quick_matcher;
use crate::util::text;

/// A message counts as shortened if the request still has this many characters of its beginning.
const BEGINNING: usize = 60;

/// The texts that compactions inserted into a request, with normalised white space.
pub struct InsertedTexts {
    /// Texts with the origin of a user: Codex keeps the newest typed messages beside its summary.
    typed: Vec<String>,
    written: Vec<String>,
}

impl InsertedTexts {
    pub fn collect(replay: &ReplayView, visible: &VisibleBlocks) -> Self {
        let mut texts = Self { typed: Vec::new(), written: Vec::new() };
        for block in visible.inserted().map(|id| replay.block(id)) {
            let text = block.text();
            let list = if block.origin == Origin::User { &mut texts.typed } else { &mut texts.written };
            list.push(normalise_spaces(&text));
            // A summary may quote a message as JSON.
            if text.contains('\\') {
                list.push(normalise_spaces(&text.replace("\\n", "\n").replace("\\\"", "\"")));
            }
        }
        texts
    }

    /// Searches all these texts for some others, in one pass. White space of the others must be normalised.
    pub fn find<'n>(&self, needles: impl Iterator<Item = &'n str>) -> Found<'n> {
        // Beginnings are searched and the rest is compared, because pasted texts may be very long.
        let mut by_beginning: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for needle in needles {
            by_beginning.entry(text::head(needle, BEGINNING)).or_default().insert(needle);
        }
        let (beginnings, needles): (Vec<&str>, Vec<BTreeSet<&str>>) = by_beginning.into_iter().unzip();
        let mut found = Found::default();
        // Most automata search only one summary. If there are too many texts for one, nothing counts as repeated.
        let Some(matcher) = quick_matcher(&beginnings) else { return found };
        for (text, is_typed) in self.typed.iter().map(|text| (text, true)).chain(self.written.iter().map(|text| (text, false))) {
            for found_at in matcher.find_overlapping_iter(text.as_str()) {
                let beginning = found_at.pattern().as_usize();
                found.beginnings.insert(beginnings[beginning]);
                let rest = &text[found_at.start()..];
                for needle in needles[beginning].iter().filter(|needle| rest.starts_with(**needle)) {
                    if is_separate(text, found_at.start()..found_at.start() + needle.len()) {
                        if is_typed { &mut found.typed } else { &mut found.written }.insert(needle);
                    }
                }
            }
        }
        found
    }
}

/// The texts that were found in inserted texts.
#[derive(Default)]
pub struct Found<'n> {
    /// As whole words in texts with the origin of a user, and in others.
    typed: HashSet<&'n str>,
    written: HashSet<&'n str>,
    /// Beginnings in any of them, also as parts of words.
    beginnings: HashSet<&'n str>,
}

impl Found<'_> {
    /// Returns how much of a text the inserted texts have. It must be one of those that were searched.
    pub fn survival(&self, text: &str) -> Survival {
        let beginning = text::head(text, BEGINNING);
        if self.typed.contains(text) {
            Survival::Verbatim
        } else if self.written.contains(text) {
            Survival::InSummary
        } else if beginning.len() < text.len() && self.beginnings.contains(beginning) {
            Survival::Shortened
        } else {
            Survival::Absent
        }
    }

    pub fn has_words(&self, text: &str) -> bool {
        self.typed.contains(text) || self.written.contains(text)
    }
}

/// Whether a range of a text is whole words: in "yesterday", "yes" is not.
fn is_separate(text: &str, range: Range<usize>) -> bool {
    !text[..range.start].ends_with(char::is_alphanumeric) && !text[range.end..].starts_with(char::is_alphanumeric)
}

pub fn normalise_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
