//! Renders cases in the formats that continuous integration reads.

mod cases;
mod github;
mod junit;
mod sarif;

use crate::findings::{Case, Finding};

use super::escape;

pub use cases::cases;

/// The reports that can show cases.
pub const REPORT_NAMES: [&str; 3] = ["sarif", "junit", "github"];

/// Renders cases in the report with this name.
pub fn render(report: &str, cases: &[Case]) -> Vec<u8> {
    match report {
        "sarif" => sarif::render(cases),
        "junit" => junit::render(cases),
        _ => github::render(cases),
    }
}

/// Returns the location and message of a finding in one line: `a.jsonl:3, call 2: message`.
fn line(finding: &Finding) -> String {
    let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
    let call = finding.call.map_or(String::new(), |call| format!(", call {call}"));
    format!("{}{line}{call}: {}", finding.path, finding.message)
}
