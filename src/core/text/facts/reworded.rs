//! A fact in other words: what a text says of a fact that it does not have word for word.
//!
//! | kind | said in other words |
//! |---|---|
//! | identifier | its words in this order, in any case, also in a longer name, with or without one of `_`, `-` and `.` between them: `maxIdle`, `MAX_IDLE`, `TestMaxIdles` for `max_idle`; of three words or more also with spaces |
//! | issue | its number behind `pull/`, `issues/`, `pr view` and the like |
//! | path | its folder beside a slash, a dot or a quotation mark, and the name of its file apart from another folder, or the words of that name: `cd src/net` and `pool.rs`, `Net.IdlePool` for `net/idle_pool.ex`; the same path without its extension; a test by what it tests |
//! | file | the words of its name |
//! | URL | a longer URL |
//! | quoted, line | the same characters with other spaces, quotation marks and backslashes |
//! | number | the address of a machine (`10.80.0.7`), far from its name |
//!
//! An agent can write the fact from that, though it may choose a wrong spelling: so such a use is no hit, and no loss.

mod matcher;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::FactKind;
use super::bytes::{self, LETTER};
use super::token;
use matcher::{Matcher, is_in_words, whole};

/// What a request must have in some text, in other words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'f> {
    /// The words of an identifier.
    Words(&'f str),
    /// The number of an issue.
    Issue(&'f str),
    /// A folder of a path.
    Folder(&'f str),
    /// The last two components of a path, or a name alone.
    Name { folder: &'f str, name: &'f str },
    /// A text as it is, at the ends of words.
    Whole(&'f str),
    /// A text without its spaces, quotation marks and backslashes.
    Signless(&'f str),
}

/// Returns the parts that say a fact in other words if a request has them all; none if it has to be there word for word.
pub fn parts(kind: FactKind, text: &str) -> Vec<Part<'_>> {
    match kind {
        FactKind::Identifier => match text.strip_prefix('#') {
            Some(number) => vec![Part::Issue(number)],
            None => vec![Part::Words(text)],
        },
        FactKind::Path => {
            let (above, name) = text.rsplit_once('/').unwrap_or_default();
            let folder = above.rsplit('/').next().unwrap_or_default();
            // Any text has plain words.
            let is_plain = bytes::classes_of(name) & !LETTER == 0 && !name.contains(|c: char| c.is_ascii_uppercase());
            if is_plain { Vec::new() } else { vec![Part::Folder(folder), Part::Name { folder, name }] }
        }
        FactKind::File => vec![Part::Name { folder: "", name: text }],
        FactKind::Url => vec![Part::Whole(text.trim_end_matches('/'))],
        FactKind::Quoted | FactKind::Line => vec![Part::Signless(text)],
        FactKind::Number if text.split('.').count() == 4 => vec![Part::Whole(text)],
        FactKind::Number | FactKind::Hash => Vec::new(),
    }
}

/// Words before the number of an issue, in addresses and commands.
const ISSUES: [&str; 12] = [
    "issues/",
    "pull/",
    "pulls/",
    "discussions/",
    "pr view ",
    "pr checks ",
    "pr diff ",
    "pr edit ",
    "pr merge ",
    "issue view ",
    "PR ",
    "issue ",
];

impl Part<'_> {
    /// Whether a text has this part.
    pub fn is_in(&self, text: &str) -> bool {
        match *self {
            Self::Words(identifier) => is_in_words(identifier, text),
            Self::Issue(number) => ISSUES.iter().any(|before| whole(&format!("{before}{number}"), text).next().is_some()),
            Self::Folder(folder) => Matcher::words(folder).find_in(text).any(|found| is_folder(text, found)),
            Self::Name { folder, name } => is_name_in(folder, name, text),
            Self::Whole(part) => whole(part, text).next().is_some(),
            Self::Signless(part) => Matcher::signless(part).find_in(text).next().is_some(),
        }
    }
}

/// Whether what a text has there is a component of a path or of a module's name, or alone in quotation marks.
fn is_folder(text: &str, found: Range<usize>) -> bool {
    let (before, after) = (&text.as_bytes()[..found.start], &text.as_bytes()[found.end..]);
    let joins = |sign: Option<&u8>, next: Option<&u8>| match sign {
        Some(b'/' | b'\\' | b'"' | b'\'' | b'`') => true,
        Some(b'.') => next.is_some_and(u8::is_ascii_alphanumeric),
        _ => false,
    };
    joins(before.last(), before.iter().rev().nth(1)) || joins(after.first(), after.get(1)) || before.ends_with(b"cd ")
}

/// Whether the folder at the end of a text is a variable of a program: `$NET`, `${NET}`, `"$NET"`.
fn ends_in_variable(text: &str) -> bool {
    let text = text.trim_end_matches(['"', '\'', '}']);
    text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').trim_end_matches('{').ends_with('$')
}

/// Whether a text has the name of a file apart from other folders; or its words, or the path without the extension, or what it tests.
fn is_name_in(folder: &str, name: &str, text: &str) -> bool {
    let is_apart = |at: usize| match text[..at].strip_suffix(['/', '\\']) {
        Some(folder) => ends_in_variable(folder),
        None => !text[..at].ends_with('.'),
    };
    if !folder.is_empty() && whole(name, text).any(|found| is_apart(found.start)) {
        return true;
    }
    let Some((stem, _)) = token::parse_file_name(name).and_then(|name| name.rsplit_once('.')) else { return false };
    // The same words before another extension are another file.
    let is_other_file = |end: usize| {
        text[end..].strip_prefix('.').is_some_and(|extension| extension.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    if matcher::words_of(stem) > 1 && Matcher::words(stem).find_in(text).any(|found| !is_other_file(found.end)) {
        return true;
    }
    let beside = |stem: &str| whole(&format!("{folder}/{stem}"), text).next().is_some();
    let tested = ["_test", ".test", ".spec"].into_iter().find_map(|end| stem.strip_suffix(end)).or(stem.strip_prefix("test_"));
    !folder.is_empty() && (beside(stem) || tested.is_some_and(|tested| !tested.is_empty() && beside(tested)))
}
