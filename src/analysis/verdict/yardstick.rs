//! What the cost of a policy is compared with: what the person has whose sessions were recorded.

use super::count;
use crate::engine::policy::RECORDED;
use crate::metrics::metric::{cost, overflow};
use crate::results::Role;
use crate::results::saved::{Accumulator, Column, Results, Summary};
use crate::results::stats::{MIN_SESSIONS, RESAMPLES, Resamples, SEED, Samples, total_interval};

/// What costs are compared with, and how no compaction is meant beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yardstick<'a> {
    /// `None` if no compaction does not fit the window, and nothing else was recorded or named.
    pub policy: Option<&'a str>,
    /// What no compaction is beside it.
    pub(super) uncompacted: Role,
    /// The policy that `cost.ratio` and its intervals compare with.
    study_baseline: &'a str,
}

impl<'a> Yardstick<'a> {
    /// That of the sweep, if these are results of one, because held-out sessions alone could have another. Otherwise the baseline that
    /// the user named; otherwise the recorded runs, if there are compactions in the record; otherwise no compaction, if all of its
    /// requests fit the window. `None` if there are no results.
    pub(super) fn of(results: &'a Results) -> Option<Self> {
        let study_baseline = study_baseline(results)?;
        let named = |policy| Self { policy, uncompacted: Role::KeepAll, study_baseline };
        if let Some(swept) = results.sweep.as_ref().and_then(|sweep| sweep.yardstick.as_ref()) {
            return Some(named(Some(&swept.policy)));
        }
        if Role::of(study_baseline) != Role::KeepAll {
            return Some(named(Some(study_baseline)));
        }
        let fits = replayed(results).find(|summary| summary.policy == study_baseline).is_some_and(fits);
        let has_compacted = results.layers.iter().any(|row| row.policy == RECORDED && row.fired > 0);
        let recorded = replayed(results).find(|summary| summary.role() == Role::Recorded).filter(|_| has_compacted);
        Some(match recorded {
            // Then it can be shipped as well: it says that compacting does not pay.
            Some(recorded) if fits => Self { uncompacted: Role::Candidate, ..named(Some(&recorded.policy)) },
            Some(recorded) => named(Some(&recorded.policy)),
            None => named(Some(study_baseline).filter(|_| fits)),
        })
    }

    /// Returns what a policy is for.
    pub(super) fn role_of(&self, summary: &Summary) -> Role {
        match summary.role() {
            role if role != Role::Oracle && Some(summary.policy.as_str()) == self.policy => Role::Baseline,
            Role::KeepAll => self.uncompacted,
            role => role,
        }
    }

    /// Whether a policy has a row: no bounds, except no compaction where it could have been the yardstick.
    pub(super) fn has_row(&self, summary: &Summary) -> bool {
        let role = self.role_of(summary);
        !role.is_bound() || role == Role::KeepAll && Role::of(self.study_baseline) == Role::KeepAll
    }

    /// The policy that the column `cost.ratio` compares with.
    pub fn study_baseline(&self) -> &'a str {
        self.study_baseline
    }

    /// Whether the study's own intervals are those against the yardstick.
    fn is_of_study(&self) -> bool {
        self.policy == Some(self.study_baseline)
    }
}

/// Computes intervals of costs as shares of the yardstick's cost, all from the same resamples of the sessions.
pub(super) struct Intervals<'a> {
    yardstick: Yardstick<'a>,
    column: Option<&'a Column>,
    samples: Samples<'a>,
    /// `None` if the results have the intervals already, or too few sessions for any.
    resamples: Option<Resamples>,
}

impl<'a> Intervals<'a> {
    pub(super) fn new(results: &'a Results, yardstick: Yardstick<'a>) -> Self {
        let samples = Samples::new(&results.rows);
        let is_saved = yardstick.is_of_study() && results.summary.iter().any(|summary| !summary.intervals.is_empty());
        let is_needed = !is_saved && yardstick.policy.is_some() && samples.sessions() >= MIN_SESSIONS;
        let resamples = is_needed.then(|| Resamples::new(samples.sessions(), RESAMPLES, seed(results)));
        Self { yardstick, column: results.column(cost::RATIO), samples, resamples }
    }

    /// Returns the interval of one policy.
    pub(super) fn of(&self, summary: &Summary) -> Option<[f64; 2]> {
        let saved = summary.intervals.entry(cost::RATIO).filter(|_| self.yardstick.is_of_study());
        let Some(resamples) = &self.resamples else { return saved };
        let (column, added) = self.added(summary)?;
        total_interval(column, &added, resamples)
    }

    /// Returns what each session adds to the cost as a share of the yardstick's.
    pub(super) fn added(&self, summary: &Summary) -> Option<(&'a Column, Vec<Option<Accumulator>>)> {
        let column = self.column?;
        let added = if self.yardstick.is_of_study() {
            self.samples.added(&summary.policy, None, column)
        } else {
            self.samples.added_against(&summary.policy, self.yardstick.policy?, column)
        };
        Some((column, added))
    }
}

/// The seed of the study's statistics.
pub(super) fn seed(results: &Results) -> u64 {
    results.statistics.as_ref().map_or(SEED, |statistics| statistics.seed)
}

/// The baseline of the study; `keep-all`, which never compacts, if the results do not name one.
fn study_baseline(results: &Results) -> Option<&str> {
    let spec = results.study.as_ref().and_then(|study| study.spec.get("baseline")?.as_str());
    let named = results.comparisons.first().map(|row| row.against.as_str()).or(spec);
    let names = || replayed(results).map(|summary| summary.policy.as_str());
    let keep_all = || names().find(|name| Role::of(name) == Role::KeepAll);
    names().find(|name| Some(*name) == named).or_else(keep_all).or_else(|| names().next())
}

fn replayed(results: &Results) -> impl Iterator<Item = &Summary> {
    results.summary.iter().filter(|summary| summary.role() != Role::Oracle)
}

/// Whether all requests fit the window.
fn fits(summary: &Summary) -> bool {
    count(summary, overflow::FAILED_CALLS) == 0
}
