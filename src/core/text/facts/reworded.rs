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
use matcher::{Matcher, Whole};

/// What a request must have in some text, in other words; prepared, so that many texts can be searched for it.
#[derive(Debug, Clone)]
pub enum Part {
    /// The words of an identifier.
    Words(Matcher),
    /// The number of an issue.
    Issue(Whole),
    /// A folder of a path.
    Folder(Matcher),
    /// The last two components of a path, or a name alone.
    Name(Name),
    /// A text as it is, at the ends of words.
    Whole(Whole),
    /// A text without its spaces, quotation marks and backslashes.
    Signless(Matcher),
}

/// Returns the parts that say a fact in other words if a request has them all; none if it has to be there word for word.
pub fn parts(kind: FactKind, text: &str) -> Vec<Part> {
    match kind {
        FactKind::Identifier => match text.strip_prefix('#') {
            Some(number) => vec![Part::Issue(Whole::new(number))],
            None => vec![Part::Words(Matcher::words(text))],
        },
        FactKind::Path => {
            let (above, name) = text.rsplit_once('/').unwrap_or_default();
            let folder = above.rsplit('/').next().unwrap_or_default();
            // Any text has plain words.
            let is_plain = bytes::classes_of(name) & !LETTER == 0 && !name.contains(|c: char| c.is_ascii_uppercase());
            if is_plain { Vec::new() } else { vec![Part::Folder(Matcher::words(folder)), Part::Name(Name::new(folder, name))] }
        }
        FactKind::File => vec![Part::Name(Name::new("", text))],
        FactKind::Url => vec![Part::Whole(Whole::new(text.trim_end_matches('/')))],
        FactKind::Quoted | FactKind::Line => vec![Part::Signless(Matcher::signless(text))],
        FactKind::Number if text.split('.').count() == 4 => vec![Part::Whole(Whole::new(text))],
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

impl Part {
    /// Whether a text has this part.
    pub fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Words(words) => words.any_in(text, |_| true),
            Self::Issue(number) => number.find_in(text).any(|found| is_issue(text, found.start)),
            Self::Folder(folder) => folder.any_in(text, |found| is_folder(text, found)),
            Self::Name(name) => name.is_in(text),
            Self::Whole(part) => part.find_in(text).next().is_some(),
            Self::Signless(signless) => signless.any_in(text, |_| true),
        }
    }
}

/// Whether the number that a text has there is that of an issue.
fn is_issue(text: &str, start: usize) -> bool {
    let is_before = |words: &str| text[..start].ends_with(words) && !matcher::is_in_word(text, start - words.len());
    ISSUES.into_iter().any(is_before)
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

/// The name of a file apart from other folders; or its words, or the path without the extension, or what it tests.
#[derive(Debug, Clone)]
pub struct Name {
    /// The name, if its folder is known.
    name: Option<Whole>,
    /// The name without the extension, if it has words.
    stem: Option<Matcher>,
    /// The path without the extension, and the path of what the file tests.
    paths: Vec<Whole>,
}

impl Name {
    fn new(folder: &str, name: &str) -> Self {
        let has_folder = !folder.is_empty();
        let stem = token::parse_file_name(name).and_then(|name| name.rsplit_once('.')).map(|(stem, _)| stem);
        let tested = stem.and_then(|stem| {
            let without_end = ["_test", ".test", ".spec"].into_iter().find_map(|end| stem.strip_suffix(end));
            without_end.or(stem.strip_prefix("test_")).filter(|tested| !tested.is_empty())
        });
        let beside = stem.into_iter().chain(tested).filter(|_| has_folder);
        Self {
            name: has_folder.then(|| Whole::new(name)),
            stem: stem.map(Matcher::words).filter(|stem| stem.count_words() > 1),
            paths: beside.map(|stem| Whole::new(&format!("{folder}/{stem}"))).collect(),
        }
    }

    fn is_in(&self, text: &str) -> bool {
        let is_apart = |at: usize| match text[..at].strip_suffix(['/', '\\']) {
            Some(folder) => ends_in_variable(folder),
            None => !text[..at].ends_with('.'),
        };
        // The same words before another extension are another file.
        let is_other_file = |end: usize| {
            text[end..].strip_prefix('.').is_some_and(|extension| extension.starts_with(|c: char| c.is_ascii_lowercase()))
        };
        self.name.as_ref().is_some_and(|name| name.find_in(text).any(|found| is_apart(found.start)))
            || self.stem.as_ref().is_some_and(|stem| stem.any_in(text, |found| !is_other_file(found.end)))
            || self.paths.iter().any(|path| path.find_in(text).next().is_some())
    }
}
