//! Facts that the agent used again: see [`crate::metrics::retention`] for hits, soft misses and hard misses.

use super::tokens::CALLS;
use super::{CostlyInput, Metric, MetricGroup, MetricInput, count};
use crate::metrics::column::{Aggregation, ColumnId, Direction, Unit};
use crate::metrics::retention::OutcomeWeights;

/// Id of the column `kept.hit`.
pub const HIT: &str = "kept.hit";
/// Id of the column `kept.soft`.
pub const SOFT: &str = "kept.soft";
/// Id of the column `kept.stale`.
pub const STALE: &str = "kept.stale";
/// Id of the column `kept.hard`.
pub const HARD: &str = "kept.hard";
/// Id of the column `kept.constraints`.
pub const CONSTRAINTS: &str = "kept.constraints";
/// Id of the column `kept.rules_cut`.
pub const RULES_CUT: &str = "kept.rules_cut";
/// Filled in when all conversations of a study are known.
pub const CHANCE: &str = "kept.chance";
/// Id of the column `risk.uses`.
pub const RISK_USES: &str = "risk.uses";
/// Id of the column `risk.hit`.
pub const RISK_HIT: &str = "risk.hit";
/// Id of the column `risk.soft`.
pub const RISK_SOFT: &str = "risk.soft";
/// Id of the column `risk.hard`.
pub const RISK_HARD: &str = "risk.hard";
const RISK_WEIGHT: &str = "risk.weight";
const WEIGHT: &str = "kept.weight";
const BOUND: &str = "kept.bound";
const RULES: &str = "kept.rules";

const BY_WEIGHT: Aggregation = Aggregation::Weighted { by: ColumnId::Borrowed(WEIGHT) };

const BY_RISK: Aggregation = Aggregation::Weighted { by: ColumnId::Borrowed(RISK_WEIGHT) };

