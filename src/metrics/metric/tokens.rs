//! Tokens sent: requests measured by the token counter of the report, system prompt and tools included.
//!
//! The counter sees the text of the messages, not how a provider frames them. If the tokenizer of a model is not public, its
//! count is fitted to recorded usage, or another tokenizer is used. So these columns are estimates: use them to compare
//! policies on the same recordings.

use super::{Metric, MetricInput, count, sum};
use crate::metrics::column::{Aggregation, Column, ColumnId, Direction, Unit};

const SENT: &str = "tokens.sent";
const BASELINE: &str = "tokens.baseline";

pub const METRIC: Metric = Metric {
    name: "tokens",
    about: "model calls replayed, and the tokens sent in their requests",
    columns: &[
        Column::counted("calls", Unit::Count, Direction::Neither, Aggregation::Sum, "recorded model calls that were replayed"),
        Column::estimated(
            BASELINE,
            Unit::Tokens,
            Direction::Neither,
            Aggregation::Sum,
            "tokens of all requests under the baseline policy (keep-all, which never compacts, or --baseline)",
        ),
        Column::estimated(SENT, Unit::Tokens, Direction::Lower, Aggregation::Sum, "tokens of all requests"),
        Column::estimated(
            "tokens.saved",
            Unit::Share,
            Direction::Higher,
            Aggregation::Saving { over: ColumnId::Borrowed(SENT), under: ColumnId::Borrowed(BASELINE) },
            "1 − sent ÷ baseline; tokens, not money: after an edit the rest of the prompt is written to the cache again",
        ),
        Column::estimated("tokens.peak", Unit::Tokens, Direction::Lower, Aggregation::Max, "tokens of the largest request"),
        Column::estimated("tokens.final", Unit::Tokens, Direction::Lower, Aggregation::Mean, "tokens of the last request"),
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
