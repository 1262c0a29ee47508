//! Metrics: functions from a conversation and its journal to the values of columns.
//!
//! A metric is one file and one row of [`METRICS`]. Each column states its unit, which direction is better and how
//! conversations are totalled; reports need nothing else.

mod broken;
mod cost;
mod disk;
mod overflow;
mod retention;
mod summaries;
mod tokens;

use crate::engine::journal::Journal;
use crate::metrics::column::Column;
use crate::metrics::column_map::Values;
use crate::metrics::cost::Cost;
use crate::metrics::retention::Retention;
use crate::transcript::conversation::Conversation;

pub use retention::CHANCE;

/// Input of a metric: one replay and its baseline.
pub struct MetricInput<'a> {
    pub conversation: &'a Conversation,
    pub journal: &'a Journal,
    /// Replay of the same conversation under the baseline policy.
    pub baseline: &'a Journal,
    pub retention: &'a Retention,
    /// `None` if the conversation could not be priced.
    pub cost: Option<&'a Cost>,
    pub baseline_cost: Option<&'a Cost>,
    /// Weight of the uses that the greedy oracle hits with the same tokens at each call.
    pub oracle_weight: Option<f64>,
}

pub struct Metric {
    pub name: &'static str,
    /// One line for the catalog.
    pub about: &'static str,
    pub columns: &'static [Column],
    /// Returns one value for each column, in their order; `None` if the column does not apply.
    pub values: fn(&MetricInput) -> Vec<Option<f64>>,
}

/// All metrics, in the order of the columns.
pub const METRICS: &[Metric] =
    &[tokens::METRIC, cost::METRIC, retention::METRIC, disk::METRIC, summaries::METRIC, overflow::METRIC, broken::METRIC];

/// Returns the columns of all metrics.
pub fn columns() -> Vec<Column> {
    METRICS.iter().flat_map(|metric| metric.columns.iter().cloned()).collect()
}

/// Returns the values of all metrics.
pub fn values(input: &MetricInput) -> Values {
    let values = |metric: &Metric| {
        let ids = metric.columns.iter().map(|column| column.id.clone());
        ids.zip((metric.values)(input)).collect::<Vec<_>>()
    };
    METRICS.iter().flat_map(values).collect()
}

/// Returns the values of an oracle or upper bound. Only columns of tokens and hits apply: a bound has no layers, files or
/// summaries.
pub fn bound_values(input: &MetricInput) -> Values {
    let applies = |id: &str| id == "calls" || id.starts_with("tokens.") || retention::BOUND_COLUMNS.contains(&id);
    let mut values = values(input);
    values.clear_unless(applies);
    values
}

fn count(n: usize) -> Option<f64> {
    Some(n as f64)
}

fn sum(numbers: impl Iterator<Item = u64>) -> f64 {
    numbers.sum::<u64>() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_column_ids_are_unique() {
        let columns = columns();
        let ids: std::collections::BTreeSet<_> = columns.iter().map(|column| &column.id).collect();
        assert_eq!(ids.len(), columns.len());
    }
}
