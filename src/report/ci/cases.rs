//! Results → cases: one for each transcript, policy and kind of finding that was looked for.

use std::collections::{BTreeSet, HashMap};

use crate::finding::{Case, Finding};
use crate::policy::Policy;
use crate::results::Results;

/// Those of results in which findings were looked for; none where nobody asked, so that this is no pass.
pub fn cases(results: &Results) -> Vec<Case> {
    // Findings in the record name no policy.
    let is_record = |text: &str| Policy::parse(text, "", &[]).is_ok_and(|policy| policy.is_recorded());
    let records = results.policies.iter().filter(|policy| is_record(&policy.toml)).map(|policy| policy.name.as_str());
    let records: BTreeSet<&str> = records.collect();
    let mut known = BTreeSet::new();
    let replayed = results.rows.iter().filter(|row| row.bound_of.is_none());
    let replayed = replayed.map(|row| (row.transcript.as_str(), row.policy.as_str())).filter(|of| known.insert(*of));
    let mut by_place: HashMap<(&str, &str), Vec<&Finding>> = HashMap::new();
    for finding in &results.findings {
        by_place.entry((&finding.path, &finding.id)).or_default().push(finding);
    }
    let of = |(transcript, policy): (&str, &str), id: &String| {
        let here = by_place.get(&(transcript, id.as_str())).into_iter().flatten().copied();
        let of_policy = |finding: &&Finding| finding.policy.as_deref().map_or(records.contains(policy), |name| name == policy);
        let findings = here.filter(of_policy).cloned().collect();
        Case { group: transcript.to_owned(), name: format!("{policy}: {id}"), findings }
    };
    replayed
        .flat_map(|replayed| results.looked_for.iter().map(move |id| (replayed, id)))
        .map(|(replayed, id)| of(replayed, id))
        .collect()
}
