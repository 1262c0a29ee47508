//! `--output` and `--out`: the output format and the output file.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use recompact::report::{self, REPORTS, Report, Style, ci};
use recompact::results::saved::Results;

use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::output;

#[derive(Args)]
pub struct OutputArgs {
    /// Output format: table, json, csv, markdown, html; findings only: sarif, junit, github
    #[arg(short, long, value_name = "REPORT", default_value = "table", value_parser = report_by_name)]
    output: &'static Report,
    /// Write to this file instead of standard output; written atomically; if it is a link, its target is written
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn report_by_name(name: &str) -> Result<&'static Report, String> {
    report::by_name(name).ok_or_else(|| {
        let known = REPORTS.iter().map(|report| report.name).collect::<Vec<_>>().join(", ");
        format!("unknown report (known: {known})")
    })
}

impl OutputArgs {
    pub fn results(&self, results: &Results) -> Result<(), Failure> {
        self.write(&(self.output.render)(results, &self.style()))
    }

    /// Rejects a report of findings if findings were not checked: its output would look like a pass.
    pub fn needs_findings(&self, findings_checked: bool) -> Result<(), Failure> {
        let name = self.output.name;
        if ci::REPORT_NAMES.contains(&name) && !findings_checked {
            let message = format!("-o {name} shows findings, but none were checked; `replay --findings` checks them");
            return Err(Failure::Usage(message));
        }
        Ok(())
    }

    /// Returns the name of the report; fails if the command does not support it.
    pub fn supported_report(&self, command: &str, supported: &[&str]) -> Result<&'static str, Failure> {
        check_supported(command, self.output.name, supported).map_err(Failure::Usage)?;
        Ok(self.output.name)
    }

    /// Whether the output can be loaded again, because it holds the complete results.
    pub fn is_loadable(&self) -> bool {
        self.output.name == "json"
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

/// Fails if a command does not support the report with this name.
pub fn check_supported(command: &str, name: &str, supported: &[&str]) -> Result<(), String> {
    if supported.contains(&name) {
        Ok(())
    } else {
        Err(format!("{command} has no {name} report (it has: {})", supported.join(", ")))
    }
}
