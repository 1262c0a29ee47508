//! Cost of a replay with the provider's prompt cache simulated, by part, and the cost of each cache invalidation.
//!
//! There are two amounts: in USD, if the prices of all models of a conversation are known; and a nominal one, which always
//! compares policies: the same USD, with calls of unknown models at a nominal price. What a replay cannot know is kept out of
//! the total: the results that an agent would fetch again. The recorded session pays for its own summaries as a policy does.

mod check;
mod outputs;
mod prediction;
mod tariff;

use serde::{Deserialize, Serialize};

use crate::engine::journal::{RecordedCompaction, Summary};
use crate::metrics::prices::{Price, Quote};
use crate::metrics::prompt_cache::{self, CacheBreak, CacheUse, simulate};
use crate::metrics::retention::{Reread, Retention};
use crate::transcript::conversation::Usage;

pub use check::{CheckSide, CostCheck, WorstCall, check};
pub use outputs::outputs;
pub use prediction::{PREDICTION_ERRORS, PredictionError, prediction_error};
pub use tariff::Tariff;

/// Tokens that an agent writes to fetch something again: a tool_use and a short reason.
const REFETCH_OUTPUT_TOKENS: u64 = 100;

/// An amount, split by what it pays for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct CostParts {
    pub read: f64,
    /// Input written to the cache, and input that is not: of requests too short, and behind the last cache breakpoint.
    pub written: f64,
    /// Output, and searches of the web that the provider made.
    pub output: f64,
    pub summarizer: f64,
    /// Cost of fetching every soft miss again; not in the total.
    pub rereads: f64,
    /// Cost of the recorded fetches that would be unnecessary; not taken from the total.
    pub saved_rereads: f64,
    /// What the total would be with cache breakpoints at the ends of requests.
    pub at_ends: f64,
    /// What the total would be with cache breakpoints at the best places.
    pub at_best: f64,
    /// What the total would be without a prompt cache.
    pub uncached: f64,
}

impl CostParts {
    /// Returns all parts together, in USD.
    pub fn total(&self) -> f64 {
        self.read + self.written + self.output + self.summarizer
    }
}

/// Cost of one conversation under one policy.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// `None` if the price of one of its models is unknown.
    pub usd: Option<CostParts>,
    /// In USD, with calls of unknown models at a nominal price.
    pub nominal: CostParts,
    /// Tokens of the requests, by the provider's count as far as it is recorded, and those of them read from the cache.
    pub tokens: u64,
    pub cache_read: u64,
    /// In the order of the requests.
    pub breaks: Vec<PricedBreak>,
}

/// A cache invalidation by an edit: what it costs, and when the edit pays for itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PricedBreak {
    pub call: usize,
    pub what: CacheBreak,
    /// How much more writing again costs than reading would have: in USD, and in tokens at the price of input.
    pub usd: Option<f64>,
    pub tokens: f64,
    /// Number of later calls after which the freed tokens have saved as much; `None`: never.
    pub break_even: Option<f64>,
    /// Calls until the next break or the end of the conversation.
    pub followed: usize,
}

/// Input of [`cost`].
#[derive(Clone, Copy)]
pub struct CostSetup<'a> {
    pub cache: prompt_cache::CacheSetup<'a>,
    pub tariff: &'a Tariff,
    /// Tokens of the response of each call.
    pub outputs: &'a [u64],
    pub retention: &'a Retention,
}

