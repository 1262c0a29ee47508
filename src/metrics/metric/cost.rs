//! Cost in money: see [`crate::metrics::cost`] for what is simulated and what cannot be known.
//!
//! If the prices of a model are unknown, there are ratios and no USD. A conversation has no value at all if the simulation
//! does not reproduce its recorded bill.

use super::{Metric, MetricInput, count};
use crate::metrics::column::{Aggregation, Column, ColumnId, Direction, Unit};
use crate::metrics::cost::CostParts;

const NOMINAL: &str = "cost.nominal";
const BASELINE_NOMINAL: &str = "cost.baseline_nominal";
const UNCACHED_NOMINAL: &str = "cost.uncached_nominal";
const BASELINE_UNCACHED_NOMINAL: &str = "cost.baseline_uncached_nominal";
const AT_ENDS_NOMINAL: &str = "cost.at_ends_nominal";
const BASELINE_AT_ENDS_NOMINAL: &str = "cost.baseline_at_ends_nominal";
const AT_BEST_NOMINAL: &str = "cost.best_breakpoints_nominal";
const BASELINE_AT_BEST_NOMINAL: &str = "cost.baseline_best_breakpoints_nominal";
const READ_TOKENS: &str = "cache.read_tokens";
const CACHED_TOKENS: &str = "cache.tokens";

const fn usd(id: &'static str, better: Direction, about: &'static str) -> Column {
    Column::estimated(id, Unit::Usd, better, Aggregation::Sum, about)
}

const fn nominal(id: &'static str, about: &'static str) -> Column {
    Column::estimated(id, Unit::Usd, Direction::Neither, Aggregation::Sum, about).in_detail()
}

const fn tokens(id: &'static str, about: &'static str) -> Column {
    Column::estimated(id, Unit::Tokens, Direction::Neither, Aggregation::Sum, about).in_detail()
}

const fn ratio(over: &'static str, under: &'static str) -> Aggregation {
    Aggregation::Ratio { over: ColumnId::Borrowed(over), under: ColumnId::Borrowed(under) }
}

