//! Tokens and faithfulness of summaries: see [`crate::metrics::retention::Summarised`] and
//! [`crate::engine::summarizer::NameCounts`].

use super::{CostlyInput, Metric, MetricGroup, MetricInput, count, sum};
use crate::engine::layer::Attempt;
use crate::engine::summarizer::NameCounts;
use crate::metrics::column::{Aggregation, ColumnId, Direction, Unit};

/// Id of the column `summaries`.
pub const MADE: &str = "summaries";
/// Id of the column `summary.failed`.
pub const FAILED: &str = "summary.failed";
/// Id of the column `summary.tokens_out`.
pub const TOKENS_OUT: &str = "summary.tokens_out";
/// Id of the column `summary.needed`.
pub const NEEDED: &str = "summary.needed";
/// Id of the column `summary.constraints`.
pub const CONSTRAINTS: &str = "summary.constraints";
/// Id of the column `summary.fill`.
pub const FILL: &str = "summary.fill";
/// Id of the column `summary.false`.
pub const FALSE: &str = "summary.false";
/// Id of the column `summary.facts`.
pub const FACTS: &str = "summary.facts";
/// Id of the column `summary.false_facts`.
pub const FALSE_FACTS: &str = "summary.false_facts";
/// Id of the column `summary.recorded`.
pub const RECORDED: &str = "summary.recorded";
/// Id of the column `summary.recorded_tokens`.
pub const RECORDED_TOKENS: &str = "summary.recorded_tokens";
const LIMIT: &str = "summary.limit";
const NEEDED_WEIGHT: &str = "summary.needed_weight";
const RULES: &str = "summary.rules";

pub(super) const GROUP: MetricGroup = MetricGroup {
    name: "summaries",
    about: "summaries made, their tokens, and how well they keep the facts of what they replace",
    metrics: &[
        Metric::counted(MADE, Unit::Count, Direction::Lower, Aggregation::Sum, "summaries made", |input| {
            count(made(input).count())
        }),
        Metric::estimated(
            "summary.tokens_in",
            Unit::Tokens,
            Direction::Lower,
            Aggregation::Sum,
            "tokens of the messages given to the summarizer, without its instructions",
            |input| Some(sum(made(input).map(|attempt| attempt.tokens_in))),
        ),
        Metric::estimated(TOKENS_OUT, Unit::Tokens, Direction::Lower, Aggregation::Sum, "tokens of the summaries", |input| {
            Some(tokens_out(input))
        }),
        Metric::counted(
            NEEDED,
            Unit::Share,
            Direction::Higher,
            Aggregation::Weighted { by: ColumnId::Borrowed(NEEDED_WEIGHT) },
            "of the later uses of facts that only a summary could still hold: the share, by weight, whose request has the \
             fact",
            |input| share(input.retention.summarised.held, input.retention.summarised.needed),
        ),
        Metric::counted(
            FALSE,
            Unit::Share,
            Direction::Lower,
            Aggregation::Ratio { over: ColumnId::Borrowed(FALSE_FACTS), under: ColumnId::Borrowed(FACTS) },
            "share of the paths, file names and identifiers in summaries that do not occur in the summarised messages",
            |input| share(names(input, |names| names.false_facts), names(input, |names| names.facts)),
        )
        .in_detail()
        .needs(CostlyInput::Names),
        Metric::counted(
            CONSTRAINTS,
            Unit::Share,
            Direction::Higher,
            Aggregation::Weighted { by: ColumnId::Borrowed(RULES) },
            "share of the user's instructions that only a summary could still hold and that its message contains word for \
             word",
            |input| share(input.retention.summarised.rules_held as f64, input.retention.summarised.rules as f64),
        )
        .in_detail(),
        Metric::estimated(
            FILL,
            Unit::Share,
            Direction::Neither,
            Aggregation::Ratio { over: ColumnId::Borrowed(TOKENS_OUT), under: ColumnId::Borrowed(LIMIT) },
            "tokens of the summaries ÷ the most that their layers allow",
            |input| share(tokens_out(input), limit(input)),
        )
        .in_detail(),
        Metric::counted(
            FAILED,
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "attempts that gave no summary: empty, cut off, too long or refused",
            |input| count(input.journal.summaries.iter().filter(|summary| summary.attempt.failed).count()),
        )
        .in_detail(),
        Metric::counted(
            RECORDED,
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "readable summaries of the recorded session that the replay left in place; the column summaries does not \
             count them",
            |input| count(input.journal.recorded.len()),
        )
        .in_detail(),
        Metric::estimated(
            RECORDED_TOKENS,
            Unit::Tokens,
            Direction::Neither,
            Aggregation::Sum,
            "tokens of the recorded summaries",
            |input| Some(sum(input.journal.recorded.iter().map(|summary| summary.restored.tokens))),
        )
        .in_detail(),
        Metric::counted(
            FACTS,
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "paths, file names and identifiers in summaries, recorded ones too; each counted once per summary",
            |input| Some(names(input, |names| names.facts)),
        )
        .in_detail()
        .needs(CostlyInput::Names),
        Metric::counted(
            FALSE_FACTS,
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "those of summary.facts that do not occur in the summarised messages",
            |input| Some(names(input, |names| names.false_facts)),
        )
        .in_detail()
        .needs(CostlyInput::Names),
        Metric::counted(
            NEEDED_WEIGHT,
            Unit::Ratio,
            Direction::Neither,
            Aggregation::Sum,
            "weight of the uses that summary.needed is about: its denominator",
            |input| Some(input.retention.summarised.needed),
        )
        .in_detail(),
        Metric::counted(
            RULES,
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "the instructions that summary.constraints is about: its denominator",
            |input| Some(input.retention.summarised.rules as f64),
        )
        .in_detail(),
        Metric::counted(
            LIMIT,
            Unit::Tokens,
            Direction::Neither,
            Aggregation::Sum,
            "the most tokens that their layers allow for the summaries: the denominator of summary.fill",
            |input| Some(limit(input)),
        )
        .in_detail(),
    ],
};

fn made<'a>(input: &MetricInput<'a>) -> impl Iterator<Item = &'a Attempt> {
    input.journal.summaries.iter().map(|summary| &summary.attempt).filter(|attempt| !attempt.failed)
}

fn tokens_out(input: &MetricInput) -> f64 {
    sum(made(input).map(|attempt| attempt.tokens_out))
}

/// The most tokens that the layers allow.
fn limit(input: &MetricInput) -> f64 {
    made(input).map(|attempt| attempt.max_tokens as f64).fold(0.0, |sum, limit| sum + limit)
}

/// Adds up a count over the made and the recorded summaries.
fn names(input: &MetricInput, of: fn(NameCounts) -> u64) -> f64 {
    let recorded = input.journal.recorded.iter().map(|summary| summary.restored.names);
    sum(made(input).map(|attempt| attempt.names).chain(recorded).map(of))
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