/// Computes the cost of a replay.
pub fn cost(setup: &CostSetup) -> Cost {
    let cache_uses = simulate(&setup.cache);
    let mut sums = CostSums { tariff: setup.tariff, usd: CostParts::default(), nominal: CostParts::default() };
    for cache_use in &cache_uses {
        let output = setup.outputs[cache_use.call];
        sums.add_at_prices(setup.tariff.quote_of_call(cache_use.call), cache_use.tokens, |part, price| {
            let unread_price = if cache_use.is_cached { setup.tariff.write(cache_use.call, price) } else { price.input };
            let unread = |read: u64| {
                (cache_use.tokens - cache_use.unwritten - read) as f64 * unread_price + cache_use.unwritten as f64 * price.input
            };
            let input = |read: u64| read as f64 * price.cache_read + unread(read);
            part.read += cache_use.read as f64 * price.cache_read;
            part.written += unread(cache_use.read);
            part.output += output as f64 * price.output;
            part.at_ends += input(cache_use.read_at_ends) + output as f64 * price.output;
            part.at_best += input(cache_use.read_at_best) + output as f64 * price.output;
            part.uncached += cache_use.tokens as f64 * price.input + output as f64 * price.output;
        });
        sums.add_other_iterations(cache_use);
        sums.add_searches(setup.tariff.searches(cache_use.call));
    }
    let mut previous_call = None;
    for summary in &setup.cache.journal.summaries {
        let is_first = previous_call.replace(summary.call) != Some(summary.call);
        if !summary.attempt.failed {
            sums.add_summary(setup, summary, is_first, &cache_uses);
        }
    }
    for compaction in &setup.cache.journal.compactions {
        sums.add_compaction(setup, compaction, &cache_uses);
    }
    for reread in &setup.retention.rereads {
        sums.add_reread(reread, &cache_uses, |part| &mut part.rereads);
    }
    for reread in &setup.retention.saved {
        sums.add_reread(reread, &cache_uses, |part| &mut part.saved_rereads);
    }
    Cost {
        usd: setup.tariff.is_known().then_some(sums.usd),
        nominal: sums.nominal,
        tokens: cache_uses.iter().map(|cache_use| cache_use.tokens).sum(),
        cache_read: cache_uses.iter().map(|cache_use| cache_use.read).sum(),
        breaks: priced_breaks(setup.tariff, &cache_uses),
    }
}

/// Running sums of amounts.
struct CostSums<'a> {
    tariff: &'a Tariff,
    usd: CostParts,
    nominal: CostParts,
}

impl CostSums<'_> {
    /// Adds an amount at the prices of a request of `tokens` tokens; `add` multiplies tokens by prices.
    fn add_at_prices(&mut self, quote: &Quote, tokens: u64, add: impl Fn(&mut CostParts, &Price)) {
        add(&mut self.usd, &quote.at(tokens).times(tariff::USD));
        add(&mut self.nominal, &tariff::nominal_price(quote, tokens));
    }

    fn add_other_iterations(&mut self, cache_use: &CacheUse) {
        for (quote, usage) in self.tariff.other_iterations(cache_use.call, cache_use.tokens) {
            self.add_at_prices(quote, usage.request(), |part, price| {
                let read = usage.cache_read as f64 * price.cache_read;
                let output = usage.output as f64 * price.output;
                let written = unread_cost(&usage, price);
                part.read += read;
                part.written += written;
                part.output += output;
                part.at_ends += read + written + output;
                part.at_best += read + written + output;
                part.uncached += usage.request() as f64 * price.input + output;
            });
        }
    }

    /// Adds what the provider's searches of the web cost in a call, in USD.
    fn add_searches(&mut self, usd: f64) {
        for part in [&mut self.usd, &mut self.nominal] {
            part.output += usd;
            part.at_ends += usd;
            part.at_best += usd;
            part.uncached += usd;
        }
    }

    /// Adds a summary. A summary that reuses the prefix cache reads what the last request had cached and writes the rest. A
    /// retry begins with a different message, and so does a summarizer request of its own: nothing of those is cached. Failed
    /// attempts are not billed: most are refused before they are read.
    fn add_summary(&mut self, setup: &CostSetup, summary: &Summary, is_first: bool, cache_uses: &[CacheUse]) {
        let reuses_prefix = is_first && setup.cache.policy.layers[summary.layer].reuses_prefix_cache();
        let request = summary.attempt.tokens_in + if reuses_prefix { setup.cache.journal.overhead } else { 0 };
        let ready = if reuses_prefix { ready_at(cache_uses, summary.call) } else { 0 };
        let usage = self.tariff.summarizer_usage(summary.call, request, ready, reuses_prefix, summary.attempt.tokens_out);
        self.add_summarizer_call(summary.call, &usage);
    }

    /// Adds a summary of the recording: what was billed for it, or else what a summarizer that reads the prefix cache would
    /// cost. A policy that does the same as the recorded harness then costs the same.
    fn add_compaction(&mut self, setup: &CostSetup, compaction: &RecordedCompaction, cache_uses: &[CacheUse]) {
        let RecordedCompaction { call, repeated } = *compaction;
        let usage = match setup.cache.conversation.compactions[repeated.compaction].summary_usage {
            Some(usage) => self.tariff.as_billed(call, usage, usage.request() >= setup.cache.terms[call].min_tokens),
            None => {
                let request = repeated.tokens_in + setup.cache.journal.overhead;
                self.tariff.summarizer_usage(call, request, ready_at(cache_uses, call), true, repeated.tokens_out)
            }
        };
        self.add_summarizer_call(call, &usage);
    }

    fn add_summarizer_call(&mut self, call: usize, usage: &Usage) {
        self.add_at_prices(self.tariff.quote_of_call(call), usage.request(), |part, price| {
            let output = usage.output as f64 * price.output;
            let cost = usage.cache_read as f64 * price.cache_read + unread_cost(usage, price) + output;
            part.summarizer += cost;
            part.at_ends += cost;
            part.at_best += cost;
            part.uncached += usage.request() as f64 * price.input + output;
        });
    }

    /// Adds a fetch: it takes a call that reads the prefix and writes its request, and the result enters the cache.
    fn add_reread(&mut self, reread: &Reread, cache_uses: &[CacheUse], of: fn(&mut CostParts) -> &mut f64) {
        let call = reread.call as usize;
        let request = cache_use_of_call(cache_uses, call).map_or(0, |cache_use| cache_use.tokens);
        self.add_at_prices(self.tariff.quote_of_call(call), request, |part, price| {
            let again = reread.tokens as f64 * self.tariff.write(call, price);
            *of(part) += again + REFETCH_OUTPUT_TOKENS as f64 * price.output + request as f64 * price.cache_read;
        });
    }
}

