//! What the answer promises for sessions to come, if they are like these.

use schemars::JsonSchema;
use serde::Serialize;

use super::yardstick::{Intervals, seed};
use super::{Standing, Verdict};
use crate::metrics::metric::{cost, retention};
use crate::results::saved::{Results, Row};
use crate::results::stats::{RESAMPLES, Resamples, Samples, predicted_interval};

/// Fewer days say little about a month.
const LEAST_DAYS: f64 = 7.0;
/// Days of a month, on average over four years.
const DAYS_OF_A_MONTH: f64 = 365.25 / 12.0;

/// Where the figures of a policy would be over the next sessions, as many as these.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Promise {
    /// Number of these sessions, and of the next ones.
    pub sessions: usize,
    /// The 95 % prediction interval of the cost, as a share of the yardstick's; `None` with fewer than three sessions, and if
    /// they do not differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<[f64; 2]>,
    /// That of the share of facts in context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<[f64; 2]>,
    /// Dollars a month that are saved, at the rate at which these sessions came; negative if it costs more. `None` if not every
    /// session has a date, or if they are of fewer than seven days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_a_month: Option<f64>,
}

/// Returns what a policy promises.
pub fn promise(results: &Results, verdict: &Verdict, standing: &Standing) -> Promise {
    let samples = Samples::new(&results.rows);
    let sessions = samples.sessions();
    let resamples = Resamples::new(sessions, RESAMPLES, seed(results));
    let cost = Intervals::new(results, verdict.yardstick).added(standing.summary);
    let facts = results.column(retention::HIT).map(|column| (column, samples.added(standing.policy(), None, column)));
    let [cost, facts] =
        [cost, facts].map(|parts| parts.and_then(|(column, added)| predicted_interval(column, &added, &resamples)));
    Promise { sessions, cost, facts, usd_a_month: usd_a_month(results, standing) }
}

fn usd_a_month(results: &Results, standing: &Standing) -> Option<f64> {
    let (own, theirs) = standing.dollars()?;
    let is_priced = |row: &&Row| *row.policy == *standing.policy() && row.values.get(cost::USD).is_some();
    let is_dated = results.rows.iter().filter(is_priced).all(|row| row.recording.started.is_some());
    let days = days(results).filter(|days| is_dated && *days >= LEAST_DAYS)?;
    Some((theirs - own) / days * DAYS_OF_A_MONTH)
}

/// Days from the first message of all sessions to the last.
fn days(results: &Results) -> Option<f64> {
    let [first, last] = results.dates.as_ref()?.recordings.as_ref()?;
    let [first, last]: [jiff::Timestamp; 2] = [first.parse().ok()?, last.parse().ok()?];
    Some(last.duration_since(first).as_secs_f64() / 86_400.0)
}
