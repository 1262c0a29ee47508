//! Extracts the facts of a text: what an agent needs verbatim to use it again.
//!
//! Facts are paths, file names, identifiers, hashes, URLs and lines; and also quoted strings and numbers, which count only near a
//! path or an identifier.
//!
//! | kind | rule | canonical form |
//! |---|---|---|
//! | path | two components or more, the last of three characters or more, not plain words (`read/write`, `build/test/ship`; three with a folder such as `src` are a path) and not a number and a word (`235/comments`) or files (`a.md/b.md`); `\` is `/`, and `...` between branches of git ends one | the last two components |
//! | file | a name with a known extension, alone or at the end of a path | unchanged |
//! | identifier | six characters or more with `_`, a digit or camel case; `a::b` and `a.b` are split | unchanged |
//! | | a name with two hyphens or more (12 characters), or one and a digit (6): `evict-idle-pool`, `pool-v2`; no phrase (`side-by-side`) | unchanged |
//! | | a code (`E0382`), an issue (`#48`) | unchanged |
//! | | `user@host`, `package@version`, `localhost:8471` (no default port), `10.0.0.7:8080`, three plain words with dots (`pool.idle.limit`) | unchanged |
//! | hash | 7 to 40 hexadecimal digits, with at least one letter and one digit; a UUID | unchanged |
//! | URL | `http://…`, `https://…`, without trailing punctuation; `](` ends it | unchanged |
//! | line | 12 characters or more with two words, without a diff's sign or a search tool's location before it | trimmed |
//! | quoted | 8 to 100 characters with a space, in `""`, `\"\"`, `''` or backticks | the inner text |
//! | number | five digits or more, or four that are no year; not round (`12000`); or a dotted version | unchanged |
//!
//! A text also shows, without stating them, what a longer fact in it contains: a path its folders (`src/net` in
//! `src/net/pool.rs`), a URL and a path the identifiers and hashes between their signs, a URL its `localhost:8471`, and a hash its short forms of 7
//! to 12 digits. An issue (`#11028`, `pull/11028`) shows its number, and a short string of a tool's input
//! itself as a quotation. What is only shown needs no anchor.
//!
//! A word belongs to one fact only: a URL contains no path, and a path contains no identifier. Quoted strings and lines overlap
//! the words in them. Escape sequences and line numbers of file readers are removed first, and text is normalised to NFC (one way
//! to write `é`). Of a text of more than 100,000 bytes, only the first and the last 50,000 are read. Names that anybody could
//! write are not facts: those of every session (`README.md`), the harnesses' own addresses, those of a language or the web (`TypeError`, `fontWeight`), and those of
//! examples (`file1.txt`), and what redactors leave (`[REDACTED]`). What a text says of a fact in other words: [`reworded`].
//!
//! Which kinds count was decided by what chance finds: of the uses of a kind, the share whose text sessions of other repositories
//! have, too. Identifiers have 2 %. Kinds with clearly more are refused: plain words 50 %, words with a capital 36 %, capital
//! letters alone 16 %, options 3 to 15 %, words in quotes 12 %, lines of 8 to 11 characters 8 %, names that begin with a dot 7 %, two
//! plain words with a slash 6 %, one hyphen 5 %. The guide's page `validation` has the table and its command.
//!
//! The run time is linear in the text. One table lookup per byte shows whether a word can be a fact, and most words cannot.

mod adjacency;
mod bytes;
mod common;
mod compound;
mod file_names;
mod line;
mod normalize;
mod quotes;
pub mod reworded;
mod scanner;
mod shown;
#[cfg(test)]
mod tests;
mod token;
mod windows_paths;

use xxhash_rust::xxh3::xxh3_64_with_seed;

pub use normalize::{MAX_BYTES, normalize as plain};
pub use quotes::QuoteDetector;
pub use scanner::Scanner;

/// The kind of a fact; the module page has the rule of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactKind {
    Path,
    File,
    Identifier,
    Hash,
    Url,
    Line,
    Quoted,
    Number,
}

impl FactKind {
    /// All kinds, in the order of reports.
    pub const ALL: [FactKind; 8] =
        [Self::Path, Self::File, Self::Identifier, Self::Hash, Self::Url, Self::Line, Self::Quoted, Self::Number];

    /// Returns the name in reports and in saved results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::File => "file",
            Self::Identifier => "identifier",
            Self::Hash => "hash",
            Self::Url => "url",
            Self::Line => "line",
            Self::Quoted => "quoted",
            Self::Number => "number",
        }
    }

    /// Whether facts of this kind name files or web pages.
    pub fn is_name(self) -> bool {
        matches!(self, Self::Path | Self::File | Self::Url)
    }

    /// Whether facts of this kind count only near an anchor: a path or an identifier on the same line.
    pub fn needs_anchor(self) -> bool {
        matches!(self, Self::Quoted | Self::Number)
    }
}

/// One occurrence of a fact in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactMatch<'t> {
    pub kind: FactKind,
    /// Canonical form.
    pub text: &'t str,
    /// Hash of kind and text; facts with the same key are treated as equal.
    pub key: u64,
    /// Line number, from 0. Each string of a block begins a new line.
    pub line: u32,
    /// Length of the line in bytes, without the parts that normalisation removes.
    pub line_bytes: u32,
    /// For quoted strings, numbers and hashes: keys of the nearest paths, files and identifiers on the line, at most eight. Empty
    /// for other kinds.
    pub anchors: &'t [u64],
    /// Whether the text states the fact itself. False for a file name at the end of a path, a folder in a path, a part of a URL or
    /// of a file's name, the number of an issue, a whole input, and the short form of a hash. False for lines, except those the
    /// agent quotes: the text an edit searches for, context lines of a patch, a fenced or quoted part of its answer.
    pub said: bool,
    /// Whether the match is in text that the file which a tool writes must already contain: the text an edit searches for, or a
    /// line that a patch keeps or removes.
    pub in_file: bool,
}

impl<'t> FactMatch<'t> {
    /// Whether the text states a fact that counts there: a quoted string or a number without an anchor does not.
    pub fn counts_when_said(&self) -> bool {
        self.said && (!self.kind.needs_anchor() || !self.anchors.is_empty())
    }

    /// Returns the anchors if this kind counts only near one, else nothing.
    pub fn required_anchors(&self) -> &'t [u64] {
        if self.kind.needs_anchor() { self.anchors } else { &[] }
    }
}

/// Returns the key of a fact, which is the same on every machine.
pub fn key(kind: FactKind, text: &str) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), kind as u64)
}

/// Calls `on_match` for every fact of a text.
pub fn in_text(text: &str, on_match: &mut dyn FnMut(FactMatch)) {
    let mut scanner = Scanner::new(on_match);
    scanner.text(text, QuoteDetector::None);
    scanner.finish();
}

/// Calls `on_match` for the facts that name a file or web page, given its path or URL.
pub fn in_name(name: &str, on_match: &mut dyn FnMut(FactMatch)) {
    let is_whole = |found: &FactMatch| found.kind == FactKind::Path && name.ends_with(found.text);
    in_text(name, &mut |fact_match| {
        if fact_match.kind.is_name() && (fact_match.said || is_whole(&fact_match)) {
            on_match(fact_match);
        }
    });
}
