//! Reports: write what commands found as bytes.
//!
//! Each report is one file and one row of [`REPORTS`]; each kind of document implements [`Document`]. Reports format values by unit; only `html/series.rs`,
//! `table_model/sweep.rs` and `table_model/compare.rs` know columns or policies by name. Names and notes come from
//! transcripts and may be hostile: every such text goes through [`escape`] before it is written.

pub mod audit;
pub mod ci;
mod csv;
pub mod escape;
pub mod gate;
mod html;
pub mod inspection;
mod json;
mod markdown;
mod number_format;
pub mod probe;
mod spark;
mod table;
mod table_model;

use std::path::Path;

pub use table_model::TableModel;

use crate::findings::Case;
use crate::results::saved::Results;

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
pub trait Document {
    /// Writes it as CSV, if rows of numbers make sense.
    const CSV: Option<fn(&Self) -> Vec<u8>> = None;
    /// Writes it as a page for a browser.
    const HTML: Option<fn(&Self) -> Vec<u8>> = None;
    /// Returns what was checked, if it is the outcome of checks.
    const CASES: Option<fn(&Self) -> Vec<Case>> = None;

    /// Returns the tables for people that have rows.
    fn tables(&self, length: Length) -> Vec<TableModel>;

    /// Writes all of it as JSON.
    fn json(&self) -> Vec<u8>;
}

/// How long a table may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// For a terminal: the first rows, and how many more there are.
    Short,
    Whole,
}

/// A format in which documents can be printed.
#[non_exhaustive]
pub struct Report {
    /// The id that `--output` takes.
    pub name: &'static str,
    /// One line for `recompact catalog reports`.
    pub about: &'static str,
    /// Ending of files that hold it, without a dot; `None` if the ending says nothing.
    pub ending: Option<&'static str>,
    pub format: Format,
}

/// What a report makes of a document.
#[non_exhaustive]
pub enum Format {
    Tables(Length, fn(&[TableModel], &Style) -> Vec<u8>),
    Json,
    Csv,
    Html,
    Cases(fn(&[Case]) -> Vec<u8>),
}

/// All reports.
pub const REPORTS: &[Report] = &[
    Report {
        name: "table",
        about: "for people: policies side by side, then conversations, retention, layers, reproduced bugs and notes, fitted to the terminal's width",
        ending: Some("txt"),
        format: Format::Tables(Length::Short, table::draw_all),
    },
    Report {
        name: "json",
        about: "all results, in the saved form (version 1) that `recompact report` reads; one row per line, so that two files can be compared",
        ending: Some("json"),
        format: Format::Json,
    },
    Report {
        name: "csv",
        about: "one line per conversation and policy with all values, for spreadsheets and data frames",
        ending: Some("csv"),
        format: Format::Csv,
    },
    Report {
        name: "markdown",
        about: "the tables of the table report as GitHub tables, uncut, for pull requests and notes",
        ending: Some("md"),
        format: Format::Tables(Length::Whole, |tables, _| markdown::draw_all(tables)),
    },
    Report {
        name: "html",
        about: "one page with plots, tables and the saved form, for a browser; it loads nothing from elsewhere",
        ending: Some("html"),
        format: Format::Html,
    },
    Report {
        name: "sarif",
        about: "findings (with `--findings`) as SARIF 2.1.0, for code scanning: rules with their pages, locations, stable fingerprints",
        ending: Some("sarif"),
        format: Format::Cases(ci::sarif),
    },
    Report {
        name: "junit",
        about: "findings (with `--findings`) as JUnit XML: one test for each transcript, policy and kind of finding",
        ending: Some("xml"),
        format: Format::Cases(ci::junit),
    },
    Report {
        name: "github",
        about: "findings (with `--findings`) as GitHub workflow commands, which GitHub shows beside the changed lines",
        ending: None,
        format: Format::Cases(ci::github),
    },
];

impl Report {
    /// Returns whether documents of a type can be printed in this format.
    pub fn has<D: Document>(&self) -> bool {
        match self.format {
            Format::Tables(..) | Format::Json => true,
            Format::Csv => D::CSV.is_some(),
            Format::Html => D::HTML.is_some(),
            Format::Cases(_) => D::CASES.is_some(),
        }
    }

    /// Returns whether it shows findings only.
    pub fn shows_cases(&self) -> bool {
        matches!(self.format, Format::Cases(_))
    }

    /// Prints a document; `None` if the document cannot be printed in this format.
    pub fn render<D: Document>(&self, document: &D, style: &Style) -> Option<Vec<u8>> {
        Some(match self.format {
            Format::Tables(length, draw) => draw(&document.tables(length), style),
            Format::Json => document.json(),
            Format::Csv => D::CSV?(document),
            Format::Html => D::HTML?(document),
            Format::Cases(write) => write(&D::CASES?(document)),
        })
    }
}

/// Returns the report with this id.
pub fn by_name(name: &str) -> Option<&'static Report> {
    REPORTS.iter().find(|report| report.name == name)
}

/// Returns the report whose files have the ending of this path.
pub fn by_ending(path: &Path) -> Option<&'static Report> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    REPORTS.iter().find(|report| report.ending == Some(&ending))
}

impl Document for Results {
    const CSV: Option<fn(&Self) -> Vec<u8>> = Some(csv::write);
    const HTML: Option<fn(&Self) -> Vec<u8>> = Some(html::write);
    const CASES: Option<fn(&Self) -> Vec<Case>> = Some(ci::cases);

    fn tables(&self, _length: Length) -> Vec<TableModel> {
        table_model::tables(self)
    }

    fn json(&self) -> Vec<u8> {
        json::write(self)
    }
}
