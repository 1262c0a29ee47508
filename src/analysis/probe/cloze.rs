//! A line with a fact left blank: whether it makes a question that can be answered and not be guessed, and whether an answer is
//! right.

use crate::facts::extract::{self, FactKind, key};
use crate::facts::references::Fact;
use crate::util::text::around;

/// What stands in the place of the fact.
pub const BLANK: &str = "____";
/// Characters of a line that are shown around the blank.
const SHOWN: usize = 200;
/// Bytes of a fact that is asked for: longer ones do not fit into a short answer.
const LONGEST: usize = 100;
/// Letters and digits that stand around the blank, at least, and letters of a word to find the line by.
const AROUND: usize = 8;
const WORD: usize = 4;
/// A part of the answer that stands in the rest of the line gives it away from so many characters on, and the whole of it where
/// such parts are so much of it.
const TELLING: usize = 4;
const GIVEN_AWAY: f64 = 0.5;

/// A line with a blank, and what stood there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cloze {
    /// As it is shown; what was cut off is marked by `…`.
    pub line: String,
    /// The fact as it stood in the line: a path with all of its folders.
    pub answer: String,
}

impl Cloze {
    /// The lines of a text that make good questions of a fact. Numbers must stand beside what they stood beside at first.
    pub fn of<'a>(text: &'a str, fact: &'a Fact) -> impl Iterator<Item = Self> {
        let holds = text.lines().filter(|line| line.contains(&fact.text));
        holds.map(str::trim).filter_map(|line| Self::of_line(line, fact))
    }

    fn of_line(line: &str, fact: &Fact) -> Option<Self> {
        let is_plain = !line.contains(|c: char| c.is_control() && c != '\t') && !line.contains(BLANK);
        if !is_plain || !says(line, fact) {
            return None;
        }
        let (start, end) = place(line, fact)?;
        let answer = &line[start..end];
        let blanked = format!("{}{BLANK}{}", &line[..start], &line[end..]);
        let shown = around(&blanked, start..start + BLANK.len(), SHOWN);
        let rest = shown.replacen(BLANK, " ", 1);
        let is_good = answer.len() <= LONGEST && can_be_found(&rest) && !is_given_away(answer, &rest);
        is_good.then(|| Self { line: shown, answer: answer.to_owned() })
    }

    /// What stands before the blank and behind it, as far as it is shown.
    fn sides(&self) -> (&str, &str) {
        let (before, after) = self.line.split_once(BLANK).unwrap_or((&self.line, ""));
        (before.trim_start_matches('…'), after.trim_end_matches('…'))
    }

    /// What fills the blank wherever a text has the line: words only, in the order of the text.
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

    /// Whether a text has the line with something else in the place of the blank, so that nobody could tell which is meant.
    pub fn is_ambiguous_in(&self, text: &str) -> bool {
        self.fills(text).any(|fill| fill != self.answer)
    }

    /// Whether a text has the line, as far as it is shown, with the fact.
    pub fn is_in(&self, text: &str) -> bool {
        self.fills(text).any(|fill| fill == self.answer)
    }

    /// Whether an answer names the fact: its first line, without quotation marks and what ends a sentence, is the fact as it stood
    /// in the line, or in its canonical form; of a path, the last two components decide.
    pub fn is_answered_by(&self, answer: &str, kind: FactKind, fact: &str) -> bool {
        let said = said(answer);
        let is_same_path = || matches!((last_two(said), last_two(fact)), (Some(one), Some(other)) if one == other);
        said == self.answer || said == fact || (kind == FactKind::Path && is_same_path())
    }
}

/// Lines and quoted strings are sentences: whether a model repeats them to the letter tells more of the model than of the request.
pub fn is_asked_for(kind: FactKind) -> bool {
    match kind {
        FactKind::Path | FactKind::File | FactKind::Identifier | FactKind::Hash | FactKind::Url | FactKind::Number => true,
        FactKind::Line | FactKind::Quoted => false,
    }
}

/// Whether the line says the fact by itself.
fn says(line: &str, fact: &Fact) -> bool {
    let wanted = key(fact.kind, &fact.text);
    let mut says = false;
    extract::in_text(line, &mut |seen| says |= seen.key == wanted && seen.said && fact.counts(&seen, false));
    says
}

/// Where the fact stands in a line that has it once; a path with all of its folders.
fn place(line: &str, fact: &Fact) -> Option<(usize, usize)> {
    let mut found = line.match_indices(&fact.text);
    let (at, _) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let folders = match fact.kind {
        FactKind::Path => line[..at].trim_end_matches(|c: char| c.is_alphanumeric() || "_./~@+-".contains(c)).len(),
        _ => at,
    };
    // The sign of a diff is not the path's.
    let sign = line[folders..at].len() - line[folders..at].trim_start_matches(['-', '+']).len();
    Some((folders + sign, at + fact.text.len()))
}

/// Whether there is something to find the line by.
fn can_be_found(rest: &str) -> bool {
    let words = || rest.split(|c: char| !c.is_alphanumeric());
    let is_word = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count() >= WORD;
    words().map(|word| word.chars().count()).sum::<usize>() >= AROUND && words().any(is_word)
}

/// Whether much of the answer stands in the rest of the line: one of its parts, or a word of the line within it.
fn is_given_away(answer: &str, rest: &str) -> bool {
    let (answer_low, rest_low) = (answer.to_lowercase(), rest.to_lowercase());
    let words = rest_low.split(|c: char| !c.is_alphanumeric()).map(str::to_owned);
    let parts = parts(answer).into_iter().filter(|part| rest_low.contains(part));
    let mut given = vec![false; answer_low.len()];
    for part in words.chain(parts).filter(|part| part.chars().count() >= TELLING) {
        for (at, _) in answer_low.match_indices(&part) {
            given[at..at + part.len()].fill(true);
        }
    }
    let of_words = || answer_low.char_indices().filter(|(_, c)| c.is_alphanumeric());
    of_words().filter(|(at, _)| given[*at]).count() as f64 >= GIVEN_AWAY * of_words().count() as f64
}

/// `PoolSize_max` → `pool`, `size`, `max`.
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

/// The first line of an answer, without what was put around it.
fn said(answer: &str) -> &str {
    let is_mark = |c: char| c.is_whitespace() || "\"'`*“”‘’«»".contains(c);
    let ends = |c: char| is_mark(c) || ".,;:!?".contains(c);
    let first = answer.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    first.trim_start_matches(is_mark).trim_end_matches(ends)
}

/// The last two components of a path.
fn last_two(path: &str) -> Option<(&str, &str)> {
    let (before, name) = path.rsplit_once('/')?;
    let folder = before.rsplit('/').next()?;
    (!folder.is_empty() && !name.is_empty()).then_some((folder, name))
}

#[cfg(test)]
#[path = "cloze/tests.rs"]
mod tests;
