//! Requests an API would refuse: see [`crate::engine::context::FaultKind`] for the faults that are looked for.

use super::{Metric, MetricInput, count};
use crate::metrics::column::{Aggregation, Column, Direction, Unit};

pub const METRIC: Metric = Metric {
    name: "broken",
    about: "requests an API would refuse: tool pairs, order, duplicate ids, empty content",
    columns: &[Column::counted(
        "broken.requests",
        Unit::Count,
        Direction::Lower,
        Aggregation::Sum,
        "requests an API would refuse; the layer that broke them is named among the layers",
    )],
    values,
};

fn values(input: &MetricInput) -> Vec<Option<f64>> {
    vec![count(input.journal.requests.iter().filter(|request| !request.faults.is_empty()).count())]
}
