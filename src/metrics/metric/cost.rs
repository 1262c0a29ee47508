//! Money: see [`crate::metrics::cost`] for what is simulated, and what it cannot know.
//!
//! Where the prices of a model are not known there are ratios and no USD. A conversation whose record the simulation does not
//! reproduce has no value at all.

use super::{Metric, MetricInput, count};
use crate::metrics::column::{Aggregation, Column, ColumnId, Direction, Unit};
use crate::metrics::cost::CostParts;

const TOKENS: &str = "cost.tokens";
const BASELINE_TOKENS: &str = "cost.baseline_tokens";
const UNCACHED_TOKENS: &str = "cost.uncached_tokens";
const BASELINE_UNCACHED_TOKENS: &str = "cost.baseline_uncached_tokens";
const MARKED_TOKENS: &str = "cost.at_ends_tokens";
const BASELINE_MARKED_TOKENS: &str = "cost.baseline_at_ends_tokens";
const READ_TOKENS: &str = "cache.read_tokens";
const CACHED_TOKENS: &str = "cache.tokens";

const fn usd(id: &'static str, better: Direction, about: &'static str) -> Column {
    Column::estimated(id, Unit::Usd, better, Aggregation::Sum, about)
}

const fn tokens(id: &'static str, about: &'static str) -> Column {
    Column::estimated(id, Unit::Tokens, Direction::Neither, Aggregation::Sum, about).in_detail()
}

const fn ratio(over: &'static str, under: &'static str) -> Aggregation {
    Aggregation::Ratio { over: ColumnId::Borrowed(over), under: ColumnId::Borrowed(under) }
}

pub const METRIC: Metric = Metric {
    name: "cost",
    about: "money, with the provider's prompt cache simulated: what is read from it, what every edit makes it write again",
    columns: &[
        usd("cost.usd", Direction::Lower, "requests, responses and the summarizer's calls, with prompt caching simulated"),
        usd("cost.baseline_usd", Direction::Neither, "the same under the policy compared with (keep-all, or --baseline)"),
        Column::estimated(
            "cost.ratio",
            Unit::Ratio,
            Direction::Lower,
            ratio(TOKENS, BASELINE_TOKENS),
            "cost ÷ baseline cost of all conversations, those without a price in USD too: in tokens at the price of input",
        ),
        Column::estimated(
            "cost.at_ends",
            Unit::Ratio,
            Direction::Lower,
            ratio(MARKED_TOKENS, BASELINE_MARKED_TOKENS),
            "cost.ratio if the cache is marked at the ends of requests only, as Claude Code does; cost.ratio is what the best marks give",
        ),
        Column::estimated(
            "cost.uncached",
            Unit::Ratio,
            Direction::Neither,
            ratio(UNCACHED_TOKENS, BASELINE_UNCACHED_TOKENS),
            "what cost.ratio would be without a prompt cache: what counting tokens promises",
        ),
        usd("cost.read", Direction::Neither, "of cost.usd: input read from the cache"),
        usd("cost.write", Direction::Neither, "of cost.usd: input written to the cache, or too short for it"),
        usd(
            "cost.output",
            Direction::Neither,
            "of cost.usd: responses as recorded; where the record holds a stream's placeholder, as counted",
        ),
        usd("cost.summarizer", Direction::Lower, "of cost.usd: the summarizer's calls; its instructions are not counted"),
        usd(
            "cost.rereads",
            Direction::Lower,
            "not in cost.usd: what fetching all soft misses again would add at most; at least it is nothing",
        ),
        Column::estimated(
            "cache.read",
            Unit::Share,
            Direction::Higher,
            ratio(READ_TOKENS, CACHED_TOKENS),
            "of sent tokens, read from the provider's prefix cache",
        ),
        Column::estimated(
            "cache.breaks",
            Unit::Count,
            Direction::Lower,
            Aggregation::Sum,
            "requests whose edits made a prefix unreadable that was still cached",
        ),
        Column::estimated(
            "cache.rebilled",
            Unit::Tokens,
            Direction::Lower,
            Aggregation::Sum,
            "tokens that those breaks made be written: what had been sent before, and what the edits put in",
        ),
        tokens(TOKENS, "the cost in tokens at the price of input, what ratios add up by"),
        tokens(BASELINE_TOKENS, "the same under the policy compared with"),
        tokens(UNCACHED_TOKENS, "what it would be without a prompt cache"),
        tokens(BASELINE_UNCACHED_TOKENS, "the same under the policy compared with"),
        tokens(MARKED_TOKENS, "with marks at the ends of requests only"),
        tokens(BASELINE_MARKED_TOKENS, "the same under the policy compared with"),
        tokens(READ_TOKENS, "tokens read from the cache"),
        tokens(CACHED_TOKENS, "tokens sent, of conversations that could be priced"),
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
        let under = part(&baseline.tokens);
        (under > 0.0).then(|| part(&cost.tokens) / under)
    };
    let uncached = |parts: &CostParts| parts.uncached;
    let at_ends = |parts: &CostParts| parts.total() + parts.at_ends;
    vec![
        usd(CostParts::total),
        baseline.usd.as_ref().map(CostParts::total),
        over(CostParts::total),
        over(at_ends),
        over(uncached),
        usd(|parts| parts.read),
        usd(|parts| parts.written),
        usd(|parts| parts.output),
        usd(|parts| parts.summarizer),
        usd(|parts| parts.rereads),
        (sent > 0.0).then(|| cost.cache_read as f64 / sent),
        count(cost.breaks.len()),
        Some(cost.breaks.iter().map(|broken| broken.what.rebilled).sum::<u64>() as f64),
        Some(cost.tokens.total()),
        Some(baseline.tokens.total()),
        Some(uncached(&cost.tokens)),
        Some(uncached(&baseline.tokens)),
        Some(at_ends(&cost.tokens)),
        Some(at_ends(&baseline.tokens)),
        Some(cost.cache_read as f64),
        Some(sent),
    ]
}
