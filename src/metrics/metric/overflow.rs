//! Requests that do not fit the window.

use super::{Metric, MetricInput, count};
use crate::metrics::column::{Aggregation, Column, Direction, Unit};

pub const METRIC: Metric = Metric {
    name: "overflow",
    about: "requests over the context window, and those that no layer could save",
    columns: &[
        Column::estimated(
            "overflows",
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "requests over the window when they were about to be sent",
        ),
        Column::estimated(
            "failed_calls",
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "requests still over it after the overflow layers ran; the replay goes on, as the recorded agent did",
        ),
    ],
    values,
};

fn values(input: &MetricInput) -> Vec<Option<f64>> {
    let requests = &input.journal.requests;
    let over = requests.iter().filter(|request| request.overflowed);
    vec![count(over.count()), count(requests.iter().filter(|request| request.failed).count())]
}
