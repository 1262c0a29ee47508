//! Findings: how many of each kind, and the first ones of each kind.

use std::collections::BTreeMap;

use crate::findings::{FINDINGS, Finding, Level};
use crate::results::saved::Results;
use crate::util::text::plural;

use super::super::number_format;
use super::{ColumnHeader, TableModel, common_folder, left_out};

/// Maximum findings shown of one kind and policy; the rest is only counted.
const SHOWN: usize = 3;

/// Kinds of findings × policies.
pub fn counts(results: &Results) -> TableModel {
    let mut counts: BTreeMap<(usize, &str), BTreeMap<Option<&str>, usize>> = BTreeMap::new();
    for finding in &results.findings {
        *counts.entry((kind_index(&finding.id), &finding.id)).or_default().entry(finding.policy.as_deref()).or_default() += 1;
    }
    let mut policies: Vec<Option<&str>> = results.policies.iter().map(|policy| Some(policy.name.as_str())).collect();
    policies.push(None);
    policies.retain(|policy| results.findings.iter().any(|finding| finding.policy.as_deref() == *policy));
    let row = |((_, id), by_policy): (&(usize, &str), &BTreeMap<Option<&str>, usize>)| {
        let count =
            |policy: &Option<&str>| by_policy.get(policy).map_or(String::new(), |count| number_format::grouped(*count as f64, 0));
        [(*id).to_owned()].into_iter().chain(policies.iter().map(count)).collect()
    };
    let rows: Vec<Vec<String>> = counts.iter().map(row).collect();
    let headers = policies.iter().map(|policy| ColumnHeader::numbers(policy.unwrap_or("recorded")));
    let footnotes = vec!["recompact catalog findings NAME explains each".to_owned()];
    let count_of = |level: Level| results.findings.iter().filter(|finding| finding.level == level).count();
    let found = Level::ALL.iter().filter(|level| count_of(**level) > 0);
    let levels: Vec<_> = found.map(|level| plural(count_of(*level), level.name())).collect();
    let title = format!("Findings: {}", levels.join(", "));
    TableModel {
        title,
        subject: String::new(),
        headers: [ColumnHeader::names("finding")].into_iter().chain(headers).collect(),
        rows,
        footnotes,
    }
}

/// The first findings of each kind and policy; errors come before warnings, warnings before notes.
pub fn worst(results: &Results) -> TableModel {
    list(&results.findings)
}

/// Lists findings with their locations, most severe first. For one kind and policy, findings in different transcripts
/// come first.
pub fn list(findings: &[Finding]) -> TableModel {
    let folder = common_folder(findings.iter().map(|finding| finding.path.as_str()));
    let mut of_transcript: BTreeMap<(&str, Option<&str>, &str), usize> = BTreeMap::new();
    let mut shown: Vec<(usize, &Finding)> = Vec::new();
    for finding in findings {
        let nth = of_transcript.entry((&finding.id, finding.policy.as_deref(), &finding.path)).or_default();
        shown.push((*nth, finding));
        *nth += 1;
    }
    shown.sort_by_key(|(nth, finding)| (finding.level, *nth));
    let mut counts: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
    shown.retain(|(_, finding)| {
        let count = counts.entry((&finding.id, finding.policy.as_deref())).or_default();
        *count += 1;
        *count <= SHOWN
    });
    shown.sort_by_key(|(_, finding)| (finding.level, kind_index(&finding.id), finding.policy.as_deref()));
    let row = |(_, finding): &(usize, &Finding)| {
        let path = &finding.path[folder.len()..];
        let location = finding.line.map_or(path.to_owned(), |line| format!("{path}:{line}"));
        let call = finding.call.map(|call| format!("call {call}"));
        let context: Vec<_> = finding.policy.clone().into_iter().chain(call).collect();
        let context = if context.is_empty() { String::new() } else { format!("{}: ", context.join(", ")) };
        vec![format!("{} ({})", finding.id, finding.level.name()), location, format!("{context}{}", finding.message)]
    };
    let rows: Vec<_> = shown.iter().map(row).collect();
    let left = findings.len() - rows.len();
    let mut footnotes = if left > 0 { vec![format!("{} in -o json", plural(left, "more finding"))] } else { Vec::new() };
    footnotes.extend(left_out(folder));
    let headers = vec![ColumnHeader::names("finding"), ColumnHeader::names("location"), ColumnHeader::prose("message")];
    TableModel { title: "What is wrong".to_owned(), subject: String::new(), headers, rows, footnotes }
}

/// Index of a kind in [`FINDINGS`]; unknown kinds come last.
fn kind_index(id: &str) -> usize {
    FINDINGS.iter().position(|kind| kind.id == id).unwrap_or(FINDINGS.len())
}
