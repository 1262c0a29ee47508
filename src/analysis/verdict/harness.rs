//! One verdict for each harness whose sessions were replayed, and what its users can set without new code.

use crate::analysis::export::{ExportRequest, export};
use crate::engine::policy::{Policy, RECORDED, preset};
use crate::metrics::metric::tokens;
use crate::results::Role;
use crate::results::saved::{Results, summarise};
use crate::results::stats::Samples;

/// The results of the sessions that one harness recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct HarnessResults {
    /// Id of the format of its transcripts: `claude-code`.
    pub format: String,
    pub sessions: usize,
    /// The rows of these sessions, their totals, and no intervals: a verdict computes that of the cost.
    pub results: Results,
}

/// Splits results by the format of the transcripts, in the order of the names. Empty if all have the same.
pub fn by_harness(results: &Results) -> Vec<HarnessResults> {
    let mut formats: Vec<&str> = results.rows.iter().map(|row| row.recording.format.as_ref()).collect();
    formats.sort_unstable();
    formats.dedup();
    if formats.len() < 2 || formats.contains(&"") {
        return Vec::new();
    }
    formats.into_iter().map(|format| of_harness(results, format)).collect()
}

fn of_harness(results: &Results, format: &str) -> HarnessResults {
    let rows: Vec<_> = results.rows.iter().filter(|row| row.recording.format == format).cloned().collect();
    let summary = summarise(&results.columns, &rows);
    let recorded = summary.iter().find(|summary| summary.role() == Role::Recorded);
    let has_compacted = recorded.is_some_and(|row| row.values.get(tokens::SAVED).is_some_and(|saved| saved != 0.0));
    let is_kept = |policy: &str| policy != RECORDED || has_compacted;
    let layers = results.layers.iter().filter(|row| is_kept(&row.policy)).cloned().collect();
    let part = Results {
        columns: results.columns.clone(),
        policies: results.policies.clone(),
        study: results.study.clone(),
        comparisons: results.comparisons.clone(),
        statistics: results.statistics.clone(),
        summary,
        layers,
        rows,
        ..Results::default()
    };
    HarnessResults { format: format.to_owned(), sessions: Samples::new(&part.rows).sessions(), results: part }
}

/// Returns the only format of all transcripts.
pub fn only_format(results: &Results) -> Option<&str> {
    let mut formats = results.rows.iter().map(|row| row.recording.format.as_ref());
    let first = formats.next().filter(|format| !format.is_empty())?;
    formats.all(|format| format == first).then_some(first)
}

/// Whether the settings of the harness that recorded express a policy. `None` if no preset describes that harness, or if the results do
/// not hold the text of the policy.
pub fn can_be_set(results: &Results, format: &str, policy: &str) -> Option<bool> {
    let harness = preset(format)?.name;
    let text = results.policies.iter().find(|text| text.name == policy)?;
    let policy = Policy::parse(&text.toml, policy, &[]).ok()?;
    let (tuned, windows) = (policy.tuned.as_ref(), &[]);
    let request = ExportRequest { harness, policy: &policy, tuned, changed: &[], window: None, windows, partial: false };
    Some(policy.name == harness || export(&request).is_ok())
}
