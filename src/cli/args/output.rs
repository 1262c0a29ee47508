//! `--output` and `--out`: the output format and the output file.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::TypedValueParser;
use recompact::metrics::metric;
use recompact::report::{self, Document, Format, Invocation, Layout, REPORTS, Report, Style, View};
use recompact::results::saved::ColumnId;
use recompact::util::text::{did_you_mean, shell_word};

use crate::cli::args::suggestions::suggesting;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::help::MORE;
use crate::cli::{captured, output, pager};

#[derive(Args)]
pub struct OutputArgs {
    #[arg(short, long, value_name = "REPORT", value_parser = suggesting(report_names, report_by_name),
        hide_possible_values = true, help = output_help())]
    output: Option<&'static Report>,
    /// Write to this file instead of standard output
    ///
    /// It is written atomically. If it is a link, its target is written.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show these sections instead of the first screen; a wrong name lists them
    #[arg(long, value_name = "SECTION,…", value_delimiter = ',', conflicts_with = "full")]
    show: Vec<String>,
    /// Sections after the screen.
    #[arg(skip)]
    also: Vec<String>,
    /// Show the first screen and all sections
    ///
    /// On a terminal, through the pager that PAGER names, or less.
    #[arg(long)]
    full: bool,
    /// Width in columns [default: that of the terminal, else 100]
    #[arg(help_heading = MORE, long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..=1000))]
    width: Option<u16>,
    #[arg(skip)]
    columns: PolicyColumns,
    /// What the command works on.
    #[arg(skip)]
    paths: Vec<PathBuf>,
}

/// Options for tables that compare policies.
#[derive(Args, Clone, Default)]
pub struct PolicyColumns {
    /// Show these columns of the policies (see `recompact catalog measures`)
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', value_parser = column(), hide_possible_values = true)]
    columns: Vec<ColumnId>,
    /// Sort policies by this column, the best first
    #[arg(long, value_name = "COLUMN", value_parser = column(), hide_possible_values = true)]
    sort: Option<ColumnId>,
}

/// Parses the id of a column.
fn column() -> impl TypedValueParser<Value = ColumnId> {
    suggesting(column_ids, |written: &str| {
        let ids = column_ids();
        let id = ids.iter().find(|id| **id == written);
        id.map(|id| Cow::Borrowed(*id)).ok_or_else(|| format!("there is no such column{}", did_you_mean(written, &ids)))
    })
}

fn column_ids() -> Vec<&'static str> {
    let metrics = metric::GROUPS.iter().flat_map(|group| group.metrics);
    let id = |metric: &'static metric::Metric| match metric.column.id {
        Cow::Borrowed(id) => Some(id),
        Cow::Owned(_) => None,
    };
    metrics.filter_map(id).collect()
}

fn report_names() -> Vec<&'static str> {
    REPORTS.iter().map(|report| report.name).collect()
}

fn output_help() -> String {
    let names = |of_cases: bool| {
        let reports = REPORTS.iter().filter(|report| report.shows_cases() == of_cases);
        reports.map(|report| report.name).collect::<Vec<_>>().join(", ")
    };
    format!("Output format: {}; findings only: {} [default: by the ending of --out, else table]", names(false), names(true))
}

fn report_by_name(name: &str) -> Result<&'static Report, String> {
    report::by_name(name).ok_or_else(|| {
        let known = REPORTS.iter().map(|report| report.name).collect::<Vec<_>>().join(", ");
        format!("unknown report (known: {known})")
    })
}

