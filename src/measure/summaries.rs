//! What summaries cost in tokens.

use super::{Measurement, Replayed, count, sum};
use crate::column::{Better, Column, Combine, Unit};

pub const MEASUREMENT: Measurement = Measurement {
    name: "summaries",
    about: "calls of the summarizer that gave a summary, and their tokens",
    columns: &[
        Column::counted("summaries", Unit::Count, Better::Lower, Combine::Sum, "summaries made"),
        Column::estimated(
            "summary.tokens_in",
            Unit::Tokens,
            Better::Lower,
            Combine::Sum,
            "tokens of the messages the summarizer was given; its instructions are not among them",
        ),
        Column::estimated("summary.tokens_out", Unit::Tokens, Better::Lower, Combine::Sum, "tokens of the summaries"),
    ],
    values,
};

fn values(replayed: &Replayed) -> Vec<Option<f64>> {
    let made = || replayed.journal.summaries.iter().filter(|summary| !summary.failed);
    vec![
        count(made().count()),
        Some(sum(made().map(|summary| summary.tokens_in))),
        Some(sum(made().map(|summary| summary.tokens_out))),
    ]
}
