//! Requests an API would refuse: see [`crate::engine::context::FaultKind`] for the faults that are looked for.

use super::{Measurement, Replayed, count};
use crate::metrics::column::{Better, Column, Combine, Unit};

pub const MEASUREMENT: Measurement = Measurement {
    name: "broken",
    about: "requests an API would refuse: tool pairs, order, duplicate ids, empty content",
    columns: &[Column::counted(
        "broken.requests",
        Unit::Count,
        Better::Lower,
        Combine::Sum,
        "requests an API would refuse; the layer that broke them is named among the layers",
    )],
    values,
};

fn values(replayed: &Replayed) -> Vec<Option<f64>> {
    vec![count(replayed.journal.requests.iter().filter(|request| !request.faults.is_empty()).count())]
}