impl OutputArgs {
    /// The chosen report, else the one that the name of the output file says, else the table.
    fn report(&self) -> &'static Report {
        self.output.or_else(|| report::by_ending(self.out.as_deref()?)).unwrap_or(&REPORTS[0])
    }

    /// Also takes options for tables of policies.
    pub fn with_columns(&mut self, columns: &PolicyColumns) {
        self.columns = columns.clone();
    }

    /// Says what the command works on, for the commands that a screen proposes.
    pub fn works_on(&mut self, paths: &[PathBuf]) {
        self.paths = paths.to_vec();
    }

    /// Writes a document in the chosen report; fails if documents of this kind have no such report.
    pub fn document<D: Document>(&self, command: &str, document: &D) -> Result<(), Failure> {
        self.write_document(command, document, self.full)
    }

    /// The same for a long text: on a terminal it goes through the pager.
    pub fn paged<D: Document>(&self, command: &str, document: &D) -> Result<(), Failure> {
        self.write_document(command, document, true)
    }

    fn write_document<D: Document>(&self, command: &str, document: &D, is_long: bool) -> Result<(), Failure> {
        if self.is_loadable() {
            return Ok(output::write_by(self.out.as_deref(), |to| document.write_json(to))?);
        }
        let layout = self.layout(command);
        let bytes = self.report().render(document, &layout).ok_or_else(|| Failure::Usage(lacks::<D>(command, self.report())))?;
        let is_text = matches!(self.report().format, Format::Text(..));
        if is_long && is_text && self.is_on_terminal() && pager::show(&bytes) {
            return Ok(());
        }
        self.write(&bytes)
    }

    fn layout(&self, command: &str) -> Layout {
        let view = match (&self.show[..], self.full) {
            ([], false) if self.also.is_empty() => View::Screen,
            ([], false) => View::Answered(self.also.clone()),
            ([], true) => View::Full,
            (sections, _) => View::Sections(sections.to_vec()),
        };
        Layout {
            style: self.style(),
            view,
            columns: self.columns.columns.clone(),
            sort: self.columns.sort.clone(),
            invocation: Invocation { command: command.to_owned(), paths: shell_words(&self.paths) },
            ..Layout::default()
        }
    }

    fn is_on_terminal(&self) -> bool {
        self.out.is_none() && !captured::is_captured() && std::io::stdout().is_terminal()
    }

    /// Whether the section of findings is asked for.
    pub fn shows_findings(&self) -> bool {
        self.show.iter().any(|section| section == "findings")
    }

    /// Shows a section after the screen, because an option asks for more of it.
    pub fn also_shows(&mut self, section: &str) {
        self.also.push(section.to_owned());
    }

    /// Rejects a report of findings if findings were not checked: its output would look like a pass.
    pub fn needs_findings(&self, findings_checked: bool) -> Result<(), Failure> {
        let asked = match self.report() {
            report if report.shows_cases() => format!("-o {}", report.name),
            _ if self.shows_findings() => "--show findings".to_owned(),
            _ => return Ok(()),
        };
        if findings_checked {
            return Ok(());
        }
        Err(Failure::Usage(format!("{asked} shows findings, but none were checked; `replay --findings` checks them")))
    }

    /// Rejects a report that the documents of a command do not have, before the command does its work.
    pub fn must_show<D: Document>(&self, command: &str) -> Result<(), Failure> {
        if !self.report().has::<D>() {
            return Err(Failure::Usage(lacks::<D>(command, self.report())));
        }
        match self.show.iter().find(|id| D::SECTIONS.iter().all(|section| section.id != id.as_str())) {
            None => Ok(()),
            Some(id) => Err(Failure::Usage(unknown_section::<D>(command, id))),
        }
    }

    /// Whether the output is a page for a browser.
    pub fn is_page(&self) -> bool {
        matches!(self.report().format, Format::Html)
    }

    /// Whether the output can be loaded again, because it holds the complete results.
    pub fn is_loadable(&self) -> bool {
        matches!(self.report().format, Format::Json)
    }

    /// The output file, if it is not standard output.
    pub fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    /// Adds the output file to the files that the command writes.
    pub fn add_to(&self, uses: &mut FileUses) {
        uses.write("--out", self.out());
    }

    pub fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(output::write(self.out.as_deref(), bytes)?)
    }

    /// The terminal's width and colours; the default style if the output is not a terminal.
    pub fn style(&self) -> Style {
        let given = self.width.map(usize::from);
        let plain = Style::default();
        if !self.is_on_terminal() {
            return Style { width: given.unwrap_or(plain.width), ..plain };
        }
        let width = given.or_else(|| comfy_table::Table::new().width().map(usize::from)).unwrap_or(plain.width);
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        Style { width, color: !is_set("NO_COLOR") && !is_dumb }
    }
}

/// Returns the report with this name, if documents of this kind have it.
pub fn report_of<D: Document>(command: &str, name: &str) -> Result<&'static Report, String> {
    let report = report_by_name(name)?;
    if report.has::<D>() { Ok(report) } else { Err(lacks::<D>(command, report)) }
}

/// Says which reports documents of this kind have.
fn lacks<D: Document>(command: &str, report: &Report) -> String {
    let names: Vec<_> = REPORTS.iter().filter(|report| report.has::<D>()).map(|report| report.name).collect();
    format!("{command} has no {} report (it has: {})", report.name, names.join(", "))
}

/// Says which sections documents of this kind have.
fn unknown_section<D: Document>(command: &str, id: &str) -> String {
    let list: String = D::SECTIONS.iter().map(|section| format!("\n  {:<14} {}", section.id, section.about)).collect();
    format!("--show {id}: {command} has no such section; it has:{list}")
}

/// Most characters of paths that a proposed command repeats.
const LONGEST_PATHS: usize = 60;

/// Writes paths as a shell takes them; the first one and `…` if they are long.
fn shell_words(paths: &[PathBuf]) -> String {
    let words: Vec<String> = paths.iter().map(|path| shell_word(&path.to_string_lossy())).collect();
    let all = words.join(" ");
    if all.chars().count() <= LONGEST_PATHS || words.len() < 2 { all } else { format!("{} …", words[0]) }
}
