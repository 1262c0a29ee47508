//! Finds the instructions that a user types, which a compaction must keep verbatim.
//!
//! A *rule* is a sentence on one line that says what must or must not be, in the words of one of the languages of `words.txt`:
//! *never*, *off limits*, *make sure*, *ändere nicht*, *不要*. An *order* is any sentence of a short text that neither asks nor reports,
//! whatever its words. List markers are not part of either. Statements (*I don't know*, *it never worked*), questions, code and logs are
//! neither.

mod english;
mod words;

use crate::util::text;

/// Minimum words of a rule: *Don't push*.
const MIN_WORDS: usize = 2;
/// Minimum words of an order. What is shorter answers the agent: *yes*, *go on*.
const MIN_ORDER_WORDS: usize = 3;
/// Maximum characters of either.
const MAX_CHARS: usize = 500;
/// Maximum characters of a text whose sentences are orders. Longer texts are plans, logs and other texts that users paste.
const MAX_ORDERED_CHARS: usize = 2_000;

/// Returns the rules in a user's text, trimmed and without list markers.
pub fn rules(text: &str) -> impl Iterator<Item = &str> {
    instructions(text).filter(|part| has_words(part, MIN_WORDS) && (english::commands(part) || words::make_a_rule(part)))
}

/// Returns the orders in a user's text, trimmed and without list markers. Rules may be among them.
pub fn orders(text: &str) -> impl Iterator<Item = &str> {
    let short = if text::head(text, MAX_ORDERED_CHARS).len() == text.len() { text } else { "" };
    instructions(short).filter(|part| has_words(part, MIN_ORDER_WORDS) && !words::tell(part))
}

/// Returns the sentences that may be instructions: no code, no log, no question, not too long.
fn instructions(text: &str) -> impl Iterator<Item = &str> {
    prose_lines(text)
        .filter(|line| !is_code(line))
        .flat_map(sentences)
        .map(|part| strip_markers(part.trim()))
        .filter(|part| !part.ends_with(['?', '？', '؟']) && text::head(part, MAX_CHARS).len() == part.len())
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
    const BEGIN: [&str; 15] =
        ["//", "/*", "#include", "#!", "#[", "$ ", "<", "{", "}", "|", "diff --git", "Traceback", "File \"", "at ", "@@ "];
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

/// Returns the sentences of a line. A sentence ends with `.`, `;`, `!` or `?` before a space, or with one of these marks as Chinese
/// and Japanese write them, and includes that mark.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let marks = rest.match_indices(['.', ';', '!', '?', '؟', '।', '。', '；', '！', '？', '．']);
        let is_end = |(at, mark): &(usize, &str)| {
            let after = at + mark.len();
            let is_wide = mark.starts_with(|c| c > '\u{3000}');
            is_wide || rest[after..].starts_with(' ') && !is_abbreviation(&rest[..*at])
        };
        let end = { marks }.find(is_end).map_or(rest.len(), |(at, mark)| at + mark.len());
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

/// Whether a sentence has this many words. Scripts that join words have about two characters a word.
fn has_words(sentence: &str, least: usize) -> bool {
    let words = sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
    let count = |word: &str| (word.chars().filter(|c| words::is_joined(*c)).count() / 2).max(1);
    words.map(count).sum::<usize>() >= least
}

#[cfg(test)]
mod tests;