pub const METRIC: Metric = Metric {
    name: "cost",
    about: "cost with the provider's prompt cache simulated: what requests read from it, and what edits make them write again",
    columns: &[
        usd(
            "cost.usd",
            Direction::Lower,
            "cost of requests, responses and summarizer calls, with the provider's prompt cache simulated",
        ),
        usd(
            "cost.baseline_usd",
            Direction::Neither,
            "cost.usd under the baseline policy (keep-all, which never compacts, or --baseline)",
        ),
        Column::estimated(
            "cost.ratio",
            Unit::Ratio,
            Direction::Lower,
            ratio(NOMINAL, BASELINE_NOMINAL),
            "cost ÷ baseline cost: a ratio of USD; calls of models without a known price count at $5 per million tokens of input",
        ),
        Column::estimated(
            "cost.at_ends",
            Unit::Ratio,
            Direction::Lower,
            ratio(AT_ENDS_NOMINAL, BASELINE_AT_ENDS_NOMINAL),
            "cost.ratio if every policy sets cache breakpoints at the ends of requests: the default, as Claude Code sets them",
        ),
        Column::estimated(
            "cost.best_breakpoints",
            Unit::Ratio,
            Direction::Lower,
            ratio(AT_BEST_NOMINAL, BASELINE_AT_BEST_NOMINAL),
            "cost.ratio if every policy sets cache breakpoints at the best places, just before the part that its next edit changes",
        )
        .in_detail(),
        Column::estimated(
            "cost.uncached",
            Unit::Ratio,
            Direction::Neither,
            ratio(UNCACHED_NOMINAL, BASELINE_UNCACHED_NOMINAL),
            "cost.ratio without a prompt cache: the saving that counting tokens alone suggests",
        ),
        usd("cost.read", Direction::Neither, "part of cost.usd: input read from the prompt cache"),
        usd(
            "cost.write",
            Direction::Neither,
            "part of cost.usd: input written to the prompt cache, and input of requests too short to be cached",
        ),
        usd(
            "cost.output",
            Direction::Neither,
            "part of cost.usd: responses as recorded, or as counted if the recording holds only a stream's placeholder",
        ),
        usd(
            "cost.summarizer",
            Direction::Lower,
            "part of cost.usd: summarizer calls, without the tokens of the summarizer's instructions",
        ),
        usd(
            "cost.rereads",
            Direction::Lower,
            "not in cost.usd: the most that fetching all recoverable facts (soft misses) again would add; the least is nothing",
        ),
        Column::estimated(
            "cache.read",
            Unit::Share,
            Direction::Higher,
            ratio(READ_TOKENS, CACHED_TOKENS),
            "share of the sent tokens that the provider reads from its prompt cache",
        ),
        Column::estimated(
            "cache.breaks",
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "cache invalidations: requests before which an edit changed a prefix that was still cached",
        ),
        Column::estimated(
            "cache.rebilled",
            Unit::Tokens,
            Direction::Lower,
            Aggregation::Sum,
            "tokens written to the cache again after cache invalidations: tokens sent before, and tokens that the edits put in",
        ),
        nominal(NOMINAL, "cost in USD, calls of models without a known price at a nominal one: the numerator of cost.ratio"),
        nominal(BASELINE_NOMINAL, "cost.nominal under the baseline policy: the denominator of cost.ratio"),
        nominal(UNCACHED_NOMINAL, "cost.nominal without a prompt cache: the numerator of cost.uncached"),
        nominal(BASELINE_UNCACHED_NOMINAL, "cost.uncached_nominal under the baseline policy: the denominator of cost.uncached"),
        nominal(AT_ENDS_NOMINAL, "cost.nominal with cache breakpoints at the ends of requests: the numerator of cost.at_ends"),
        nominal(BASELINE_AT_ENDS_NOMINAL, "cost.at_ends_nominal under the baseline policy: the denominator of cost.at_ends"),
        nominal(AT_BEST_NOMINAL, "cost.nominal with cache breakpoints at the best places: the numerator of cost.best_breakpoints"),
        nominal(
            BASELINE_AT_BEST_NOMINAL,
            "cost.best_breakpoints_nominal under the baseline policy: the denominator of cost.best_breakpoints",
        ),
        tokens(READ_TOKENS, "tokens read from the prompt cache: the numerator of cache.read"),
        tokens(CACHED_TOKENS, "tokens sent in conversations that could be priced: the denominator of cache.read"),
    ],
    values,
};

fn values(input: &MetricInput) -> Vec<Option<f64>> {
    let (Some(cost), Some(baseline)) = (input.cost, input.baseline_cost) else {
        return vec![None; METRIC.columns.len()];
    };
    let usd = |part: fn(&CostParts) -> f64| cost.usd.as_ref().map(part);
    let sent = input.journal.requests.iter().map(|request| request.tokens).sum::<u64>() as f64;
    let over = |part: fn(&CostParts) -> f64| {
        let under = part(&baseline.nominal);
        (under > 0.0).then(|| part(&cost.nominal) / under)
    };
    let nominal = |part: fn(&CostParts) -> f64| [Some(part(&cost.nominal)), Some(part(&baseline.nominal))];
    let mut values = vec![
        usd(CostParts::total),
        baseline.usd.as_ref().map(CostParts::total),
        over(CostParts::total),
        over(|parts| parts.at_ends),
        over(|parts| parts.at_best),
        over(|parts| parts.uncached),
        usd(|parts| parts.read),
        usd(|parts| parts.written),
        usd(|parts| parts.output),
        usd(|parts| parts.summarizer),
        usd(|parts| parts.rereads),
        (sent > 0.0).then(|| cost.cache_read as f64 / sent),
        count(cost.breaks.len()),
        Some(cost.breaks.iter().map(|broken| broken.what.rebilled).sum::<u64>() as f64),
    ];
    values.extend(nominal(CostParts::total));
    values.extend(nominal(|parts| parts.uncached));
    values.extend(nominal(|parts| parts.at_ends));
    values.extend(nominal(|parts| parts.at_best));
    values.extend([Some(cost.cache_read as f64), Some(sent)]);
    values
}
