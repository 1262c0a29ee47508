//! Converts results to cases: one for each transcript, policy and kind of finding that was checked.

use std::collections::{BTreeSet, HashMap};

use crate::findings::{Case, Finding};
use crate::results::Role;
use crate::results::saved::{Results, Row};

/// Returns no cases if `--findings` was not given, because a run without checks must not look like a pass.
pub fn cases(results: &Results) -> Vec<Case> {
    let mut known = BTreeSet::new();
    // Nothing is checked of the recorded runs if they are only compared with.
    let named = results.study.as_ref().and_then(|study| study.spec.get("policies")?.as_array());
    let is_checked = |row: &&Row| match row.role() {
        Role::Recorded => named.is_none_or(|named| {
            named.iter().filter_map(|policy| policy.as_str()).any(|policy| Role::of(policy) == Role::Recorded)
        }),
        role => !role.is_bound(),
    };
    let replayed = results.rows.iter().filter(is_checked);
    let replayed = replayed.map(|row| (&*row.transcript, &*row.policy)).filter(|pair| known.insert(*pair));
    let mut by_path_and_id: HashMap<(&str, &str), Vec<&Finding>> = HashMap::new();
    for finding in &results.findings {
        by_path_and_id.entry((&finding.path, &finding.id)).or_default().push(finding);
    }
    let case = |(transcript, policy): (&str, &str), id: &String| {
        let of_transcript = by_path_and_id.get(&(transcript, id.as_str())).into_iter().flatten().copied();
        let findings = of_transcript.filter(|finding| finding.policy.as_deref() == Some(policy)).cloned().collect();
        Case { group: transcript.to_owned(), name: format!("{policy}: {id}"), findings }
    };
    replayed
        .flat_map(|replayed| results.checked_findings.iter().map(move |id| (replayed, id)))
        .map(|(replayed, id)| case(replayed, id))
        .collect()
}
