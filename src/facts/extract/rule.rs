//! The rules a person sets: what a compaction must not lose, word for word.
//!
//! A rule is a sentence of one line with one of the words *never*, *must*, *do not*, *don't*, *always*, *only*, without the
//! mark of a list item, that commands something: who tells (*I don't know*, *it never worked*) sets no rule. Code, logs and
//! questions are none.

use crate::util::text;

/// The shortest rule has so many words, the longest so many characters.
const LEAST_WORDS: usize = 3;
const MOST_CHARS: usize = 500;

/// The rules in a text a person wrote: its sentences that say never, must, must not, do not, don't, always, only; trimmed,
/// without list markers.
pub fn rules(text: &str) -> impl Iterator<Item = &str> {
    prose(text)
        .filter(|line| !is_code(line))
        .flat_map(sentences)
        .map(|part| without_marker(part.trim()))
        .filter(|part| is_rule(part))
}

/// Whether a text that a harness put into the conversation holds the rules of a project: its `CLAUDE.md`, `AGENTS.md`,
/// `GEMINI.md` or `.cursorrules`, announced as harnesses do it.
pub fn is_rules_file(text: &str) -> bool {
    let announces = |line: &str| {
        let line = line.trim();
        let names_it = RULES_FILES.iter().any(|file| line.contains(file));
        line.starts_with("<user_instructions>") || names_it && ANNOUNCED.iter().any(|begin| line.starts_with(begin))
    };
    text.lines().any(announces)
}

const RULES_FILES: [&str; 6] = ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".cursor/rules"];
/// What stands before the name of such a file.
const ANNOUNCED: [&str; 4] = ["Contents of ", "# AGENTS.md instructions", "--- Context from: ", "# Context from "];

/// The lines of a text outside fences of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fence: Option<&str> = None;
    text.lines().map(without_marker).filter(move |line| {
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

/// A line without what makes it a list item, a quotation or a task: `- `, `* `, `1. `, `> `, `[ ] `.
fn without_marker(line: &str) -> &str {
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

/// Whether a line is code, data or a log, not prose: by what it begins with, or with as many marks and digits as letters.
fn is_code(line: &str) -> bool {
    const BEGIN: [&str; 14] =
        ["//", "/*", "#include", "#!", "#[", "$ ", "<", "{", "}", "diff --git", "Traceback", "File \"", "at ", "@@ "];
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let others = line.chars().filter(|c| !c.is_alphabetic() && !c.is_whitespace()).count();
    letters <= others || BEGIN.iter().any(|begin| line.starts_with(begin)) || begins_with_time(line)
}

/// Logs begin with a date or a time: `2026-01-31 …`, `[12:30:01] …`.
fn begins_with_time(line: &str) -> bool {
    let stamp = line.trim_start_matches('[');
    let digits = stamp.bytes().take_while(u8::is_ascii_digit).count();
    matches!((digits, stamp.as_bytes().get(digits..digits + 2)), (2 | 4, Some([b':' | b'-', next])) if next.is_ascii_digit())
}

/// The sentences of a line, each with its end mark: `.`, `;`, `!` or `?` before a space ends one.
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

/// Whether a dot here belongs to what is before it: `e.g.`, `i.e.`, `etc.`
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
        && words.take(LEAST_WORDS).count() == LEAST_WORDS
        && text::head(sentence, MOST_CHARS).len() == sentence.len()
        && commands(&words_of(sentence))
}

/// A word in lower case, with a plain apostrophe.
struct Word {
    text: String,
    /// Nothing stands before it in its clause.
    first: bool,
}

/// The words of a sentence. Those joined by marks (`only-once.rs`, `must_use`) are one word, and none that makes a rule.
fn words_of(sentence: &str) -> Vec<Word> {
    let joins = |c: char| c.is_alphanumeric() || "'\u{2019}\u{2bc}_-/.`=".contains(c);
    let mut words = Vec::new();
    let mut rest = sentence;
    let mut first = true;
    while let Some(start) = rest.find(joins) {
        first |= rest[..start].contains([',', ':', ';', '(', '\u{2014}', '\u{2013}', '"', '*']);
        let from = &rest[start..];
        // What stands in backticks is a name or code.
        let code = from.strip_prefix('`').and_then(|code| code.find('`')).map(|end| end + 2);
        let end = code.unwrap_or_else(|| from.find(|c| !joins(c)).unwrap_or(from.len()));
        let word = from[..end].trim_matches(['.', '\'', '\u{2019}', '-']);
        rest = &from[end..];
        // A dash between blanks begins a clause.
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

/// Before *never* and *always*: somebody tells what happened or happens.
const TELLING: &[&str] = &[
    "i", "i've", "it", "he", "she", "they", "we've", "has", "have", "had", "was", "were", "is", "are", "been", "almost",
    "nearly", "as",
];
/// Before *only*: it tells how many there are.
const COUNTING: &[&str] = &[
    "the", "my", "your", "his", "her", "its", "our", "their", "an", "not", "if", "i", "it", "is", "was", "were", "are", "it's",
    "that's", "i'm", "have", "has", "that", "with", "might", "maybe",
];
/// Before *don't* as a command, where it does not begin the clause.
const JOINING: &[&str] = &["and", "but", "or", "so", "then", "please", "otherwise", "instead"];
/// Between *don't* and the word that tells whether it commands.
const PASSED_OVER: &[&str] = &["just", "really", "also", "still", "again", "simply"];
/// After *we don't*: it tells a state, not what is done here.
const STATES: &[&str] =
    &["have", "need", "know", "remember", "think", "see", "believe", "care", "get", "yet", "seem", "recall", "mind"];

/// Whether a sentence has one of the words where it commands, and does not tell: *I don't know*, *the only one*, *it never
/// worked*, *there must be a way* are no rules.
fn commands(words: &[Word]) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| &*word.text);
    let before = |at: usize| if words[at].first { "" } else { at.checked_sub(1).map_or("", word) };
    let mut ensures = false;
    (0..words.len()).any(|at| {
        ensures |= matches!(word(at), "sure" | "ensure");
        match word(at) {
            "never" if word(at + 1) == "mind" => false,
            "never" | "always" => !TELLING.contains(&before(at)),
            "only" => !COUNTING.contains(&before(at)) && !word(at + 1).ends_with("ed"),
            "must" => !["there", "i"].contains(&before(at)),
            "don't" | "dont" => forbids(words, at, word(at + 1), ensures),
            "do" if word(at + 1) == "not" => forbids(words, at, word(at + 2), ensures),
            _ => false,
        }
    })
}

/// Whether the *don't* here forbids what `after` says.
fn forbids(words: &[Word], mut at: usize, after: &str, ensured: bool) -> bool {
    if matches!(after, "worry" | "mind") {
        return false;
    }
    while !words[at].first {
        at -= 1;
        match &*words[at].text {
            passed if PASSED_OVER.contains(&passed) => {}
            "i" => return matches!(after, "want" | "like"),
            "we" => return !STATES.contains(&after),
            "you" => return ensured,
            other => return JOINING.contains(&other),
        }
    }
    true
}

#[cfg(test)]
mod tests;
