//! What is wrong: how often, and the first of each kind.

use std::collections::BTreeMap;

use crate::findings::{FINDINGS, Finding, Level};
use crate::results::saved::Results;
use crate::util::text::plural;

use super::super::number_format;
use super::{ColumnHeader, TableModel, common_folder, left_out};

/// Findings of one kind that are shown of one policy before the rest is only counted.
const SHOWN: usize = 3;

/// Kinds × policies.
pub fn counts(results: &Results) -> TableModel {
    let mut counts: BTreeMap<(usize, &str), BTreeMap<Option<&str>, usize>> = BTreeMap::new();
    for finding in &results.findings {
        *counts.entry((place_of(&finding.id), &finding.id)).or_default().entry(finding.policy.as_deref()).or_default() += 1;
    }
    let mut policies: Vec<Option<&str>> = results.policies.iter().map(|policy| Some(policy.name.as_str())).collect();
    policies.push(None);
    policies.retain(|policy| results.findings.iter().any(|finding| finding.policy.as_deref() == *policy));
    let row = |((_, id), of): (&(usize, &str), &BTreeMap<Option<&str>, usize>)| {
        let count =
            |policy: &Option<&str>| of.get(policy).map_or(String::new(), |count| number_format::grouped(*count as f64, 0));
        [(*id).to_owned()].into_iter().chain(policies.iter().map(count)).collect()
    };
    let rows: Vec<Vec<String>> = counts.iter().map(row).collect();
    let heads = policies.iter().map(|policy| ColumnHeader::numbers(policy.unwrap_or("recorded")));
    let below = vec!["a page on each: recompact catalog findings NAME".to_owned()];
    let level = |level: Level| results.findings.iter().filter(|finding| finding.level == level).count();
    let levels: Vec<_> = Level::ALL.iter().filter(|one| level(**one) > 0).map(|one| plural(level(*one), one.name())).collect();
    let title = format!("Findings: {}", levels.join(", "));
    TableModel {
        title,
        measure: String::new(),
        heads: [ColumnHeader::names("finding")].into_iter().chain(heads).collect(),
        rows,
        below,
    }
}

/// The first of each kind and policy, errors before warnings before notes.
pub fn worst(results: &Results) -> TableModel {
    of(&results.findings)
}

/// Findings with their places, the worst first; of one kind and policy those of different transcripts before the others.
pub fn of(findings: &[Finding]) -> TableModel {
    let folder = common_folder(findings.iter().map(|finding| finding.path.as_str()));
    let mut of_transcript: BTreeMap<(&str, Option<&str>, &str), usize> = BTreeMap::new();
    let mut shown: Vec<(usize, &Finding)> = Vec::new();
    for finding in findings {
        let nth = of_transcript.entry((&finding.id, finding.policy.as_deref(), &finding.path)).or_default();
        shown.push((*nth, finding));
        *nth += 1;
    }
    shown.sort_by_key(|(nth, finding)| (finding.level, *nth));
    let mut told: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
    shown.retain(|(_, finding)| {
        let count = told.entry((&finding.id, finding.policy.as_deref())).or_default();
        *count += 1;
        *count <= SHOWN
    });
    shown.sort_by_key(|(_, finding)| (finding.level, place_of(&finding.id), finding.policy.as_deref()));
    let row = |(_, finding): &(usize, &Finding)| {
        let place = &finding.path[folder.len()..];
        let place = finding.line.map_or(place.to_owned(), |line| format!("{place}:{line}"));
        let call = finding.call.map(|call| format!("call {call}"));
        let about: Vec<_> = finding.policy.clone().into_iter().chain(call).collect();
        let about = if about.is_empty() { String::new() } else { format!("{}: ", about.join(", ")) };
        vec![format!("{} ({})", finding.id, finding.level.name()), place, format!("{about}{}", finding.message)]
    };
    let rows: Vec<_> = shown.iter().map(row).collect();
    let left = findings.len() - rows.len();
    let mut below = if left > 0 { vec![format!("{} in -o json", plural(left, "more finding"))] } else { Vec::new() };
    below.extend(left_out(folder));
    let heads = vec![ColumnHeader::names("finding"), ColumnHeader::names("place"), ColumnHeader::prose("what")];
    TableModel { title: "What is wrong".to_owned(), measure: String::new(), heads, rows, below }
}

/// The place of a kind among all.
fn place_of(id: &str) -> usize {
    FINDINGS.iter().position(|kind| kind.id == id).unwrap_or(FINDINGS.len())
}
