//! Reports: write what commands found as bytes.
//!
//! Each report is one file and one row of [`REPORTS`]; each kind of document implements [`Document`]. Reports format values by unit; only `html/series.rs`,
//! `html/words.rs`, `html/comparison.rs`, `html/answer.rs`, `table_model/sweep.rs`, `table_model/compare.rs` and the screens know columns
//! or policies by name. Names and notes come from
//! transcripts and may be hostile: every such text goes through [`escape`] before it is written.

pub mod answer;
pub mod audit;
mod changes;
pub mod ci;
mod csv;
mod document;
pub mod escape;
pub mod gate;
mod html;
pub mod inspection;
mod json;
pub mod layer_settings;
mod markdown;
mod number_format;
mod policy_check;
pub mod probe;
mod results;
pub mod screen;
mod show;
mod spark;
mod table;
mod table_model;

use std::path::Path;

pub use document::{Detail, Document, Invocation, Layout, Length, Section, Style, View};
pub use html::{first_screen, picture};
pub use screen::Screen;
pub use table_model::TableModel;

use crate::findings::Case;

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
    /// For people: the first screen, and tables of at most this length.
    Text(Length, Drawing),
    Json,
    Csv,
    Html,
    Cases(fn(&[Case]) -> Vec<u8>),
}

/// How a report for people draws the parts of a document.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Drawing {
    /// Draws the screen with at most this many lines.
    pub screen: fn(&Screen, &Style, usize) -> Vec<u8>,
    pub tables: fn(&[TableModel], &Style) -> Vec<u8>,
}

/// All reports.
pub const REPORTS: &[Report] = &[
    Report {
        name: "table",
        about: "for people: the answer on one screen, fitted to the terminal's width; --show and --full add the sections",
        ending: Some("txt"),
        format: Format::Text(Length::Short, Drawing { screen: screen::draw, tables: table::draw_all }),
    },
    Report {
        name: "json",
        about: "all results, in the saved form (version 2) that `recompact report` reads; one row per line, so that two files can be compared",
        ending: Some("json"),
        format: Format::Json,
    },
    Report {
        name: "csv",
        about: "one line per conversation and policy with all values, for spreadsheets and data frames; of a sweep, one per configuration",
        ending: Some("csv"),
        format: Format::Csv,
    },
    Report {
        name: "markdown",
        about: "the first screen for pull requests and notes; with --show or --full, the sections as GitHub tables, uncut",
        ending: Some("md"),
        format: Format::Text(
            Length::Whole,
            Drawing { screen: |screen, _, _| markdown::screen(screen), tables: |tables, _| markdown::draw_all(tables) },
        ),
    },
    Report {
        name: "html",
        about: "one page with plots and tables, for a browser; it loads nothing from elsewhere",
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
            Format::Text(..) | Format::Json => true,
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
    pub fn render<D: Document>(&self, document: &D, layout: &Layout) -> Option<Vec<u8>> {
        Some(match self.format {
            Format::Text(length, drawing) => layout.draw(document, length, drawing),
            Format::Json => document.json(),
            Format::Csv => D::CSV?(document),
            Format::Html => D::HTML?(document, layout),
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