pub(super) const GROUP: MetricGroup = MetricGroup {
    name: "kept",
    about: "facts that the agent used again: still in the context, recoverable, or lost for good",
    metrics: &[
        Metric::counted(
            HIT,
            Unit::Share,
            Direction::Higher,
            BY_WEIGHT,
            "facts in context: share of the later uses of facts (last seen two or more calls before) whose request still \
             contains the fact; a use weighs the bits that a model loses without the fact",
            |input| share(input, |all| all.hit),
        )
        .of_bounds(),
        Metric::counted(
            "kept.hit_macro",
            Unit::Share,
            Direction::Higher,
            Aggregation::Mean,
            "mean of kept.hit over the conversations, each with the same weight, however long",
            |input| share(input, |all| all.hit),
        )
        .of_bounds(),
        Metric::counted(
            CHANCE,
            Unit::Share,
            Direction::Lower,
            BY_WEIGHT,
            "placebo: share of the uses of kept.hit whose fact another whole session of the study contains by chance",
            |_| None,
        ),
        Metric::counted(
            SOFT,
            Unit::Share,
            Direction::Neither,
            BY_WEIGHT,
            "recoverable facts: share of the uses whose request lacks the fact but names a path, URL or moved file to get \
             it from",
            |input| share(input, |all| all.soft),
        ),
        Metric::counted(
            STALE,
            Unit::Share,
            Direction::Neither,
            BY_WEIGHT,
            "stale facts: share of the uses whose request names a file to get the fact from that was written since, so \
             that reading it again may or may not help",
            |input| share(input, |all| all.stale),
        ),
        Metric::counted(
            HARD,
            Unit::Share,
            Direction::Lower,
            BY_WEIGHT,
            "facts lost for good: share of the uses whose fact is neither in the request nor recoverable nor stale",
            |input| share(input, |all| all.hard),
        ),
        Metric::estimated(
            "kept.efficiency",
            Unit::Ratio,
            Direction::Higher,
            Aggregation::Weighted { by: ColumnId::Borrowed(BOUND) },
            "share of the oracle: hits ÷ hits of an oracle that knows the future, with the same tokens at each call; the \
             oracle keeps whole blocks and chooses greedily, so a policy that keeps parts of blocks or is lucky may \
             exceed 1",
            |input| input.oracle_weight.filter(|bound| *bound > 0.0).map(|bound| input.retention.all.hit / bound),
        )
        .needs(CostlyInput::Oracle),
        Metric::counted(
            CONSTRAINTS,
            Unit::Share,
            Direction::Higher,
            Aggregation::Weighted { by: ColumnId::Borrowed(RULES) },
            "share of the user's instructions (what must or must not be, the first message, what is repeated; in any \
             language) given so far that a request contains word for word",
            |input| (input.retention.rules > 0).then(|| input.retention.rules_held as f64 / input.retention.rules as f64),
        ),
        Metric::estimated(
            "kept.bits_lost",
            Unit::Ratio,
            Direction::Lower,
            Aggregation::Weighted { by: ColumnId::Borrowed(CALLS) },
            "bits lost: how much more the used facts that are gone surprise a model, for each call; learned from \
             small models by kind and length. 10 bits: the right text is a thousand times less probable",
            |input| {
                let calls = input.journal.requests.len();
                let OutcomeWeights { weight, hit, .. } = input.retention.all;
                (calls > 0).then(|| (weight - hit) / calls as f64)
            },
        )
        .in_detail(),
        Metric::estimated(
            "kept.reread_tokens",
            Unit::Tokens,
            Direction::Lower,
            Aggregation::Sum,
            "predicted tokens to fetch all recoverable facts again; the replay does not send them",
            |input| Some(input.retention.reread_tokens() as f64),
        ),
        Metric::estimated(
            "saved.rereads",
            Unit::Tokens,
            Direction::Higher,
            Aggregation::Sum,
            "tokens that the recorded agent fetched again after its compactions, although under this policy all that it used \
             of them was still in the context, and no file was written in between: a bound, no saving",
            |input| Some(input.retention.saved.iter().map(|reread| reread.tokens).sum::<u64>() as f64),
        )
        .in_detail(),
        Metric::counted(
            RISK_USES,
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "uses at risk: later uses of facts whose text the policy had removed, moved or summarised by then",
            |input| count(input.retention.at_risk.uses as usize),
        ),
        Metric::counted(
            RISK_HIT,
            Unit::Share,
            Direction::Higher,
            BY_RISK,
            "share of the uses at risk whose fact is still in the context: in a summary, a preview, a shortened result",
            |input| at_risk(input, |risk| risk.hit),
        ),
        Metric::counted(
            RISK_SOFT,
            Unit::Share,
            Direction::Neither,
            BY_RISK,
            "share of the uses at risk whose fact is recoverable",
            |input| at_risk(input, |risk| risk.soft),
        )
        .in_detail(),
        Metric::counted(
            "risk.stale",
            Unit::Share,
            Direction::Neither,
            BY_RISK,
            "share of the uses at risk whose fact is stale",
            |input| at_risk(input, |risk| risk.stale),
        )
        .in_detail(),
        Metric::counted(
            RISK_HARD,
            Unit::Share,
            Direction::Lower,
            BY_RISK,
            "share of the uses at risk whose fact is lost for good",
            |input| at_risk(input, |risk| risk.hard),
        ),
        Metric::counted(
            RISK_WEIGHT,
            Unit::Ratio,
            Direction::Neither,
            Aggregation::Sum,
            "weight of the uses at risk in bits: the denominator of their shares",
            |input| Some(input.retention.at_risk.weight),
        )
        .in_detail(),
        Metric::counted(
            "kept.hit_summary",
            Unit::Share,
            Direction::Neither,
            BY_WEIGHT,
            "part of kept.hit whose fact only a summary contains",
            |input| share(input, |all| all.hit_summary),
        )
        .in_detail(),
        Metric::counted(
            "kept.hard_stale",
            Unit::Share,
            Direction::Neither,
            BY_WEIGHT,
            "kept.stale, and the uses of kept.soft that are quoted from a changed file; with kept.hard, all uses whose fact \
             cannot be read again from an unchanged file",
            |input| share(input, |all| all.stale + all.soft_quoted),
        )
        .in_detail(),
        Metric::counted(
            "kept.uses",
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "later uses of facts that were looked up",
            |input| count(input.retention.all.uses as usize),
        )
        .in_detail()
        .of_bounds(),
        Metric::counted(
            WEIGHT,
            Unit::Ratio,
            Direction::Neither,
            Aggregation::Sum,
            "weight of all uses in bits, the denominator of shares: what a model would lose without any of these facts, \
             by their kinds and lengths",
            |input| Some(input.retention.all.weight),
        )
        .in_detail()
        .of_bounds(),
        Metric::estimated(
            BOUND,
            Unit::Ratio,
            Direction::Neither,
            Aggregation::Sum,
            "weight of the uses that the oracle hits with the same tokens at each call: the denominator of kept.efficiency",
            |input| input.oracle_weight,
        )
        .in_detail()
        .needs(CostlyInput::Oracle),
        Metric::counted(
            RULES,
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "calls × user instructions given before them: the denominator of kept.constraints",
            |input| Some(input.retention.rules as f64),
        )
        .in_detail(),
        Metric::counted(
            RULES_CUT,
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "user instructions that a layer cut out of a text, so that the request after it lacked them; each counted once",
            |input| Some(input.retention.rules_cut as f64),
        )
        .in_detail(),
    ],
};

/// Share of the weight of the uses at risk; `None` without one.
fn at_risk(input: &MetricInput, part: fn(&OutcomeWeights) -> f64) -> Option<f64> {
    let risk = &input.retention.at_risk;
    (risk.weight > 0.0).then(|| part(risk) / risk.weight)
}

/// Share of the weight of all uses; `None` without a use.
fn share(input: &MetricInput, part: fn(&OutcomeWeights) -> f64) -> Option<f64> {
    let all = &input.retention.all;
    (all.weight > 0.0).then(|| part(all) / all.weight)
}
