//! Finds the rules that a user sets, which a compaction must keep verbatim.
//!
//! A rule is a sentence on one line that commands something with one of the words *never*, *must*, *do not*, *don't*, *always*,
//! *only*. List markers are not part of it. Statements (*I don't know*, *it never worked*), questions, code and logs are not
//! rules.

use crate::util::text;

/// Minimum words of a rule.
const MIN_WORDS: usize = 3;
/// Maximum characters of a rule.
const MAX_CHARS: usize = 500;

/// Returns the rules in a user's text, trimmed and without list markers.
pub fn rules(text: &str) -> impl Iterator<Item = &str> {
    prose_lines(text)
        .filter(|line| !is_code(line))
        .flat_map(sentences)
        .map(|part| strip_markers(part.trim()))
        .filter(|part| is_rule(part))
}

/// Whether a text that a harness injected is the rules file of a project: `CLAUDE.md`, `AGENTS.md`, `GEMINI.md` or `.cursorrules`
/// with the announcement that harnesses put before it.
pub fn is_rules_file(text: &str) -> bool {
    let is_announcement = |line: &str| {
        let line = line.trim();
        let names_file = RULES_FILES.iter().any(|file| line.contains(file));
        line.starts_with("<user_instructions>") || names_file && ANNOUNCEMENTS.iter().any(|begin| line.starts_with(begin))
    };
    text.lines().any(is_announcement)
}

const RULES_FILES: [&str; 6] = ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".cursor/rules"];
/// Text that harnesses put before the name of such a file.
const ANNOUNCEMENTS: [&str; 4] = ["Contents of ", "# AGENTS.md instructions", "--- Context from: ", "# Context from "];

/// Returns the lines of a text outside code fences.
fn prose_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut fence: Option<&str> = None;
    text.lines().map(strip_markers).filter(move |line| {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => return true,
            _ => {}
        }
        false
    })
}

/// Removes the markers of list items, quotations, headings and tasks from a line: `- `, `* `, `1. `, `> `, `# `, `[ ] `.
fn strip_markers(line: &str) -> &str {
    let mut rest = line.trim();
    loop {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = if number.len() < rest.len() { number.strip_prefix(['.', ')']) } else { None };
        let marks = ["- ", "* ", "+ ", "> ", "# ", "## ", "### ", "\u{2022} ", "\u{2013} ", "[ ] ", "[x] ", "[X] "];
        let marked = marks.iter().find_map(|mark| rest.strip_prefix(mark));
        match marked.or(numbered.filter(|after| after.starts_with(' '))) {
            Some(after) => rest = after.trim_start(),
            None => return rest,
        }
    }
}

/// Whether a line is code, data or a log instead of prose: it has a typical beginning, or no more letters than marks and digits.
fn is_code(line: &str) -> bool {
    const BEGIN: [&str; 14] =
        ["//", "/*", "#include", "#!", "#[", "$ ", "<", "{", "}", "diff --git", "Traceback", "File \"", "at ", "@@ "];
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let others = line.chars().filter(|c| !c.is_alphabetic() && !c.is_whitespace()).count();
    letters <= others || BEGIN.iter().any(|begin| line.starts_with(begin)) || begins_with_time(line)
}

/// Whether a line begins with a date or a time, as logs do: `2026-01-31 …`, `[12:30:01] …`.
fn begins_with_time(line: &str) -> bool {
    let stamp = line.trim_start_matches('[');
    let digits = stamp.bytes().take_while(u8::is_ascii_digit).count();
    matches!((digits, stamp.as_bytes().get(digits..digits + 2)), (2 | 4, Some([b':' | b'-', next])) if next.is_ascii_digit())
}

/// Returns the sentences of a line. A sentence ends with `.`, `;`, `!` or `?` before a space, and includes that mark.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let is_end = |(at, _): &(usize, &str)| rest[at + 1..].starts_with(' ') && !is_abbreviation(&rest[..*at]);
        let end = rest.match_indices(['.', ';', '!', '?']).find(is_end).map_or(rest.len(), |(at, _)| at + 1);
        let (sentence, after) = rest.split_at(end);
        rest = after.trim_start();
        Some(sentence)
    })
}

/// Whether a text ends with an abbreviation, so that the next dot belongs to it: `e.g.`, `i.e.`, `etc.`
fn is_abbreviation(before: &str) -> bool {
    ["e.g", "i.e", "etc", "vs", "cf"].iter().any(|short| {
        let start = before.len().wrapping_sub(short.len());
        let apart = |start: usize| !before[..start].ends_with(char::is_alphanumeric);
        before.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(short)) && apart(start)
    })
}

