//! The words of the page for columns. An id such as `kept.hit` is what one types; on the page it is a title of these words.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::roles::Roles;
use crate::metrics::metric::cost;
use crate::results::saved::{Column, Direction};

/// Every column of a replay: its id and its words.
const WORDS: &str = include_str!("columns.txt");

/// Groups of columns by the beginning of their ids.
const GROUPS: &[(&str, &str)] = &[
    ("kept", "facts"),
    ("risk", "facts at risk"),
    ("saved", "fetches saved"),
    ("persisted", "moved to disk"),
    ("archived", "archive"),
    ("summary", "summaries"),
    ("broken", "malformed"),
];

fn columns() -> impl Iterator<Item = (&'static str, &'static str)> {
    WORDS.lines().filter_map(|line| line.split_once(": "))
}

fn known(id: &str) -> Option<&'static str> {
    columns().find(|(known, _)| *known == id).map(|(_, words)| words)
}

/// The words of an id: those of a column that this program does not know are the parts of its id.
fn of_id(id: &str) -> String {
    known(id).map_or_else(|| id.replace(['.', '_'], " "), str::to_owned)
}

/// `facts in context`, `~largest request`, `~cost, share of no compaction`
pub fn words(column: &Column, roles: &Roles) -> String {
    let tilde = if column.estimated { "~" } else { "" };
    if column.id == cost::RATIO {
        return format!("{tilde}{}", cost_share(roles.label(roles.baseline)));
    }
    format!("{tilde}{}", of_id(&column.id))
}

/// What a cost is a share of.
pub fn cost_share(policy: &str) -> String {
    format!("cost, share of {policy}")
}

/// What a group of columns is called.
pub fn group(prefix: &str) -> &str {
    GROUPS.iter().find(|(known, _)| *known == prefix).map_or(prefix, |(_, words)| words)
}

/// The direction that is better, behind the name of an axis.
pub fn direction(better: Direction) -> &'static str {
    match better {
        Direction::Lower => " (less is better)",
        Direction::Higher => " (more is better)",
        Direction::Neither => "",
    }
}

/// Writes words for the ids of columns in a text of ours. A part of a path is no id.
pub fn plain(text: &str) -> String {
    let is_of_id = |letter: char| letter.is_ascii_alphanumeric() || ".+_".contains(letter);
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|letter| !is_of_id(letter)).unwrap_or(rest.len()));
        let id = word.trim_end_matches('.');
        let is_of_path = out.ends_with(['/', '\\']) || after.starts_with(['/', '\\']);
        match known(id).filter(|_| id.contains(['.', '_']) && !is_of_path) {
            Some(words) => out.extend([words, &word[id.len()..]]),
            None => out += word,
        }
        let other = after.find(is_of_id).unwrap_or(after.len());
        out += &after[..other];
        rest = &after[other..];
    }
    out
}

/// Draws a cell or a header. One that is an id of a column is the title of its words; other texts may be of transcripts.
pub fn cell(text: &str, roles: &Roles) -> Markup {
    let id = text.trim_start_matches('~');
    let words = if id == cost::RATIO { Some(cost_share(roles.label(roles.baseline))) } else { known(id).map(str::to_owned) };
    html! {
        @if let Some(words) = words {
            span title=(id) { (&text[..text.len() - id.len()]) (terminal(&words)) }
        } @else {
            (terminal(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::metric;

    #[test]
    fn every_column_has_words() {
        let without: Vec<_> =
            metric::columns().into_iter().map(|column| column.id.to_string()).filter(|id| known(id).is_none()).collect();
        assert_eq!(without, Vec::<String>::new());
        let is_column = |id: &str| metric::columns().iter().any(|column| column.id == id);
        let unknown: Vec<&str> = columns().map(|(id, _)| id).filter(|id| !is_column(id)).collect();
        assert_eq!(unknown, Vec::<&str>::new());
    }

    #[test]
    fn ids_in_a_text_are_words() {
        assert_eq!(plain("keep kept.hard <= 2%, then ~cost.usd."), "keep lost for good <= 2%, then ~cost.");
        assert_eq!(
            plain("mean of kept.hit_macro; failed_calls, calls"),
            "mean of facts in context, mean of the conversations; requests that do not fit the window, calls"
        );
        assert_eq!(plain("src/kept.hit of a.b"), "src/kept.hit of a.b");
        assert_eq!(plain(""), "");
    }
}
