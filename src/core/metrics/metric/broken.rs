//! Requests that an API would refuse: see [`crate::engine::context::FaultKind`] for the faults.

use super::{Metric, MetricGroup, MetricInput, count};
use crate::engine::journal::Request;
use crate::metrics::column::{Aggregation, Direction, Unit};

/// Id of the column `broken.requests`.
pub const REQUESTS: &str = "broken.requests";

/// What of them the policy is to blame for.
pub const CAUSED: &str = "broken.caused";

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
            CAUSED,
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "requests that the policy made malformed: an API would refuse them, and would accept those of the baseline at the same \
             calls",
            |input| count(caused(input)),
        )
        .in_detail(),
    ],
};

fn broken(input: &MetricInput) -> usize {
    input.journal.requests.iter().filter(|request| is_broken(request)).count()
}

fn caused(input: &MetricInput) -> usize {
    let is_caused = |request: &&Request| is_broken(request) && !input.baseline.request(request.call).is_some_and(is_broken);
    input.journal.requests.iter().filter(is_caused).count()
}

fn is_broken(request: &Request) -> bool {
    request.faults.count() > 0
}
