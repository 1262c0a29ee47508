//! `--output` and `--out`: the output format and the output file.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use recompact::report::{self, Document, Format, REPORTS, Report, Style};

use crate::cli::args::suggestions::suggesting;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::output;

#[derive(Args)]
pub struct OutputArgs {
    #[arg(short, long, value_name = "REPORT", value_parser = suggesting(REPORTS.iter().map(|report| report.name), report_by_name),
        hide_possible_values = true, help = output_help())]
    output: Option<&'static Report>,
    /// Write to this file instead of standard output; written atomically; if it is a link, its target is written
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
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

    /// Writes a document in the chosen report; fails if documents of this kind have no such report.
    pub fn document<D: Document>(&self, command: &str, document: &D) -> Result<(), Failure> {
        let bytes =
            self.report().render(document, &self.style()).ok_or_else(|| Failure::Usage(lacks::<D>(command, self.report())))?;
        self.write(&bytes)
    }

    /// Rejects a report of findings if findings were not checked: its output would look like a pass.
    pub fn needs_findings(&self, findings_checked: bool) -> Result<(), Failure> {
        if self.report().shows_cases() && !findings_checked {
            let name = self.report().name;
            let message = format!("-o {name} shows findings, but none were checked; `replay --findings` checks them");
            return Err(Failure::Usage(message));
        }
        Ok(())
    }

    /// Rejects a report that the documents of a command do not have, before the command does its work.
    pub fn must_show<D: Document>(&self, command: &str) -> Result<(), Failure> {
        if self.report().has::<D>() { Ok(()) } else { Err(Failure::Usage(lacks::<D>(command, self.report()))) }
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
        let plain = Style::default();
        if self.out.is_some() || !std::io::stdout().is_terminal() {
            return plain;
        }
        let width = comfy_table::Table::new().width().map_or(plain.width, usize::from);
        Style { width, color: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
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
