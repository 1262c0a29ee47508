//! Tokens sent: requests measured by the token counter of the report, system prompt and tools included.
//!
//! The counter sees the text of the messages, not how a provider frames them. If the tokenizer of a model is not public, its
//! count is fitted to recorded usage, or another tokenizer is used. So these columns are estimates: use them to compare
//! policies on the same recordings.

use super::{Metric, MetricGroup, count, sum};
use crate::engine::journal::Journal;
use crate::metrics::column::{Aggregation, ColumnId, Direction, Unit};

/// Id of the column `calls`.
pub const CALLS: &str = "calls";
/// Id of the column `tokens.sent`.
pub const SENT: &str = "tokens.sent";
/// Id of the column `tokens.baseline`.
pub const BASELINE: &str = "tokens.baseline";
/// Id of the column `tokens.saved`.
pub const SAVED: &str = "tokens.saved";

pub(super) const GROUP: MetricGroup = MetricGroup {
    name: "tokens",
    about: "model calls replayed, and the tokens sent in their requests",
    metrics: &[
        Metric::counted(
            CALLS,
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "recorded model calls that were replayed",
            |input| count(input.journal.requests.len()),
        )
        .of_bounds(),
        Metric::estimated(
            BASELINE,
            Unit::Tokens,
            Direction::Neither,
            Aggregation::Sum,
            "tokens of all requests under the baseline policy (keep-all, which never compacts, or --baseline)",
            |input| Some(sent(input.baseline)),
        )
        .of_bounds(),
        Metric::estimated(SENT, Unit::Tokens, Direction::Lower, Aggregation::Sum, "tokens of all requests", |input| {
            Some(sent(input.journal))
        })
        .of_bounds(),
        Metric::estimated(
            SAVED,
            Unit::Share,
            Direction::Higher,
            Aggregation::Saving { over: ColumnId::Borrowed(SENT), under: ColumnId::Borrowed(BASELINE) },
            "1 − sent ÷ baseline; tokens, not money: after an edit the rest of the prompt is written to the cache again",
            |input| {
                Some(sent(input.baseline)).filter(|baseline| *baseline > 0.0).map(|baseline| 1.0 - sent(input.journal) / baseline)
            },
        )
        .of_bounds(),
        Metric::estimated(
            "tokens.peak",
            Unit::Tokens,
            Direction::Lower,
            Aggregation::Max,
            "tokens of the largest request",
            |input| input.journal.requests.iter().map(|request| request.tokens as f64).reduce(f64::max),
        )
        .of_bounds(),
        Metric::estimated(
            "tokens.final",
            Unit::Tokens,
            Direction::Lower,
            Aggregation::Mean,
            "tokens of the last request",
            |input| input.journal.requests.last().map(|request| request.tokens as f64),
        )
        .of_bounds(),
    ],
};

/// Tokens of all requests of a replay.
pub(super) fn sent(journal: &Journal) -> f64 {
    sum(journal.requests.iter().map(|request| request.tokens))
}
