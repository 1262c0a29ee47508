//! How results are shown, and where they go.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use recompact::report::{self, REPORTS, Report, Style, ci};
use recompact::results::saved::Results;

use crate::cli::error::Failure;
use crate::cli::output;

#[derive(Args)]
pub struct OutputArgs {
    /// How the results are shown: table, json, csv, markdown, html; what was found: sarif, junit, github
    #[arg(short, long, value_name = "REPORT", default_value = "table", value_parser = report_by_name)]
    output: &'static Report,
    /// Write there instead of standard output; the file is either the old one or the whole new one
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn report_by_name(name: &str) -> Result<&'static Report, String> {
    report::by_name(name).ok_or_else(|| {
        let known = REPORTS.iter().map(|report| report.name).collect::<Vec<_>>().join(", ");
        format!("there is no such report (known: {known})")
    })
}

impl OutputArgs {
    pub fn results(&self, results: &Results) -> Result<(), Failure> {
        self.write(&(self.output.render)(results, &self.style()))
    }

    /// Refuses a report of findings where nobody looked for any: that would look as if there were none.
    pub fn needs_findings(&self, looked_for: bool) -> Result<(), Failure> {
        let name = self.output.name;
        match ci::SHOWN_AS.contains(&name) && !looked_for {
            true => Err(Failure::Usage(format!("-o {name} shows findings, and none were looked for: `replay --findings` does"))),
            false => Ok(()),
        }
    }

    /// The name of the report, where a command can show it.
    pub fn report_of(&self, command: &str, shown_as: &[&str]) -> Result<&'static str, Failure> {
        known(command, self.output.name, shown_as).map_err(Failure::Usage)?;
        Ok(self.output.name)
    }

    /// Whether what is written can be read again: with all that results hold.
    pub fn saves(&self) -> bool {
        self.output.name == "json"
    }

    /// The file that will be written.
    pub fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    pub fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(output::write(self.out.as_deref(), bytes)?)
    }

    /// The terminal's width and colours; plain and 100 columns wide where the output is no terminal.
    pub fn style(&self) -> Style {
        let plain = Style::default();
        if self.out.is_some() || !std::io::stdout().is_terminal() {
            return plain;
        }
        let width = comfy_table::Table::new().width().map_or(plain.width, usize::from);
        Style { width, color: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }
}

/// That a command can show the report with this name.
pub fn known(command: &str, name: &str, shown_as: &[&str]) -> Result<(), String> {
    match shown_as.contains(&name) {
        true => Ok(()),
        false => Err(format!("{command} has no {name} report (it has: {})", shown_as.join(", "))),
    }
}
