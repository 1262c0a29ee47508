//! [`Results`] → bytes. One file a report; a row of [`REPORTS`] a member.
//!
//! Reports print by unit and know no measure by name. Names and notes come from transcripts and are hostile: every text goes
//! through [`escape`] on its way out.

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

use crate::results::saved::Results;

/// How a report may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal. Only the table minds it.
    pub width: usize,
    /// Whether terminal attributes (bold) are understood.
    pub color: bool,
}

impl Default for Style {
    /// What a pipe gets: 100 columns, plain.
    fn default() -> Self {
        Self { width: 100, color: false }
    }
}

/// A way to print results.
pub struct Report {
    /// The id used by `--output`.
    pub name: &'static str,
    /// One line for the catalog.
    pub about: &'static str,
    pub render: fn(&Results, &Style) -> Vec<u8>,
}

/// Every report.
pub const REPORTS: &[Report] = &[
    Report {
        name: "table",
        about: "for people: policies side by side, then transcripts, what was kept and missed, layers, kept quirks and notes, within the terminal's width",
        render: table::render,
    },
    Report {
        name: "json",
        about: "everything, in the saved form (version 1) that `recompact report` reads; one row a line, so that it can be compared",
        render: json::render,
    },
    Report {
        name: "csv",
        about: "one line a conversation and policy with all values, for spreadsheets and data frames",
        render: csv::render,
    },
    Report {
        name: "markdown",
        about: "the table's content as GitHub tables, for pull requests and notes",
        render: markdown::render,
    },
    Report {
        name: "html",
        about: "one page with plots and everything in it, for a browser: loads nothing, and holds the saved form too",
        render: html::render,
    },
    Report {
        name: "sarif",
        about: "what `--findings` found as SARIF 2.1.0, for code scanning: rules with their pages, places, stable fingerprints",
        render: |results, _| ci::render("sarif", &ci::cases(results)),
    },
    Report {
        name: "junit",
        about: "what `--findings` looked for as JUnit XML, a test for each transcript, policy and kind of finding",
        render: |results, _| ci::render("junit", &ci::cases(results)),
    },
    Report {
        name: "github",
        about: "what `--findings` found as GitHub's workflow commands, which show it beside the lines of a change",
        render: |results, _| ci::render("github", &ci::cases(results)),
    },
];

/// The report with this id.
pub fn by_name(name: &str) -> Option<&'static Report> {
    REPORTS.iter().find(|report| report.name == name)
}