fn cache_use_of_call(cache_uses: &[CacheUse], call: usize) -> Option<&CacheUse> {
    cache_uses.binary_search_by_key(&call, |cache_use| cache_use.call).ok().map(|at| &cache_uses[at])
}

/// Returns how many tokens of the request before a call can be read when the call begins.
fn ready_at(cache_uses: &[CacheUse], call: usize) -> u64 {
    cache_use_of_call(cache_uses, call).map_or(0, |cache_use| cache_use.ready)
}

/// Returns the cost of input that was not read from the cache, at prices per token.
fn unread_cost(usage: &Usage, price: &Price) -> f64 {
    let short = usage.cache_write_5m as f64 * price.cache_write_5m;
    usage.input as f64 * price.input + short + usage.cache_write_1h as f64 * price.cache_write_1h
}

fn priced_breaks(tariff: &Tariff, cache_uses: &[CacheUse]) -> Vec<PricedBreak> {
    let break_indices: Vec<_> =
        cache_uses.iter().enumerate().filter(|(_, cache_use)| cache_use.broken.is_some()).map(|(at, _)| at).collect();
    let ends = break_indices.iter().skip(1).copied().chain([cache_uses.len()]);
    let priced = |(at, end): (&usize, usize)| {
        let cache_use = &cache_uses[*at];
        let what = cache_use.broken?;
        let price = tariff.price(cache_use.call, cache_use.tokens);
        let extra = what.rebilled as f64 * (tariff.write(cache_use.call, price) - price.cache_read);
        let saved = what.freed as f64 * price.cache_read;
        Some(PricedBreak {
            call: cache_use.call,
            what,
            usd: tariff.is_known().then_some(extra * tariff::USD),
            tokens: extra / tariff.input_price(cache_use.call),
            break_even: (saved > 0.0).then(|| extra / saved),
            followed: end - at,
        })
    };
    break_indices.iter().zip(ends).filter_map(priced).collect()
}
