//! Tokens and faithfulness of summaries: see [`crate::metrics::retention::Summarised`] and
//! [`crate::engine::summarizer::NameCounts`].

use super::{Metric, MetricInput, count, sum};
use crate::metrics::column::{Aggregation, Column, ColumnId, Direction, Unit};

const TOKENS_OUT: ColumnId = ColumnId::Borrowed("summary.tokens_out");
const LIMIT: ColumnId = ColumnId::Borrowed("summary.limit");
const NEEDED_WEIGHT: ColumnId = ColumnId::Borrowed("summary.needed_weight");
const RULES: ColumnId = ColumnId::Borrowed("summary.rules");
const FACTS: ColumnId = ColumnId::Borrowed("summary.facts");
const FALSE_FACTS: ColumnId = ColumnId::Borrowed("summary.false_facts");

pub const METRIC: Metric = Metric {
    name: "summaries",
    about: "summaries made, their tokens, and how well they keep the facts of what they replace",
    columns: &[
        Column::counted("summaries", Unit::Count, Direction::Lower, Aggregation::Sum, "summaries made"),
        Column::estimated(
            "summary.tokens_in",
            Unit::Tokens,
            Direction::Lower,
            Aggregation::Sum,
            "tokens of the messages given to the summarizer, without its instructions",
        ),
        Column::estimated("summary.tokens_out", Unit::Tokens, Direction::Lower, Aggregation::Sum, "tokens of the summaries"),
        Column::counted(
            "summary.needed",
            Unit::Share,
            Direction::Higher,
            Aggregation::Weighted { by: NEEDED_WEIGHT },
            "of the later uses of facts that only a summary could still hold: the share, by weight, whose request has the fact",
        ),
        Column::counted(
            "summary.false",
            Unit::Share,
            Direction::Lower,
            Aggregation::Ratio { over: FALSE_FACTS, under: FACTS },
            "share of the paths, file names and identifiers in summaries that do not occur in the summarised messages",
        )
        .in_detail(),
        Column::counted(
            "summary.constraints",
            Unit::Share,
            Direction::Higher,
            Aggregation::Weighted { by: RULES },
            "share of the user's instructions that only a summary could still hold and that its message contains word for word",
        )
        .in_detail(),
        Column::estimated(
            "summary.fill",
            Unit::Share,
            Direction::Neither,
            Aggregation::Ratio { over: TOKENS_OUT, under: LIMIT },
            "tokens of the summaries ÷ the most that their layers allow",
        )
        .in_detail(),
        Column::counted(
            "summary.failed",
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "attempts that gave no summary: empty, cut off, too long or refused",
        )
        .in_detail(),
        Column::counted(
            "summary.recorded",
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "readable summaries of the recorded session that the replay left in place; the column summaries does not count them",
        )
        .in_detail(),
        Column::estimated(
            "summary.recorded_tokens",
            Unit::Tokens,
            Direction::Neither,
            Aggregation::Sum,
            "tokens of the recorded summaries",
        )
        .in_detail(),
        Column::counted(
            "summary.facts",
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "paths, file names and identifiers in summaries, recorded ones too; each counted once per summary",
        )
        .in_detail(),
        Column::counted(
            "summary.false_facts",
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "those of summary.facts that do not occur in the summarised messages",
        )
        .in_detail(),
        Column::counted(
            "summary.needed_weight",
            Unit::Ratio,
            Direction::Neither,
            Aggregation::Sum,
            "weight of the uses that summary.needed is about: its denominator",
        )
        .in_detail(),
        Column::counted(
            "summary.rules",
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "the instructions that summary.constraints is about: its denominator",
        )
        .in_detail(),
        Column::counted(
            "summary.limit",
            Unit::Tokens,
            Direction::Neither,
            Aggregation::Sum,
            "the most tokens that their layers allow for the summaries: the denominator of summary.fill",
        )
        .in_detail(),
    ],
    values,
};

fn values(input: &MetricInput) -> Vec<Option<f64>> {
    let journal = input.journal;
    let attempts = || journal.summaries.iter().map(|summary| &summary.attempt);
    let made = || attempts().filter(|attempt| !attempt.failed);
    let restored = || journal.recorded.iter().map(|summary| summary.restored);
    let names = || made().map(|attempt| attempt.names).chain(restored().map(|summary| summary.names));
    let tokens_out = sum(made().map(|attempt| attempt.tokens_out));
    let allowed = made().map(|attempt| attempt.max_tokens as f64).fold(0.0, |sum, limit| sum + limit);
    let (facts, false_facts) = (sum(names().map(|names| names.facts)), sum(names().map(|names| names.false_facts)));
    let summarised = &input.retention.summarised;
    let (rules, rules_held) = (summarised.rules as f64, summarised.rules_held as f64);
    let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    vec![
        count(made().count()),
        Some(sum(made().map(|attempt| attempt.tokens_in))),
        Some(tokens_out),
        share(summarised.held, summarised.needed),
        share(false_facts, facts),
        share(rules_held, rules),
        share(tokens_out, allowed),
        count(attempts().filter(|attempt| attempt.failed).count()),
        count(journal.recorded.len()),
        Some(sum(restored().map(|summary| summary.tokens))),
        Some(facts),
        Some(false_facts),
        Some(summarised.needed),
        Some(rules),
        Some(allowed),
    ]
}
