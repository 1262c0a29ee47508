//! Results → cases: one for each transcript, policy and kind of finding that was looked for.

use std::collections::{BTreeSet, HashMap};

use crate::analysis::study::BOUNDS;
use crate::findings::{Case, Finding};
use crate::results::saved::Results;

/// Those of results in which findings were looked for; none where nobody asked, so that this is no pass.
pub fn cases(results: &Results) -> Vec<Case> {
    let mut known = BTreeSet::new();
    let replayed = results.rows.iter().filter(|row| row.bound_of.is_none() && !BOUNDS.contains(&row.policy.as_str()));
    let replayed = replayed.map(|row| (row.transcript.as_str(), row.policy.as_str())).filter(|of| known.insert(*of));
    let mut by_place: HashMap<(&str, &str), Vec<&Finding>> = HashMap::new();
    for finding in &results.findings {
        by_place.entry((&finding.path, &finding.id)).or_default().push(finding);
    }
    let of = |(transcript, policy): (&str, &str), id: &String| {
        let here = by_place.get(&(transcript, id.as_str())).into_iter().flatten().copied();
        let findings = here.filter(|finding| finding.policy.as_deref() == Some(policy)).cloned().collect();
        Case { group: transcript.to_owned(), name: format!("{policy}: {id}"), findings }
    };
    replayed
        .flat_map(|replayed| results.looked_for.iter().map(move |id| (replayed, id)))
        .map(|(replayed, id)| of(replayed, id))
        .collect()
}
