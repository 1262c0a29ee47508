//! The words of instructions in several languages: a table, and its search in a sentence.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use rustc_hash::{FxHashMap, FxHashSet};

const TABLE: &str = include_str!("words.txt");

/// What a phrase makes of a sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Rule,
    Begins,
    Tells,
}

struct Phrase {
    sort: Sort,
    language: usize,
    /// Number of parts, with gaps between them.
    parts: usize,
}

/// The words that decide how the phrases of a language are read.
#[derive(Default)]
struct Language {
    joins: FxHashSet<&'static str>,
    reports: FxHashSet<&'static str>,
}

struct Words {
    phrases: Vec<Phrase>,
    languages: Vec<Language>,
    /// Finds the parts of phrases; and for each different part, the phrases that have it and its place in them.
    parts: AhoCorasick,
    uses: Vec<Vec<(usize, usize)>>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let (mut phrases, mut languages) = (Vec::new(), Vec::<Language>::new());
    let mut places = FxHashMap::<&str, usize>::default();
    let (mut parts, mut uses) = (Vec::new(), Vec::<Vec<(usize, usize)>>::new());
    for line in TABLE.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some((key, values)) = line.split_once(": ") else {
            languages.push(Language::default());
            continue;
        };
        let language = languages.len() - 1;
        let values = values.split(", ").map(|value| value.trim_end_matches(','));
        let sort = match key {
            "joins" => {
                languages[language].joins.extend(values);
                continue;
            }
            "reports" => {
                languages[language].reports.extend(values);
                continue;
            }
            "begins" => Sort::Begins,
            "tells" => Sort::Tells,
            _ => Sort::Rule,
        };
        for value in values {
            for (place, part) in value.split(" … ").enumerate() {
                let at = *places.entry(part).or_insert_with(|| {
                    parts.push(part);
                    uses.push(Vec::new());
                    parts.len() - 1
                });
                uses[at].push((phrases.len(), place));
            }
            phrases.push(Phrase { sort, language, parts: value.split(" … ").count() });
        }
    }
    let parts = AhoCorasick::new(parts).expect("a table of a few thousand words");
    Words { phrases, languages, parts, uses }
});

/// Whether a phrase of the table makes this sentence a rule.
pub fn make_a_rule(sentence: &str) -> bool {
    WORDS.find(&plain(sentence), &[Sort::Rule, Sort::Begins])
}

/// Whether a sentence begins as a report or a question does, whatever mark ends it.
pub fn tell(sentence: &str) -> bool {
    WORDS.find(&plain(sentence), &[Sort::Tells])
}

/// Whether a character is of a script that joins words: Chinese, Japanese, Korean.
pub fn is_joined(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// Returns a sentence in lower case, with plain apostrophes and hyphens, and without what backticks contain.
fn plain(sentence: &str) -> String {
    let mut is_code = false;
    let outside = |c: &char| {
        is_code ^= *c == '`';
        !is_code
    };
    let apart = |c: char| match c {
        '\u{2019}' | '\u{2bc}' => '\'',
        '\u{2010}' | '\u{2011}' => '-',
        c if c.is_whitespace() => ' ',
        c => c,
    };
    let closed = sentence.matches('`').count().is_multiple_of(2);
    match closed {
        true => sentence.chars().filter(outside).map(apart).flat_map(char::to_lowercase).collect(),
        false => sentence.chars().map(apart).flat_map(char::to_lowercase).collect(),
    }
}

impl Words {
    fn find(&self, text: &str, sorts: &[Sort]) -> bool {
        // The number of parts found of phrases with gaps, and where the last one ends.
        let mut begun = FxHashMap::<usize, (usize, usize)>::default();
        for found in self.parts.find_overlapping_iter(text) {
            let (start, end) = (found.start(), found.end());
            if !is_whole(text, start, end) {
                continue;
            }
            for (phrase, place) in &self.uses[found.pattern().as_usize()] {
                let Phrase { sort, language, parts } = &self.phrases[*phrase];
                if !sorts.contains(sort) {
                    continue;
                }
                let fits = match place {
                    0 => self.languages[*language].allows(*sort, &text[..start]),
                    _ => begun.get(phrase).is_some_and(|(places, ends)| places == place && *ends < start),
                };
                if fits && place + 1 == *parts {
                    return true;
                }
                if fits {
                    begun.entry(*phrase).or_insert((place + 1, end)).0 = place + 1;
                }
            }
        }
        false
    }
}

impl Language {
    /// Whether a phrase may follow this text in a sentence.
    fn allows(&self, sort: Sort, before: &str) -> bool {
        let before = before.trim_end_matches([' ', '"', '*', '\'']);
        let word = || before.rsplit(|c: char| c.is_whitespace() || ",:;(".contains(c)).next().unwrap_or_default();
        match sort {
            Sort::Rule => !self.reports.contains(word()),
            Sort::Tells => before.is_empty(),
            Sort::Begins => {
                before.is_empty()
                    || before.ends_with([',', ':', ';', '(', '\u{2014}', '\u{2013}', '-', '、', '，', '：', '.'])
                    || self.joins.contains(word())
            }
        }
    }
}

/// Whether a part of a text is whole words, and no piece of a name: `only` is none in `only-once.rs`.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    const JOINS: &str = "_-/=@\\.'";
    let part = &text[start..end];
    let (before, after) = (text[..start].chars().next_back(), &text[end..]);
    let is_name = |c: char| c.is_alphanumeric() || JOINS.contains(c);
    let begins = part.starts_with(is_joined) || !before.is_some_and(is_name);
    let mut next = after.chars();
    let ends = part.ends_with(|c: char| is_joined(c) || !c.is_alphanumeric())
        || match next.next() {
            Some(mark) if JOINS.contains(mark) => !next.next().is_some_and(char::is_alphanumeric),
            Some(c) => !c.is_alphanumeric(),
            None => true,
        };
    begins && ends
}
