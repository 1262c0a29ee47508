//! Questions from lines with a blank: checks that a line can be answered but not guessed, and that an answer is right.

use crate::facts::extract::{self, FactKind, key};
use crate::facts::references::Fact;
use crate::util::text::around;

/// Replaces the fact in the line.
pub const BLANK: &str = "____";
/// Maximum characters of a line that the question shows around the blank.
const SHOWN: usize = 200;
/// Maximum bytes of a fact. A longer one does not fit into a short answer.
const LONGEST: usize = 100;
/// Minimum letters and digits in the rest of the line.
const AROUND: usize = 8;
/// Minimum letters of a word that identifies the line.
const WORD: usize = 4;
/// Minimum characters of a common part between the answer and the rest of the line. Shorter parts do not give the answer away.
const COMMON_PART: usize = 4;
/// Share of the answer from which common parts give it away.
const GIVEN_AWAY: f64 = 0.5;

/// A line with a blank, and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cloze {
    /// The line as the question shows it; `…` marks what was cut off.
    pub line: String,
    /// The fact as the line had it: a path with all of its folders.
    pub answer: String,
}

impl Cloze {
    /// Returns the lines of a text that make good questions about a fact. A number must have the same neighbours as at its first occurrence.
    pub fn candidates<'a>(text: &'a str, fact: &'a Fact) -> impl Iterator<Item = Self> {
        let lines = text.lines().filter(|line| line.contains(&fact.text));
        lines.map(str::trim).filter_map(|line| Self::of_line(line, fact))
    }

    fn of_line(line: &str, fact: &Fact) -> Option<Self> {
        let is_plain = !line.contains(|c: char| c.is_control() && c != '\t') && !line.contains(BLANK);
        if !is_plain || !states_fact(line, fact) {
            return None;
        }
        let (start, end) = fact_range(line, fact)?;
        let answer = &line[start..end];
        let blanked = format!("{}{BLANK}{}", &line[..start], &line[end..]);
        let shown = around(&blanked, start..start + BLANK.len(), SHOWN);
        let rest = shown.replacen(BLANK, " ", 1);
        let is_good = answer.len() <= LONGEST && can_be_found(&rest) && !is_given_away(answer, &rest);
        is_good.then(|| Self { line: shown, answer: answer.to_owned() })
    }

    /// Returns the shown text before the blank and after it.
    fn sides(&self) -> (&str, &str) {
        let (before, after) = self.line.split_once(BLANK).unwrap_or((&self.line, ""));
        (before.trim_start_matches('…'), after.trim_end_matches('…'))
    }

    /// Returns the words that fill the blank in a text that contains the line, in the order of the text.
    pub fn fills<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let (before, after) = self.sides();
        let longer = if before.len() > after.len() { before } else { after };
        let lines = text.lines().filter(move |line| line.contains(longer));
        let fills = lines.flat_map(move |line| {
            let begins: Vec<usize> = match before {
                "" => vec![line.len() - line.trim_start().len()],
                before => line.match_indices(before).map(|(at, _)| at + before.len()).collect(),
            };
            begins.into_iter().filter_map(move |begin| match after {
                "" => Some(line[begin..].trim_end()),
                after => line[begin..].find(after).map(|end| &line[begin..begin + end]),
            })
        });
        fills.filter(|fill| !fill.is_empty() && !fill.contains(char::is_whitespace))
    }

    /// Whether a text contains the line with something else in the blank, so that the question has several answers.
    pub fn is_ambiguous_in(&self, text: &str) -> bool {
        self.fills(text).any(|fill| fill != self.answer)
    }

    /// Whether a text contains the shown part of the line with the fact.
    pub fn is_in(&self, text: &str) -> bool {
        self.fills(text).any(|fill| fill == self.answer)
    }

    /// Whether an answer names the fact. Its first line, without quotation marks and final punctuation, must be the fact as the line had
    /// it, or the fact in its canonical form; for a path, the last two components must be the same.
    pub fn is_answered_by(&self, answer: &str, kind: FactKind, fact: &str) -> bool {
        let given = first_line(answer);
        let is_same_path =
            || matches!((last_two(given), last_two(fact)), (Some(components), Some(expected)) if components == expected);
        given == self.answer || given == fact || (kind == FactKind::Path && is_same_path())
    }
}

