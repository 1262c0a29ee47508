//! Requests that an API would refuse: see [`crate::engine::context::FaultKind`] for the faults.

use super::tokens::CALLS;
use super::{Metric, MetricGroup, MetricInput, count};
use crate::metrics::column::{Aggregation, ColumnId, Direction, Unit};

pub(crate) const REQUESTS: &str = "broken.requests";

pub(super) const GROUP: MetricGroup = MetricGroup {
    name: "broken",
    about: "requests that an API would refuse: unpaired tool calls, wrong order, duplicate ids, empty content",
    metrics: &[
        Metric::counted(
            REQUESTS,
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "requests that an API would refuse; the table of layers names the layer that broke them",
            |input| count(broken(input)),
        ),
        Metric::counted(
            "broken.share",
            Unit::Share,
            Direction::Lower,
            Aggregation::Ratio { over: ColumnId::Borrowed(REQUESTS), under: ColumnId::Borrowed(CALLS) },
            "broken.requests ÷ calls: to compare sets of sessions that differ in length",
            |input| {
                Some(input.journal.requests.len()).filter(|calls| *calls > 0).map(|calls| broken(input) as f64 / calls as f64)
            },
        )
        .in_detail(),
    ],
};

fn broken(input: &MetricInput) -> usize {
    input.journal.requests.iter().filter(|request| request.faults.count() > 0).count()
}
