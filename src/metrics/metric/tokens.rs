//! How much was sent: requests by the report's own counter, overhead included.
//!
//! The counter sees the text of the messages. It does not see how a provider frames them, and where a model's tokenizer is
//! not public its count is fitted to recorded usage, or that of another: the columns are estimates, good for comparing policies
//! on the same record.

use super::{Metric, MetricInput, count, sum};
use crate::metrics::column::{Aggregation, Column, ColumnId, Direction, Unit};

const SENT: &str = "tokens.sent";
const BASELINE: &str = "tokens.baseline";

pub const METRIC: Metric = Metric {
    name: "tokens",
    about: "requests replayed, and the tokens that were sent in them",
    columns: &[
        Column::counted("calls", Unit::Count, Direction::Neither, Aggregation::Sum, "recorded model calls replayed"),
        Column::estimated(
            BASELINE,
            Unit::Tokens,
            Direction::Neither,
            Aggregation::Sum,
            "sum over calls of the request's tokens under the policy compared with (keep-all, or --baseline)",
        ),
        Column::estimated(SENT, Unit::Tokens, Direction::Lower, Aggregation::Sum, "sum over calls of the request's tokens"),
        Column::estimated(
            "tokens.saved",
            Unit::Share,
            Direction::Higher,
            Aggregation::Saving { over: ColumnId::Borrowed(SENT), under: ColumnId::Borrowed(BASELINE) },
            "1 − sent ÷ baseline; tokens, not money: an edit makes the provider cache the rest of the prompt again",
        ),
        Column::estimated("tokens.peak", Unit::Tokens, Direction::Lower, Aggregation::Max, "the largest request"),
        Column::estimated("tokens.final", Unit::Tokens, Direction::Lower, Aggregation::Mean, "the last request"),
    ],
    values,
};

fn values(input: &MetricInput) -> Vec<Option<f64>> {
    let requests = &input.journal.requests;
    let sent = sum(requests.iter().map(|request| request.tokens));
    let baseline = sum(input.baseline.requests.iter().map(|request| request.tokens));
    vec![
        count(requests.len()),
        Some(baseline),
        Some(sent),
        (baseline > 0.0).then(|| 1.0 - sent / baseline),
        requests.iter().map(|request| request.tokens as f64).reduce(f64::max),
        requests.last().map(|request| request.tokens as f64),
    ]
}
