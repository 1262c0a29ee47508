//! Requests that an API would refuse: see [`crate::engine::context::FaultKind`] for the faults.

use super::{Metric, MetricInput, count};
use crate::metrics::column::{Aggregation, Column, Direction, Unit};

pub const METRIC: Metric = Metric {
    name: "broken",
    about: "requests that an API would refuse: unpaired tool calls, wrong order, duplicate ids, empty content",
    columns: &[Column::counted(
        "broken.requests",
        Unit::Count,
        Direction::Lower,
        Aggregation::Sum,
        "requests that an API would refuse; the table of layers names the layer that broke them",
    )],
    values,
};

fn values(input: &MetricInput) -> Vec<Option<f64>> {
    vec![count(input.journal.requests.iter().filter(|request| request.faults.count() > 0).count())]
}
