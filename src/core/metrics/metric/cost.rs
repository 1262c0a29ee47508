//! Cost in money: see [`crate::metrics::cost`] for what is simulated and what cannot be known.
//!
//! If the prices of a model are unknown, there are ratios and no USD. A conversation has no value at all if the simulation
//! does not reproduce its recorded bill.

use super::{Metric, MetricGroup, MetricInput, Value, count, sum};
use crate::metrics::column::{Aggregation, ColumnId, Direction, Unit};
use crate::metrics::cost::{Cost, CostParts};

/// Id of the column `cost.usd`.
pub const USD: &str = "cost.usd";
/// Id of the column `cost.baseline_usd`.
pub const BASELINE_USD: &str = "cost.baseline_usd";
/// Id of the column `cost.ratio`.
pub const RATIO: &str = "cost.ratio";
/// Id of the column `cost.at_ends`.
pub const AT_ENDS: &str = "cost.at_ends";
/// Id of the column `cost.best_breakpoints`.
pub const BEST_BREAKPOINTS: &str = "cost.best_breakpoints";
/// Id of the column `cost.rereads`.
pub const REREADS: &str = "cost.rereads";
/// Id of the column `saved.rereads_usd`.
pub const SAVED_REREADS: &str = "saved.rereads_usd";
/// Id of the column `cost.read`.
pub const READ: &str = "cost.read";
/// Id of the column `cost.write`.
pub const WRITE: &str = "cost.write";
/// Id of the column `cost.output`.
pub const OUTPUT: &str = "cost.output";
/// Id of the column `cost.summarizer`.
pub const SUMMARIZER: &str = "cost.summarizer";
const NOMINAL: &str = "cost.nominal";
const BASELINE_NOMINAL: &str = "cost.baseline_nominal";
const UNCACHED_NOMINAL: &str = "cost.uncached_nominal";
const BASELINE_UNCACHED_NOMINAL: &str = "cost.baseline_uncached_nominal";
const AT_ENDS_NOMINAL: &str = "cost.at_ends_nominal";
const BASELINE_AT_ENDS_NOMINAL: &str = "cost.baseline_at_ends_nominal";
const AT_BEST_NOMINAL: &str = "cost.best_breakpoints_nominal";
const BASELINE_AT_BEST_NOMINAL: &str = "cost.baseline_best_breakpoints_nominal";
/// Id of the column `cache.read`.
pub const CACHE_READ: &str = "cache.read";
const READ_TOKENS: &str = "cache.read_tokens";
const CACHED_TOKENS: &str = "cache.tokens";

const fn usd(id: &'static str, better: Direction, about: &'static str, value: Value) -> Metric {
    Metric::estimated(id, Unit::Usd, better, Aggregation::Sum, about, value)
}

/// Numerator or denominator of a ratio of costs.
const fn nominal(id: &'static str, about: &'static str, value: Value) -> Metric {
    usd(id, Direction::Neither, about, value).in_detail()
}

/// Numerator or denominator of a ratio of tokens.
const fn tokens(id: &'static str, about: &'static str, value: Value) -> Metric {
    Metric::estimated(id, Unit::Tokens, Direction::Neither, Aggregation::Sum, about, value).in_detail()
}

const fn ratio(over: &'static str, under: &'static str) -> Aggregation {
    Aggregation::Ratio { over: ColumnId::Borrowed(over), under: ColumnId::Borrowed(under) }
}

