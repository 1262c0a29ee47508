//! Requests that do not fit the context window.

use super::{Metric, MetricGroup, count};
use crate::metrics::column::{Aggregation, Direction, Unit};

/// Id of the column `overflows`.
pub const OVERFLOWS: &str = "overflows";
/// Id of the column `failed_calls`.
pub const FAILED_CALLS: &str = "failed_calls";

pub(super) const GROUP: MetricGroup = MetricGroup {
    name: "overflow",
    about: "requests larger than the context window, and those that no layer could make fit",
    metrics: &[
        Metric::estimated(
            OVERFLOWS,
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "requests larger than the context window before the overflow layers ran",
            |input| count(input.journal.requests.iter().filter(|request| request.overflowed).count()),
        ),
        Metric::estimated(
            FAILED_CALLS,
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "requests still larger than the window after the overflow layers ran; the replay goes on, as the recorded \
             agent did",
            |input| count(input.journal.requests.iter().filter(|request| request.failed).count()),
        ),
    ],
};
