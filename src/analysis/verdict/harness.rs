//! One verdict for each harness whose sessions were replayed, and what its users can set without new code.

use std::collections::BTreeSet;

use super::{Standing, Verdict, verdict};
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

/// The results of the sessions of one harness, and which policy its users should ship.
#[derive(Debug, Clone, PartialEq)]
pub struct HarnessVerdict<'a> {
    pub part: &'a HarnessResults,
    pub verdict: Verdict<'a>,
}

/// Which policy to ship, for each harness.
pub fn harness_verdicts(parts: &[HarnessResults]) -> Vec<HarnessVerdict<'_>> {
    parts.iter().filter_map(|part| Some(HarnessVerdict { part, verdict: verdict(&part.results)? })).collect()
}

/// Splits results by the format of the transcripts, in the order of the names. Empty if all have the same.
pub fn by_harness(results: &Results) -> Vec<HarnessResults> {
    match formats(results) {
        formats if formats.len() < 2 => Vec::new(),
        formats => formats.into_iter().map(|format| of_harness(results, format)).collect(),
    }
}

/// Returns the formats of the transcripts in the order of their names; none if the format of any is unknown.
pub fn formats(results: &Results) -> Vec<&str> {
    let formats: BTreeSet<&str> = results.rows.iter().map(|row| row.recording.format.as_ref()).collect();
    if formats.contains("") { Vec::new() } else { formats.into_iter().collect() }
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

/// How the users of a harness get a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way<'v, 'a> {
    /// By its settings; or it is not known how.
    Settings,
    /// By a change of its code. Of the fit policies that its settings express, `best` is the first.
    Code { best: Option<&'v Standing<'a>> },
}

/// Returns how the users of the harness with this format get the chosen policy. `others` are those that they could have in its place,
/// the best first.
pub fn way<'v, 'a: 'v>(
    results: &Results,
    format: &str,
    chosen: &str,
    others: impl Iterator<Item = &'v Standing<'a>>,
) -> Way<'v, 'a> {
    harness_of(format).map_or(Way::Settings, |harness| way_with(results, harness, chosen, others))
}

/// The harness that records transcripts of this format, by the name of its preset; `None` if any could.
pub fn harness_of(format: &str) -> Option<&'static str> {
    preset(format).map(|preset| preset.name)
}

/// Returns how the users of a harness get the chosen policy, as [`way`] does. `harness` is its name or that of a form of its
/// configuration.
pub fn way_with<'v, 'a: 'v>(
    results: &Results,
    harness: &str,
    chosen: &str,
    mut others: impl Iterator<Item = &'v Standing<'a>>,
) -> Way<'v, 'a> {
    if can_be_set(results, harness, chosen) != Some(false) {
        return Way::Settings;
    }
    Way::Code { best: others.find(|other| other.is_fit() && can_be_set(results, harness, other.policy()) == Some(true)) }
}

/// Whether the settings of a harness express a policy. `None` if the results do not hold the text of the policy.
pub(super) fn can_be_set(results: &Results, harness: &str, policy: &str) -> Option<bool> {
    let text = results.policies.iter().find(|text| text.name == policy)?;
    let policy = Policy::parse(&text.toml, policy, &[]).ok()?;
    let (tuned, windows) = (policy.tuned.as_ref(), &[]);
    let request =
        ExportRequest { harness, policy: &policy, tuned, changed: &[], window: None, windows, origin: "", partial: false };
    Some(policy.name == harness || export(&request).is_ok())
}
