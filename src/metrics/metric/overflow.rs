//! Requests that do not fit the window.

use super::{Measurement, Replayed, count};
use crate::metrics::column::{Better, Column, Combine, Unit};

pub const MEASUREMENT: Measurement = Measurement {
    name: "overflow",
    about: "requests over the context window, and those that no layer could save",
    columns: &[
        Column::estimated(
            "overflows",
            Unit::Count,
            Better::Lower,
            Combine::Sum,
            "requests over the window when they were about to be sent",
        ),
        Column::estimated(
            "failed_calls",
            Unit::Count,
            Better::Lower,
            Combine::Sum,
            "requests still over it after the overflow layers ran; the replay goes on, as the recorded agent did",
        ),
    ],
    values,
};

fn values(replayed: &Replayed) -> Vec<Option<f64>> {
    let requests = &replayed.journal.requests;
    let over = requests.iter().filter(|request| request.overflowed);
    vec![count(over.count()), count(requests.iter().filter(|request| request.failed).count())]
}
