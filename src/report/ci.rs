//! Cases → bytes, in the forms that continuous integration reads.

use super::escape;
use crate::finding::{Case, Finding, Level};

/// The reports that cases can be shown as, by their names.
pub const SHOWN_AS: [&str; 1] = ["github"];

/// Renders cases as the report with this name.
pub fn render(_report: &str, cases: &[Case]) -> Vec<u8> {
    github(cases)
}

/// Workflow commands, one a line, that GitHub shows beside the lines of a change.
fn github(cases: &[Case]) -> Vec<u8> {
    let line = |finding: &Finding| {
        let command = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let line = finding.line.map_or(String::new(), |line| format!(",line={line}"));
        format!("::{command} file={}{line},title={}::{}\n", finding.path, finding.id, escape::terminal(&finding.message))
    };
    cases.iter().flat_map(|case| &case.findings).map(line).collect::<String>().into_bytes()
}
