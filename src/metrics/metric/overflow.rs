//! Requests that do not fit the context window.

use super::{Metric, MetricInput, count};
use crate::metrics::column::{Aggregation, Column, Direction, Unit};

pub const METRIC: Metric = Metric {
    name: "overflow",
    about: "requests larger than the context window, and those that no layer could make fit",
    columns: &[
        Column::estimated(
            "overflows",
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "requests larger than the context window before the overflow layers ran",
        ),
        Column::estimated(
            "failed_calls",
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "requests still larger than the window after the overflow layers ran; the replay goes on, as the recorded agent did",
        ),
    ],
    values,
};

fn values(input: &MetricInput) -> Vec<Option<f64>> {
    let requests = &input.journal.requests;
    let over = requests.iter().filter(|request| request.overflowed);
    vec![count(over.count()), count(requests.iter().filter(|request| request.failed).count())]
}