/// Whether the probe asks for facts of this kind. Lines and quoted strings are sentences: whether a model repeats them to the letter
/// says more about the model than about the request.
pub fn is_asked_for(kind: FactKind) -> bool {
    match kind {
        FactKind::Path | FactKind::File | FactKind::Identifier | FactKind::Hash | FactKind::Url | FactKind::Number => true,
        FactKind::Line | FactKind::Quoted => false,
    }
}

/// Whether the line by itself states the fact.
fn states_fact(line: &str, fact: &Fact) -> bool {
    let wanted = key(fact.kind, &fact.text);
    let mut states_fact = false;
    extract::in_text(line, &mut |found| {
        states_fact |= found.key == wanted && found.said && fact.counts(&found, false);
    });
    states_fact
}

/// Returns the byte range of the fact in a line that has it once. For a path, the range includes all of its folders.
fn fact_range(line: &str, fact: &Fact) -> Option<(usize, usize)> {
    let mut matches = line.match_indices(&fact.text);
    let (at, _) = matches.next()?;
    if matches.next().is_some() {
        return None;
    }
    let folders = match fact.kind {
        FactKind::Path => line[..at].trim_end_matches(|c: char| c.is_alphanumeric() || "_./~@+-".contains(c)).len(),
        _ => at,
    };
    // The sign of a diff line is not part of the path.
    let sign = line[folders..at].len() - line[folders..at].trim_start_matches(['-', '+']).len();
    Some((folders + sign, at + fact.text.len()))
}

/// Whether the rest of a line has enough words to find the line.
fn can_be_found(rest: &str) -> bool {
    let words = || rest.split(|c: char| !c.is_alphanumeric());
    let is_word = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count() >= WORD;
    words().map(|word| word.chars().count()).sum::<usize>() >= AROUND && words().any(is_word)
}

/// Whether the rest of the line contains much of the answer: parts of the answer, or words that are within the answer.
fn is_given_away(answer: &str, rest: &str) -> bool {
    let (answer_low, rest_low) = (answer.to_lowercase(), rest.to_lowercase());
    let words = rest_low.split(|c: char| !c.is_alphanumeric()).map(str::to_owned);
    let parts = parts(answer).into_iter().filter(|part| rest_low.contains(part));
    let mut given = vec![false; answer_low.len()];
    for part in words.chain(parts).filter(|part| part.chars().count() >= COMMON_PART) {
        for (at, _) in answer_low.match_indices(&part) {
            given[at..at + part.len()].fill(true);
        }
    }
    let of_words = || answer_low.char_indices().filter(|(_, c)| c.is_alphanumeric());
    of_words().filter(|(at, _)| given[*at]).count() as f64 >= GIVEN_AWAY * of_words().count() as f64
}

/// Splits an answer into its words: `PoolSize_max` → `pool`, `size`, `max`.
fn parts(answer: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in answer.chars() {
        if !c.is_alphanumeric() || (was_lower && c.is_uppercase()) {
            parts.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let (true, Some(part)) = (c.is_alphanumeric(), parts.last_mut()) {
            part.extend(c.to_lowercase());
        }
    }
    parts
}

/// Returns the first line of an answer, without quotation marks and final punctuation.
fn first_line(answer: &str) -> &str {
    let is_mark = |c: char| c.is_whitespace() || "\"'`*“”‘’«»".contains(c);
    let ends = |c: char| is_mark(c) || ".,;:!?".contains(c);
    let first = answer.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    first.trim_start_matches(is_mark).trim_end_matches(ends)
}

/// Returns the last two components of a path.
fn last_two(path: &str) -> Option<(&str, &str)> {
    let (before, name) = path.rsplit_once('/')?;
    let folder = before.rsplit('/').next()?;
    (!folder.is_empty() && !name.is_empty()).then_some((folder, name))
}

#[cfg(test)]
#[path = "cloze/tests.rs"]
mod tests;
