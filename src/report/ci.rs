//! Cases → bytes, in the forms that continuous integration reads.

mod cases;
mod github;
mod junit;
mod sarif;

use crate::findings::{Case, Finding};

use super::escape;

pub use cases::cases;

/// The reports that cases can be shown as, by their names.
pub const SHOWN_AS: [&str; 3] = ["sarif", "junit", "github"];

/// Renders cases as the report with this name.
pub fn render(report: &str, cases: &[Case]) -> Vec<u8> {
    match report {
        "sarif" => sarif::render(cases),
        "junit" => junit::render(cases),
        _ => github::render(cases),
    }
}

/// Where a finding is and what it says, in one line: `a.jsonl:3, call 2: what`.
fn line(finding: &Finding) -> String {
    let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
    let call = finding.call.map_or(String::new(), |call| format!(", call {call}"));
    format!("{}{line}{call}: {}", finding.path, finding.message)
}
