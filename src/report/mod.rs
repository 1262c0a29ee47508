//! Reports: render [`Results`] as bytes.
//!
//! Each report is one file and one row of [`REPORTS`]. Reports format values by unit; only `html/series.rs`,
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

/// A format in which results can be printed.
pub struct Report {
    /// The id that `--output` takes.
    pub name: &'static str,
    /// One line for `recompact catalog reports`.
    pub about: &'static str,
    pub render: fn(&Results, &Style) -> Vec<u8>,
}

/// All reports.
pub const REPORTS: &[Report] = &[
    Report {
        name: "table",
        about: "for people: policies side by side, then conversations, retention, layers, reproduced bugs and notes, fitted to the terminal's width",
        render: table::render,
    },
    Report {
        name: "json",
        about: "all results, in the saved form (version 1) that `recompact report` reads; one row per line, so that two files can be compared",
        render: json::render,
    },
    Report {
        name: "csv",
        about: "one line per conversation and policy with all values, for spreadsheets and data frames",
        render: csv::render,
    },
    Report {
        name: "markdown",
        about: "the tables of the table report as GitHub tables, uncut, for pull requests and notes",
        render: markdown::render,
    },
    Report {
        name: "html",
        about: "one page with plots, tables and the saved form, for a browser; it loads nothing from elsewhere",
        render: html::render,
    },
    Report {
        name: "sarif",
        about: "findings (with `--findings`) as SARIF 2.1.0, for code scanning: rules with their pages, locations, stable fingerprints",
        render: |results, _| ci::render("sarif", &ci::cases(results)),
    },
    Report {
        name: "junit",
        about: "findings (with `--findings`) as JUnit XML: one test for each transcript, policy and kind of finding",
        render: |results, _| ci::render("junit", &ci::cases(results)),
    },
    Report {
        name: "github",
        about: "findings (with `--findings`) as GitHub workflow commands, which GitHub shows beside the changed lines",
        render: |results, _| ci::render("github", &ci::cases(results)),
    },
];

/// Returns the report with this id.
pub fn by_name(name: &str) -> Option<&'static Report> {
    REPORTS.iter().find(|report| report.name == name)
}