fn is_rule(sentence: &str) -> bool {
    let words = sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
    !sentence.ends_with('?')
        && words.take(MIN_WORDS).count() == MIN_WORDS
        && text::head(sentence, MAX_CHARS).len() == sentence.len()
        && is_command(&split_words(sentence))
}

/// A word in lower case, with a plain apostrophe.
struct Word {
    text: String,
    /// Whether it is the first word of its clause.
    first: bool,
}

/// Returns the words of a sentence. Words joined by marks (`only-once.rs`, `must_use`) are one word, which makes no rule.
fn split_words(sentence: &str) -> Vec<Word> {
    let joins = |c: char| c.is_alphanumeric() || "'\u{2019}\u{2bc}_-/.`=".contains(c);
    let mut words = Vec::new();
    let mut rest = sentence;
    let mut first = true;
    while let Some(start) = rest.find(joins) {
        first |= rest[..start].contains([',', ':', ';', '(', '\u{2014}', '\u{2013}', '"', '*']);
        let from = &rest[start..];
        // Text in backticks is a name or code.
        let code = from.strip_prefix('`').and_then(|code| code.find('`')).map(|end| end + 2);
        let end = code.unwrap_or_else(|| from.find(|c| !joins(c)).unwrap_or(from.len()));
        let word = from[..end].trim_matches(['.', '\'', '\u{2019}', '-']);
        rest = &from[end..];
        // A dash between spaces begins a clause.
        if word.is_empty() {
            first = true;
        } else {
            words.push(Word {
                text: word.to_lowercase().replace(['\u{2019}', '\u{2bc}'], "'"),
                first: std::mem::take(&mut first),
            });
        }
    }
    words
}

/// Before *never* and *always*, these words make a statement, not a rule.
const BEFORE_STATEMENT: &[&str] = &[
    "i", "i've", "it", "he", "she", "they", "we've", "has", "have", "had", "was", "were", "is", "are", "been", "almost",
    "nearly", "as",
];
/// Before *only*, these words make a statement, not a rule.
const BEFORE_QUANTITY: &[&str] = &[
    "the", "my", "your", "his", "her", "its", "our", "their", "an", "not", "if", "i", "it", "is", "was", "were", "are", "it's",
    "that's", "i'm", "have", "has", "that", "with", "might", "maybe",
];
/// After these words, *don't* is a command even inside a clause.
const CONNECTIVES: &[&str] = &["and", "but", "or", "so", "then", "please", "otherwise", "instead"];
/// Adverbs to skip between *don't* and the word before it that decides whether it is a command.
const ADVERBS: &[&str] = &["just", "really", "also", "still", "again", "simply"];
/// After *we don't*, these verbs describe a state, not a convention.
const STATE_VERBS: &[&str] =
    &["have", "need", "know", "remember", "think", "see", "believe", "care", "get", "yet", "seem", "recall", "mind"];

/// Whether one of the words commands something in this sentence. *I don't know*, *the only one*, *it never worked* and *there must
/// be a way* are statements.
fn is_command(words: &[Word]) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| &*word.text);
    let before = |at: usize| if words[at].first { "" } else { at.checked_sub(1).map_or("", word) };
    let mut ensures = false;
    (0..words.len()).any(|at| {
        ensures |= matches!(word(at), "sure" | "ensure");
        match word(at) {
            "never" if word(at + 1) == "mind" => false,
            "never" | "always" => !BEFORE_STATEMENT.contains(&before(at)),
            "only" => !BEFORE_QUANTITY.contains(&before(at)) && !word(at + 1).ends_with("ed"),
            "must" => !["there", "i"].contains(&before(at)),
            "don't" | "dont" => is_prohibition(words, at, word(at + 1), ensures),
            "do" if word(at + 1) == "not" => is_prohibition(words, at, word(at + 2), ensures),
            _ => false,
        }
    })
}

/// Whether the *don't* at index `at` forbids something. `after` is the word after it; `ensured`: *ensure* or *sure* precedes it.
fn is_prohibition(words: &[Word], mut at: usize, after: &str, ensured: bool) -> bool {
    if matches!(after, "worry" | "mind") {
        return false;
    }
    while !words[at].first {
        at -= 1;
        match &*words[at].text {
            adverb if ADVERBS.contains(&adverb) => {}
            "i" => return matches!(after, "want" | "like"),
            "we" => return !STATE_VERBS.contains(&after),
            "you" => return ensured,
            other => return CONNECTIVES.contains(&other),
        }
    }
    true
}

#[cfg(test)]
mod tests;
