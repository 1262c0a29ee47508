//! Requests that an API would refuse: see [`crate::engine::context::FaultKind`] for the faults.

use super::{Metric, MetricGroup, count};
use crate::metrics::column::{Aggregation, Direction, Unit};

pub const REQUESTS: &str = "broken.requests";

pub const GROUP: MetricGroup = MetricGroup {
    name: "broken",
    about: "requests that an API would refuse: unpaired tool calls, wrong order, duplicate ids, empty content",
    metrics: &[Metric::counted(
        REQUESTS,
        Unit::Count,
        Direction::Lower,
        Aggregation::Sum,
        "requests that an API would refuse; the table of layers names the layer that broke them",
        |input| count(input.journal.requests.iter().filter(|request| request.faults.count() > 0).count()),
    )],
};