pub(super) const GROUP: MetricGroup = MetricGroup {
    name: "cost",
    about: "cost with the provider's prompt cache simulated: what requests read from it, and what edits make them write again",
    metrics: &[
        usd(
            USD,
            Direction::Lower,
            "cost of requests, responses and summarizer calls, with the provider's prompt cache simulated",
            |input| in_usd(input, CostParts::total),
        ),
        usd(
            BASELINE_USD,
            Direction::Neither,
            "cost.usd under the baseline policy (keep-all, which never compacts, or --baseline)",
            |input| priced(input)?.1.usd.as_ref().map(CostParts::total),
        ),
        Metric::estimated(
            RATIO,
            Unit::Ratio,
            Direction::Lower,
            ratio(NOMINAL, BASELINE_NOMINAL),
            "cost ÷ baseline cost: a ratio of USD; calls of models without a known price count at $5 per million tokens \
             of input",
            |input| over_baseline(input, CostParts::total),
        ),
        Metric::estimated(
            AT_ENDS,
            Unit::Ratio,
            Direction::Lower,
            ratio(AT_ENDS_NOMINAL, BASELINE_AT_ENDS_NOMINAL),
            "cost.ratio if every policy sets cache breakpoints at the ends of requests: the default, as Claude Code sets them",
            |input| over_baseline(input, |parts| parts.at_ends),
        ),
        Metric::estimated(
            BEST_BREAKPOINTS,
            Unit::Ratio,
            Direction::Lower,
            ratio(AT_BEST_NOMINAL, BASELINE_AT_BEST_NOMINAL),
            "cost.ratio if every policy sets cache breakpoints at the best places, just before the part that its next \
             edit changes",
            |input| over_baseline(input, |parts| parts.at_best),
        )
        .in_detail(),
        Metric::estimated(
            "cost.uncached",
            Unit::Ratio,
            Direction::Neither,
            ratio(UNCACHED_NOMINAL, BASELINE_UNCACHED_NOMINAL),
            "cost.ratio without a prompt cache: the saving that counting tokens alone suggests",
            |input| over_baseline(input, |parts| parts.uncached),
        ),
        usd(READ, Direction::Neither, "part of cost.usd: input read from the prompt cache", |input| {
            in_usd(input, |parts| parts.read)
        }),
        usd(
            WRITE,
            Direction::Neither,
            "part of cost.usd: input written to the prompt cache, and input that is not cached: of requests too short for it, \
             and behind the last breakpoint",
            |input| in_usd(input, |parts| parts.written),
        ),
        usd(
            OUTPUT,
            Direction::Neither,
            "part of cost.usd: responses as recorded, or as counted if the recording holds only a stream's placeholder",
            |input| in_usd(input, |parts| parts.output),
        ),
        usd(
            SUMMARIZER,
            Direction::Lower,
            "part of cost.usd: summarizer calls, without the tokens of the summarizer's instructions; for recorded, those of \
             the recorded agent",
            |input| in_usd(input, |parts| parts.summarizer),
        ),
        usd(
            REREADS,
            Direction::Lower,
            "not in cost.usd: the most that fetching all recoverable facts (soft misses) again would add; the least is \
             nothing",
            |input| in_usd(input, |parts| parts.rereads),
        ),
        usd(
            SAVED_REREADS,
            Direction::Higher,
            "not in cost.usd: the most that the recorded fetches of saved.rereads cost; the least is nothing, as an agent may \
             fetch again what it has",
            |input| in_usd(input, |parts| parts.saved_rereads),
        )
        .in_detail(),
        Metric::estimated(
            CACHE_READ,
            Unit::Share,
            Direction::Higher,
            ratio(READ_TOKENS, CACHED_TOKENS),
            "share of the sent tokens that the provider reads from its prompt cache",
            |input| {
                priced(input).filter(|(cost, _)| cost.tokens > 0).map(|(cost, _)| cost.cache_read as f64 / cost.tokens as f64)
            },
        ),
        Metric::estimated(
            "cache.breaks",
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "cache invalidations: requests before which an edit changed a prefix that was still cached",
            |input| count(priced(input)?.0.breaks.len()),
        ),
        Metric::estimated(
            "cache.rebilled",
            Unit::Tokens,
            Direction::Lower,
            Aggregation::Sum,
            "tokens written to the cache again after cache invalidations: tokens sent before, and tokens that the edits \
             put in",
            |input| Some(sum(priced(input)?.0.breaks.iter().map(|broken| broken.what.rebilled))),
        ),
        nominal(
            NOMINAL,
            "cost in USD, calls of models without a known price at a nominal one: the numerator of cost.ratio",
            |input| of_policy(input, CostParts::total),
        ),
        nominal(BASELINE_NOMINAL, "cost.nominal under the baseline policy: the denominator of cost.ratio", |input| {
            of_baseline(input, CostParts::total)
        }),
        nominal(UNCACHED_NOMINAL, "cost.nominal without a prompt cache: the numerator of cost.uncached", |input| {
            of_policy(input, |parts| parts.uncached)
        }),
        nominal(
            BASELINE_UNCACHED_NOMINAL,
            "cost.uncached_nominal under the baseline policy: the denominator of cost.uncached",
            |input| of_baseline(input, |parts| parts.uncached),
        ),
        nominal(
            AT_ENDS_NOMINAL,
            "cost.nominal with cache breakpoints at the ends of requests: the numerator of cost.at_ends",
            |input| of_policy(input, |parts| parts.at_ends),
        ),
        nominal(
            BASELINE_AT_ENDS_NOMINAL,
            "cost.at_ends_nominal under the baseline policy: the denominator of cost.at_ends",
            |input| of_baseline(input, |parts| parts.at_ends),
        ),
        nominal(
            AT_BEST_NOMINAL,
            "cost.nominal with cache breakpoints at the best places: the numerator of cost.best_breakpoints",
            |input| of_policy(input, |parts| parts.at_best),
        ),
        nominal(
            BASELINE_AT_BEST_NOMINAL,
            "cost.best_breakpoints_nominal under the baseline policy: the denominator of cost.best_breakpoints",
            |input| of_baseline(input, |parts| parts.at_best),
        ),
        tokens(READ_TOKENS, "tokens read from the prompt cache: the numerator of cache.read", |input| {
            Some(priced(input)?.0.cache_read as f64)
        }),
        tokens(
            CACHED_TOKENS,
            "tokens sent in conversations that could be priced, as recorded where the request is the recorded one: the denominator of \
             cache.read",
            |input| Some(priced(input)?.0.tokens as f64),
        ),
    ],
};

/// A policy and its baseline are compared by cost only if both could be priced.
fn priced<'a>(input: &MetricInput<'a>) -> Option<(&'a Cost, &'a Cost)> {
    Some((input.cost?, input.baseline_cost?))
}

fn in_usd(input: &MetricInput, part: fn(&CostParts) -> f64) -> Option<f64> {
    priced(input)?.0.usd.as_ref().map(part)
}

fn of_policy(input: &MetricInput, part: fn(&CostParts) -> f64) -> Option<f64> {
    Some(part(&priced(input)?.0.nominal))
}

fn of_baseline(input: &MetricInput, part: fn(&CostParts) -> f64) -> Option<f64> {
    Some(part(&priced(input)?.1.nominal))
}

fn over_baseline(input: &MetricInput, part: fn(&CostParts) -> f64) -> Option<f64> {
    let baseline = of_baseline(input, part).filter(|usd| *usd > 0.0)?;
    Some(of_policy(input, part)? / baseline)
}
