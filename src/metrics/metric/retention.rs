//! Information kept: see [`crate::metrics::retention`] for what a hit, a soft miss and a hard miss are.

use super::{Metric, MetricInput, count};
use crate::metrics::column::{Aggregation, Column, ColumnId, Direction, Unit};

const WEIGHT: &str = "kept.weight";
const BOUND: &str = "kept.bound";
/// Filled in when all conversations of a study are known.
pub const CHANCE: &str = "kept.chance";
const RULES: &str = "retention.rules";

/// The columns that a bound has too.
pub const BOUND_COLUMNS: [&str; 4] = ["kept.hit", "kept.hit_macro", "kept.uses", WEIGHT];

const BY_WEIGHT: Aggregation = Aggregation::Weighted { by: ColumnId::Borrowed(WEIGHT) };

pub const METRIC: Metric = Metric {
    name: "kept",
    about: "later uses of earlier facts, looked up in what was sent: still there, recoverable, gone",
    columns: &[
        Column::counted(
            "kept.hit",
            Unit::Share,
            Direction::Higher,
            BY_WEIGHT,
            "of the weight of later uses of earlier facts (two calls or more back): the request still holds the fact",
        ),
        Column::counted(
            "kept.hit_macro",
            Unit::Share,
            Direction::Higher,
            Aggregation::Mean,
            "kept.hit, every conversation alike, however long",
        ),
        Column::counted(
            CHANCE,
            Unit::Share,
            Direction::Lower,
            BY_WEIGHT,
            "placebo: of the same weight, what the whole of another session of the study holds by chance",
        ),
        Column::counted(
            "kept.soft",
            Unit::Share,
            Direction::Neither,
            BY_WEIGHT,
            "it does not, but shows a path, URL or moved file by which the fact can be had again",
        ),
        Column::counted("kept.hard", Unit::Share, Direction::Lower, BY_WEIGHT, "the fact is gone"),
        Column::estimated(
            "kept.efficiency",
            Unit::Ratio,
            Direction::Higher,
            Aggregation::Weighted { by: ColumnId::Borrowed(BOUND) },
            "hit ÷ what a clairvoyant hits in as many tokens at each call; it chooses greedily, so a lucky policy may pass 1",
        ),
        Column::counted(
            "kept.constraints",
            Unit::Share,
            Direction::Higher,
            Aggregation::Weighted { by: ColumnId::Borrowed(RULES) },
            "of the users' rules (never, must, always, only …) given before each call: word for word in the request",
        ),
        Column::estimated(
            "retention.reread_tokens",
            Unit::Tokens,
            Direction::Lower,
            Aggregation::Sum,
            "what fetching again all soft misses is predicted to cost; the replay does not send them",
        ),
        Column::counted(
            "kept.hit_summary",
            Unit::Share,
            Direction::Neither,
            BY_WEIGHT,
            "of kept.hit, the part that only a summary holds",
        )
        .in_detail(),
        Column::counted(
            "kept.hard_stale",
            Unit::Share,
            Direction::Neither,
            BY_WEIGHT,
            "of kept.hard, the part whose file is in sight but was written since: a new reading may or may not hold it",
        )
        .in_detail(),
        Column::counted("kept.uses", Unit::Count, Direction::Neither, Aggregation::Sum, "uses looked up").in_detail(),
        Column::counted(
            WEIGHT,
            Unit::Ratio,
            Direction::Neither,
            Aggregation::Sum,
            "weight of all uses looked up, what shares add up by: ln((1 + blocks) ÷ (1 + blocks that hold the fact)) each",
        )
        .in_detail(),
        Column::estimated(
            BOUND,
            Unit::Ratio,
            Direction::Neither,
            Aggregation::Sum,
            "weight the clairvoyant hits in as many tokens at each call, what efficiencies add up by",
        )
        .in_detail(),
        Column::counted(RULES, Unit::Count, Direction::Neither, Aggregation::Sum, "calls × users' rules given before them")
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
        share(all.hard),
        input.oracle_weight.filter(|bound| *bound > 0.0).map(|bound| all.hit / bound),
        (retention.rules > 0).then(|| retention.rules_held as f64 / retention.rules as f64),
        Some(retention.reread_tokens() as f64),
        share(all.hit_summary),
        share(all.hard_stale),
        count(all.uses as usize),
        Some(all.weight),
        input.oracle_weight,
        Some(retention.rules as f64),
    ]
}
