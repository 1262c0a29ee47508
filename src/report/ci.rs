//! Writes cases in the formats that continuous integration reads.

mod cases;
mod github;
mod junit;
mod sarif;

use crate::findings::Finding;

use super::escape;

pub use cases::cases;
pub use github::render as github;
pub use junit::render as junit;
pub use sarif::render as sarif;

/// Returns the location and message of a finding in one line: `a.jsonl:3, call 2: message`.
fn line(finding: &Finding) -> String {
    let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
    let call = finding.call.map_or(String::new(), |call| format!(", call {call}"));
    format!("{}{line}{call}: {}", finding.path, finding.message)
}
