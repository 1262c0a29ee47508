//! Renders findings as GitHub workflow commands, one per line; GitHub shows them beside the changed lines.

use crate::findings::{Case, Finding, Level};
use crate::util::text::plural;

use super::escape;

/// Maximum annotations of each level that GitHub shows for one step.
const SHOWN: usize = 10;

/// Writes the most severe findings first, so that GitHub drops the least severe ones.
pub fn render(cases: &[Case]) -> Vec<u8> {
    let mut findings: Vec<&Finding> = cases.iter().flat_map(|case| &case.findings).collect();
    findings.sort_by_key(|finding| finding.level);
    let mut lines: String = findings.iter().map(|finding| command(finding)).collect();
    let count = |level: Level| findings.iter().filter(|finding| finding.level == level).count();
    let left: usize = Level::ALL.into_iter().map(|level| count(level).saturating_sub(SHOWN)).sum();
    if findings.is_empty() {
        lines = format!("No findings in {}.\n", plural(cases.len(), "case"));
    } else if left > 0 {
        let more = plural(left, "more finding");
        lines += &format!("GitHub shows {SHOWN} findings of each level per step: {more} are only in this log.\n");
    }
    lines.into_bytes()
}

fn command(finding: &Finding) -> String {
    let command = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let title = finding.policy.as_ref().map_or(finding.id.clone(), |policy| format!("{} ({policy})", finding.id));
    let file = Some(&finding.path).filter(|path| !path.is_empty());
    let properties = [
        file.map(|path| format!("file={}", property(path))),
        file.and(finding.line).map(|line| format!("line={line}")),
        Some(format!("title={}", property(&title))),
    ];
    let properties = properties.into_iter().flatten().collect::<Vec<_>>().join(",");
    format!("::{command} {properties}::{}\n", message(&finding.message))
}

/// Escapes the message of a command to one line.
fn message(text: &str) -> String {
    escape::terminal(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property value, so that it cannot start another property or the message.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
