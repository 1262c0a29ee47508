//! Workflow commands, one a line, that GitHub shows beside the lines of a change.

use crate::findings::{Case, Finding, Level};
use crate::util::text::plural;

use super::escape;

/// So many annotations of each level GitHub shows of one step.
const SHOWN: usize = 10;

/// The worst first: what GitHub leaves out is then the least.
pub fn render(cases: &[Case]) -> Vec<u8> {
    let mut findings: Vec<&Finding> = cases.iter().flat_map(|case| &case.findings).collect();
    findings.sort_by_key(|finding| finding.level);
    let mut lines: String = findings.iter().map(|finding| command(finding)).collect();
    let of = |level: Level| findings.iter().filter(|finding| finding.level == level).count();
    let left: usize = Level::ALL.into_iter().map(|level| of(level).saturating_sub(SHOWN)).sum();
    if findings.is_empty() {
        lines = format!("Nothing was found in {}.\n", plural(cases.len(), "case"));
    } else if left > 0 {
        let more = plural(left, "more finding");
        lines += &format!("GitHub shows {SHOWN} of each level a step: {more} stand in this log alone.\n");
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

/// What a command says, on one line.
fn message(text: &str) -> String {
    escape::terminal(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value that no other property and no message follows by itself.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
