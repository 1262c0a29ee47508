//! What reports print: documents with their sections, and how much of them is printed.

use std::io::{self, Write};

use super::Drawing;
use super::screen::{MAX_LINES, Screen};
use super::table_model::TableModel;
use crate::findings::Case;
use crate::results::saved::ColumnId;

/// Terminal properties that a report adapts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Terminal width in columns. Only the table report uses it.
    pub width: usize,
    /// Whether the terminal supports attributes such as bold.
    pub color: bool,
}

impl Default for Style {
    /// The style for pipes and files: 100 columns, no attributes.
    fn default() -> Self {
        Self { width: 100, color: false }
    }
}

/// What a command shows: results, an audit, inspections, the verdicts of a gate, the answers of a probe. Each is shown in every
/// report for which it has something.
pub trait Document: Sized + 'static {
    /// Writes it as CSV, if rows of numbers make sense.
    const CSV: Option<fn(&Self) -> Vec<u8>> = None;
    /// Writes it as a page for a browser.
    const HTML: Option<fn(&Self, &Layout) -> Vec<u8>> = None;
    /// Returns what was checked, if it is the outcome of checks.
    const CASES: Option<fn(&Self) -> Vec<Case>> = None;
    /// All that people can see, in order.
    const SECTIONS: &'static [Section<Self>];

    /// Returns what people read first; `None` if the sections are short enough.
    fn screen(&self, _layout: &Layout) -> Option<Screen> {
        None
    }

    /// Writes all of it as JSON.
    fn json(&self) -> Vec<u8>;

    /// Writes all of it as JSON, which need not fit in memory.
    ///
    /// # Errors
    ///
    /// Fails as the writer does.
    fn write_json(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&self.json())
    }
}

/// A part of a document for people, which `--show` chooses by its id.
pub struct Section<D> {
    pub id: &'static str,
    /// One line for `--show` without a known id.
    pub about: &'static str,
    /// Returns its tables; those without rows are not shown.
    pub tables: fn(&D, &Detail) -> Vec<TableModel>,
}

impl<D> Section<D> {
    /// Returns a section.
    pub const fn new(id: &'static str, about: &'static str, tables: fn(&D, &Detail) -> Vec<TableModel>) -> Self {
        Self { id, about, tables }
    }
}

/// How much of a section is shown.
#[derive(Debug, Clone, Copy)]
pub struct Detail<'a> {
    pub length: Length,
    /// Whether everything is wanted.
    pub is_full: bool,
    /// Columns of tables that compare policies; empty for all that are not details.
    pub columns: &'a [ColumnId],
    /// Column that orders the policies of these tables, the best first.
    pub sort: Option<&'a ColumnId>,
}

impl Detail<'_> {
    /// Whole tables with all columns.
    pub const WHOLE: Self = Self { length: Length::Whole, is_full: true, columns: &[], sort: None };
}

/// How long a table may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// For a terminal: the first rows, and how many more there are.
    Short,
    Whole,
}

/// What of a document is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum View {
    /// The answer, on one screen.
    #[default]
    Screen,
    /// The answer, and then these sections.
    Answered(Vec<String>),
    /// Sections, by id.
    Sections(Vec<String>),
    /// The screen and all sections.
    Full,
}

/// How a report for people looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    pub style: Style,
    pub view: View,
    /// Columns of tables that compare policies; empty for the usual ones.
    pub columns: Vec<ColumnId>,
    /// Column that orders policies, the best first.
    pub sort: Option<ColumnId>,
    pub invocation: Invocation,
}

/// The command that made a document, for the commands that its screen proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The command: `replay`; `python` for a caller in Python.
    pub command: String,
    /// What it works on, as a shell takes it: paths of transcripts, or of saved results.
    pub paths: String,
}

impl Default for Invocation {
    /// For a program that has no command line.
    fn default() -> Self {
        Self { command: "replay".to_owned(), paths: "PATH".to_owned() }
    }
}

impl Invocation {
    /// For a caller in Python: the screen proposes calls.
    pub fn python() -> Self {
        Self { command: "python".to_owned(), ..Self::default() }
    }

    /// Whether the caller cannot run a command of the program, but can call the package.
    pub fn is_python(&self) -> bool {
        self.command == "python"
    }

    /// Whether the transcripts are a part of the program, so that no other command can read them.
    pub fn is_demo(&self) -> bool {
        self.command == "demo"
    }

    /// Whether it works on transcripts. Saved results and parts do not say where theirs are.
    pub fn works_on_transcripts(&self) -> bool {
        !matches!(self.command.as_str(), "report" | "merge")
    }

    /// What writes a policy as the configuration of a harness; the preset of the harness needs no name.
    pub fn export_settings(&self, harness: &str, policy: &str) -> String {
        match (self.is_python(), harness == policy) {
            (true, true) => format!("recompact.export_settings({harness:?})"),
            (true, false) => format!("recompact.export_settings({harness:?}, {policy:?})"),
            (false, true) => format!("recompact export-settings --for {harness}"),
            (false, false) => format!("recompact export-settings --for {harness} -p {policy}"),
        }
    }

    /// A command on the same paths: `recompact sweep ~/runs -p claude-code`.
    pub fn other(&self, command: &str, options: &str) -> String {
        let words = ["recompact", command, &self.paths, options];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The same command with other options. Saved results are named again; of a study only what follows is written, and the demo has
    /// nothing else.
    pub fn again(&self, options: &str) -> String {
        match self.command.as_str() {
            "report" | "demo" => self.other(&self.command, options),
            command => format!("recompact {command} … {options}"),
        }
    }
}

impl Layout {
    /// The whole document in this style.
    pub fn full(style: Style) -> Self {
        Self { style, view: View::Full, ..Self::default() }
    }

    /// Draws what is wanted of a document.
    pub(super) fn draw<D: Document>(&self, document: &D, length: Length, drawing: Drawing) -> Vec<u8> {
        let detail = Detail { length, is_full: self.view == View::Full, columns: &self.columns, sort: self.sort.as_ref() };
        let tables = |is_wanted: &dyn Fn(&str) -> bool| {
            let sections = D::SECTIONS.iter().filter(|section| is_wanted(section.id));
            let tables = sections.flat_map(|section| (section.tables)(document, &detail));
            (drawing.tables)(&tables.filter(|table| !table.rows.is_empty()).collect::<Vec<_>>(), &self.style)
        };
        let named = |ids: &[String]| tables(&|id| ids.iter().any(|wanted| wanted == id));
        let screen = |lines| {
            let screen = document.screen(self)?;
            let screen = if self.invocation.is_python() { screen.without_commands() } else { screen };
            Some((drawing.screen)(&screen, &self.style, lines))
        };
        let with_screen = |lines, sections: Vec<u8>| match screen(lines) {
            Some(screen) if sections.is_empty() => screen,
            Some(screen) => [screen, b"\n".to_vec(), sections].concat(),
            None => sections,
        };
        match &self.view {
            View::Sections(ids) => named(ids),
            View::Screen => screen(MAX_LINES).unwrap_or_else(|| tables(&|_| true)),
            View::Answered(ids) => with_screen(MAX_LINES, named(ids)),
            View::Full => with_screen(usize::MAX, tables(&|_| true)),
        }
    }
}
