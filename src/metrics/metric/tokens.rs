//! How much was sent: requests by the report's own counter, overhead included.
//!
//! The counter sees the text of the messages. It does not see how a provider frames them, and where a model's tokenizer is
//! not public its count is fitted to recorded usage, or that of another: the columns are estimates, good for comparing policies
//! on the same record.

use super::{Measurement, Replayed, count, sum};
use crate::metrics::column::{Better, Column, Combine, Id, Unit};

const SENT: &str = "tokens.sent";
const BASELINE: &str = "tokens.baseline";

pub const MEASUREMENT: Measurement = Measurement {
    name: "tokens",
    about: "requests replayed, and the tokens that were sent in them",
    columns: &[
        Column::counted("calls", Unit::Count, Better::Neither, Combine::Sum, "recorded model calls replayed"),
        Column::estimated(
            BASELINE,
            Unit::Tokens,
            Better::Neither,
            Combine::Sum,
            "sum over calls of the request's tokens under the policy compared with (keep-all, or --baseline)",
        ),
        Column::estimated(SENT, Unit::Tokens, Better::Lower, Combine::Sum, "sum over calls of the request's tokens"),
        Column::estimated(
            "tokens.saved",
            Unit::Share,
            Better::Higher,
            Combine::Saving { over: Id::Borrowed(SENT), under: Id::Borrowed(BASELINE) },
            "1 − sent ÷ baseline; tokens, not money: an edit makes the provider cache the rest of the prompt again",
        ),
        Column::estimated("tokens.peak", Unit::Tokens, Better::Lower, Combine::Max, "the largest request"),
        Column::estimated("tokens.final", Unit::Tokens, Better::Lower, Combine::Mean, "the last request"),
    ],
    values,
};

fn values(replayed: &Replayed) -> Vec<Option<f64>> {
    let requests = &replayed.journal.requests;
    let sent = sum(requests.iter().map(|request| request.tokens));
    let baseline = sum(replayed.baseline.requests.iter().map(|request| request.tokens));
    vec![
        count(requests.len()),
        Some(baseline),
        Some(sent),
        (baseline > 0.0).then(|| 1.0 - sent / baseline),
        requests.iter().map(|request| request.tokens as f64).reduce(f64::max),
        requests.last().map(|request| request.tokens as f64),
    ]
}
