//! The first screen of a document: what was looked at, the answer, one table, what to check, and what to do next.
//!
//! It has at most [`MAX_LINES`] lines on a terminal of 100 columns.

mod draw;
mod fit;
mod replay;
mod sweep;

use super::Layout;
use super::table_model::{TableModel, Tone};
use crate::findings::rules::secret;
use crate::findings::{FINDINGS, Finding, FindingKind, Level};
use crate::results::saved::Results;
use crate::util::text::plural;

pub use draw::draw;
pub(super) use replay::{change, is_too_wide, money, remark};

/// Most lines of a screen: what a terminal shows without scrolling.
pub const MAX_LINES: usize = 40;

/// The title of the points to check.
pub const CHECKS_TITLE: &str = "Check before you trust it";
/// The title of the things to change.
pub const CHANGES_TITLE: &str = "What to change";

/// What people read first.
pub struct Screen {
    /// What was looked at, in one line.
    pub scope: Prose,
    /// The answer, in a few sentences; the first says what to do.
    pub answer: Vec<Prose>,
    pub table: ScreenTable,
    /// What to check before the answer is trusted, the most important first.
    pub checks: Vec<Check>,
    /// What to change, what helps most first: at most three.
    pub changes: Vec<Check>,
    /// What to do next.
    pub next: Vec<Step>,
}

impl Screen {
    /// Leaves out what only a command line can do: commands, and options that show sections.
    pub fn without_commands(mut self) -> Self {
        self.next.retain(|step| !step.command.starts_with("recompact "));
        self.checks.iter_mut().chain(&mut self.changes).for_each(|check| check.section = "");
        self.table.section = "";
        self
    }
}

/// The one table of a screen.
pub struct ScreenTable {
    /// Its title is not shown.
    pub model: TableModel,
    /// How each row is meant.
    pub tones: Vec<Tone>,
    /// How soon each column is left out if the width is not enough: the highest first, those with 0 never.
    pub ranks: Vec<u8>,
    /// The section that has all rows.
    pub section: &'static str,
}

impl ScreenTable {
    /// A table without colours.
    pub fn new(model: TableModel, ranks: Vec<u8>, section: &'static str) -> Self {
        Self { model, tones: Vec::new(), ranks, section }
    }
}

/// Something to check before the answer is trusted.
pub struct Check {
    pub text: Prose,
    /// The section that shows more.
    pub section: &'static str,
}

/// A command to run next.
pub struct Step {
    /// The command, as a shell takes it.
    pub command: String,
    /// What it does, in a few words.
    pub why: String,
}

impl Check {
    /// A point without a name in it.
    pub fn new(section: &'static str, text: impl Into<String>) -> Self {
        Self { text: Prose::new(text), section }
    }
}

impl Step {
    /// A command, and what it does.
    pub fn new(command: impl Into<String>, why: impl Into<String>) -> Self {
        Self { command: command.into(), why: why.into() }
    }
}

/// Text with names in it. Names come from transcripts and files, so each report escapes them in its own way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prose(Vec<Span>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Span {
    Words(String),
    Name(String),
}

impl Prose {
    /// Begins with these words.
    pub fn new(words: impl Into<String>) -> Self {
        Self(vec![Span::Words(words.into())])
    }

    /// Adds words of ours.
    pub fn words(mut self, words: impl Into<String>) -> Self {
        self.0.push(Span::Words(words.into()));
        self
    }

    /// Adds a name, which may be hostile.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.0.push(Span::Name(name.into()));
        self
    }

    /// Adds another text.
    pub fn join(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Joins all parts; `escape` shows a name.
    pub fn text(&self, escape: impl Fn(&str) -> String) -> String {
        self.map(str::to_owned, escape).concat()
    }

    /// Draws all parts in order: words of ours, and names.
    pub fn map<T>(&self, words: impl Fn(&str) -> T, name: impl Fn(&str) -> T) -> Vec<T> {
        let part = |span: &Span| match span {
            Span::Words(text) => words(text),
            Span::Name(text) => name(text),
        };
        self.0.iter().map(part).collect()
    }
}

/// Most things to change.
const MOST_CHANGES: usize = 3;

/// What to change so that errors and warnings do not come back: secrets first, then the kinds with most errors, then those with most
/// warnings.
pub fn changes(findings: &[Finding]) -> Vec<Check> {
    let count = |kind: &FindingKind, level: Level| {
        findings.iter().filter(|finding| finding.id == kind.id && finding.level == level).count()
    };
    let counted = FINDINGS.iter().map(|kind| (kind, [Level::Error, Level::Warning].map(|level| count(kind, level))));
    let mut serious: Vec<(&FindingKind, [usize; 2])> = counted.filter(|(_, counts)| *counts != [0, 0]).collect();
    serious.sort_by_key(|(kind, counts)| std::cmp::Reverse((kind.id == secret::ID, *counts)));
    let change = |(kind, [errors, warnings]): &(&FindingKind, [usize; 2])| {
        let counts = [plural(*errors, "error"), plural(*warnings, "warning")];
        let of_kind: Vec<String> = counts.into_iter().filter(|count| !count.starts_with("0 ")).collect();
        Check::new("", format!("{} ({}): {}", kind.id, of_kind.join(", "), kind.advice()))
    };
    serious.iter().take(MOST_CHANGES).map(change).collect()
}

/// The screen of a replay; `None` if nothing was replayed.
pub fn of_results(results: &Results, layout: &Layout) -> Option<Screen> {
    match &results.sweep {
        Some(sweep) => sweep::screen(results, sweep, layout),
        None => replay::screen(results, layout),
    }
}
