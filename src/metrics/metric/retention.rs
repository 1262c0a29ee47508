//! Facts that the agent used again: see [`crate::metrics::retention`] for hits, soft misses and hard misses.

use super::{Metric, MetricInput, count};
use crate::metrics::column::{Aggregation, Column, ColumnId, Direction, Unit};

const WEIGHT: &str = "kept.weight";
const BOUND: &str = "kept.bound";
/// Filled in when all conversations of a study are known.
pub const CHANCE: &str = "kept.chance";
const RULES: &str = "kept.rules";

/// Columns that a bound also has.
pub const BOUND_COLUMNS: [&str; 4] = ["kept.hit", "kept.hit_macro", "kept.uses", WEIGHT];

const BY_WEIGHT: Aggregation = Aggregation::Weighted { by: ColumnId::Borrowed(WEIGHT) };

pub const METRIC: Metric = Metric {
    name: "kept",
    about: "facts that the agent used again: still in the context, recoverable, or lost for good",
    columns: &[
        Column::counted(
            "kept.hit",
            Unit::Share,
            Direction::Higher,
            BY_WEIGHT,
            "facts in context: share of the later uses of facts (last seen two or more calls before) whose request still \
             contains the fact; rare facts weigh more",
        ),
        Column::counted(
            "kept.hit_macro",
            Unit::Share,
            Direction::Higher,
            Aggregation::Mean,
            "mean of kept.hit over the conversations, each with the same weight, however long",
        ),
        Column::counted(
            CHANCE,
            Unit::Share,
            Direction::Lower,
            BY_WEIGHT,
            "placebo: share of the uses of kept.hit whose fact another whole session of the study contains by chance",
        ),
        Column::counted(
            "kept.soft",
            Unit::Share,
            Direction::Neither,
            BY_WEIGHT,
            "recoverable facts: share of the uses whose request lacks the fact but names a path, URL or moved file to get it from",
        ),
        Column::counted(
            "kept.stale",
            Unit::Share,
            Direction::Neither,
            BY_WEIGHT,
            "stale facts: share of the uses whose request names a file to get the fact from that was written since, so that reading \
             it again may or may not help",
        ),
        Column::counted(
            "kept.hard",
            Unit::Share,
            Direction::Lower,
            BY_WEIGHT,
            "facts lost for good: share of the uses whose fact is neither in the request nor recoverable nor stale",
        ),
        Column::estimated(
            "kept.efficiency",
            Unit::Ratio,
            Direction::Higher,
            Aggregation::Weighted { by: ColumnId::Borrowed(BOUND) },
            "share of the oracle: hits ÷ hits of an oracle that knows the future, with the same tokens at each call; the oracle \
             keeps whole blocks and chooses greedily, so a policy that keeps parts of blocks or is lucky may exceed 1",
        ),
        Column::counted(
            "kept.constraints",
            Unit::Share,
            Direction::Higher,
            Aggregation::Weighted { by: ColumnId::Borrowed(RULES) },
            "share of the user's instructions (never, must, always, only …) given so far that a request contains word for word",
        ),
        Column::estimated(
            "kept.reread_tokens",
            Unit::Tokens,
            Direction::Lower,
            Aggregation::Sum,
            "predicted tokens to fetch all recoverable facts again; the replay does not send them",
        ),
        Column::counted(
            "kept.hit_summary",
            Unit::Share,
            Direction::Neither,
            BY_WEIGHT,
            "part of kept.hit whose fact only a summary contains",
        )
        .in_detail(),
        Column::counted(
            "kept.hard_stale",
            Unit::Share,
            Direction::Neither,
            BY_WEIGHT,
            "uses whose file is named in the request but was written since: kept.stale, and the part of kept.soft that quotes the \
             file as it now is; with kept.hard, all uses whose fact cannot be read again from an unchanged file",
        )
        .in_detail(),
        Column::counted(
            "kept.uses",
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "later uses of facts that were looked up",
        )
        .in_detail(),
        Column::counted(
            WEIGHT,
            Unit::Ratio,
            Direction::Neither,
            Aggregation::Sum,
            "weight of all uses, the denominator of shares; a use weighs ln((1 + blocks) ÷ (1 + blocks that contain the fact))",
        )
        .in_detail(),
        Column::estimated(
            BOUND,
            Unit::Ratio,
            Direction::Neither,
            Aggregation::Sum,
            "weight of the uses that the oracle hits with the same tokens at each call: the denominator of kept.efficiency",
        )
        .in_detail(),
        Column::counted(
            RULES,
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "calls × user instructions given before them: the denominator of kept.constraints",
        )
        .in_detail(),
    ],
    values,
};

fn values(input: &MetricInput) -> Vec<Option<f64>> {
    let retention = input.retention;
    let all = &retention.all;
    let share = |part: f64| (all.weight > 0.0).then(|| part / all.weight);
    vec![
        share(all.hit),
        share(all.hit),
        None,
        share(all.soft),
        share(all.stale),
        share(all.hard),
        input.oracle_weight.filter(|bound| *bound > 0.0).map(|bound| all.hit / bound),
        (retention.rules > 0).then(|| retention.rules_held as f64 / retention.rules as f64),
        Some(retention.reread_tokens() as f64),
        share(all.hit_summary),
        share(all.stale + all.soft_quoted),
        count(all.uses as usize),
        Some(all.weight),
        input.oracle_weight,
        Some(retention.rules as f64),
    ]
}
