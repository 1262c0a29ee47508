//! Metrics: functions from a conversation and its journal to the value of a column.
//!
//! A metric is one row of a group in [`GROUPS`]: its column, and the function that computes the value. A column states its
//! unit, which direction is better and how conversations are totalled; reports need nothing else. Columns that other code
//! names have a constant beside their group, so that a renamed column does not compile.

pub mod broken;
pub mod cost;
mod disk;
pub mod overflow;
pub mod retention;
pub mod summaries;
pub mod tokens;

use crate::engine::journal::Journal;
use crate::metrics::column::{Aggregation, Column, Direction, Unit};
use crate::metrics::column_map::Values;
use crate::metrics::cost::Cost;
use crate::metrics::retention::Retention;
use crate::transcript::conversation::Conversation;

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

/// Computes the value of a column; `None` if the column does not apply to the conversation.
pub type Value = fn(&MetricInput) -> Option<f64>;

/// A column and its value.
#[non_exhaustive]
pub struct Metric {
    pub column: Column,
    pub value: Value,
    /// Oracles and upper bounds have a value too. They have no layers, files or summaries.
    pub of_bounds: bool,
    /// What a sweep leaves out if none of its columns needs it.
    pub costly_input: Option<CostlyInput>,
}

/// Part of the input that takes long to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostlyInput {
    /// The oracle, which takes as long as a replay.
    Oracle,
    /// The names in summaries, which are searched in all that was summarised.
    Names,
}

/// Metrics of one subject.
#[non_exhaustive]
pub struct MetricGroup {
    pub name: &'static str,
    /// One line for the catalog.
    pub about: &'static str,
    pub metrics: &'static [Metric],
}

/// All metrics, in the order of the columns.
pub const GROUPS: &[MetricGroup] =
    &[tokens::GROUP, cost::GROUP, retention::GROUP, disk::GROUP, summaries::GROUP, overflow::GROUP, broken::GROUP];

impl Metric {
    /// Builds a metric that is counted exactly.
    const fn counted(
        id: &'static str,
        unit: Unit,
        better: Direction,
        combine: Aggregation,
        about: &'static str,
        value: Value,
    ) -> Self {
        let column = Column::counted(id, unit, better, combine, about);
        Self { column, value, of_bounds: false, costly_input: None }
    }

    /// Builds an estimated metric.
    const fn estimated(
        id: &'static str,
        unit: Unit,
        better: Direction,
        combine: Aggregation,
        about: &'static str,
        value: Value,
    ) -> Self {
        let column = Column::estimated(id, unit, better, combine, about);
        Self { column, value, of_bounds: false, costly_input: None }
    }

    /// Returns the same metric, which also has a value for bounds.
    const fn of_bounds(mut self) -> Self {
        self.of_bounds = true;
        self
    }

    /// Returns the same metric, left out of the tables.
    const fn in_detail(mut self) -> Self {
        self.column.detail = true;
        self
    }

    /// Returns the same metric, which needs this input.
    const fn needs(mut self, input: CostlyInput) -> Self {
        self.costly_input = Some(input);
        self
    }
}

fn metrics() -> impl Iterator<Item = &'static Metric> {
    GROUPS.iter().flat_map(|group| group.metrics)
}

/// Returns the columns of all metrics.
pub fn columns() -> Vec<Column> {
    metrics().map(|metric| metric.column.clone()).collect()
}

/// Returns whether one of these columns needs a costly input.
pub fn need(columns: &[Column], input: CostlyInput) -> bool {
    let mut needing = metrics().filter(|metric| metric.costly_input == Some(input));
    needing.any(|metric| columns.iter().any(|column| column.id == metric.column.id))
}

/// Returns the values of all metrics.
pub fn values(input: &MetricInput) -> Values {
    metrics().map(|metric| (metric.column.id.clone(), (metric.value)(input))).collect()
}

/// Returns the values of an oracle or upper bound: all columns, with the values of those that apply to bounds.
pub fn bound_values(input: &MetricInput) -> Values {
    let value = |metric: &Metric| Some(metric).filter(|metric| metric.of_bounds).and_then(|metric| (metric.value)(input));
    metrics().map(|metric| (metric.column.id.clone(), value(metric))).collect()
}

fn count(n: usize) -> Option<f64> {
    Some(n as f64)
}

fn sum(numbers: impl Iterator<Item = u64>) -> f64 {
    numbers.sum::<u64>() as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn metric_column_ids_are_unique() {
        let columns = columns();
        let ids: BTreeSet<_> = columns.iter().map(|column| &column.id).collect();
        assert_eq!(ids.len(), columns.len());
    }

    #[test]
    fn oracle_is_needed_by_efficiency_alone_or_its_denominator() {
        let needing: Vec<_> =
            columns().into_iter().filter(|column| need(std::slice::from_ref(column), CostlyInput::Oracle)).collect();
        assert_eq!(needing.iter().map(|column| column.id.as_ref()).collect::<Vec<_>>(), ["kept.efficiency", "kept.bound"]);
    }
}
