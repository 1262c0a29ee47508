//! Money: what a replay costs with the provider's prompt cache simulated, by part, and what every break of the prefix costs.
//!
//! Amounts come twice: in USD, where the prices of all models of a conversation are known, and in tokens at the price of
//! input, which compare policies either way. What a replay cannot know is told apart from the total: the results that an agent
//! would have fetched again.

mod check;
mod tariff;

use serde::{Deserialize, Serialize};

use crate::engine::journal::Summary;
use crate::metrics::prices::Price;
use crate::metrics::prompt_cache::{self, Break, CacheUse, serve};
use crate::metrics::retention::{Reread, Retention};

pub use check::{Check, CostSide, Worst, check};
pub use tariff::Tariff;

/// Tokens an agent writes to fetch something again: a tool_use, and a word why.
const ASKING_AGAIN: u64 = 100;

/// An amount by what it is paid for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CostParts {
    pub read: f64,
    /// Written to the cache, or too short for it.
    pub written: f64,
    pub output: f64,
    pub summarizer: f64,
    /// If every soft miss were fetched again; not in the total.
    pub rereads: f64,
    /// What marks at the ends of requests only would add.
    pub at_ends: f64,
    /// What the total would be without a prompt cache.
    pub uncached: f64,
}

impl CostParts {
    pub fn total(&self) -> f64 {
        self.read + self.written + self.output + self.summarizer
    }
}

/// What one conversation costs under one policy.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cost {
    /// `None` where the price of one of its models is not known.
    pub usd: Option<CostParts>,
    /// In tokens at the price of input.
    pub tokens: CostParts,
    /// Tokens read from the cache.
    pub cache_read: u64,
    pub breaks: Vec<PricedBreak>,
}

/// A prefix that an edit made unreadable, and when that will have paid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PricedBreak {
    pub call: usize,
    pub what: Break,
    /// What writing again costs more than reading would have: in USD, and in tokens at the price of input.
    pub usd: Option<f64>,
    pub tokens: f64,
    /// After so many further calls the tokens freed have saved as much; `None`: never.
    pub break_even: Option<f64>,
    /// Calls until the next break, or the end: how many it had.
    pub followed: usize,
}

/// What a cost depends on.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    pub cache: prompt_cache::Setup<'a>,
    pub tariff: &'a Tariff,
    /// Tokens of each call's response, by call.
    pub outputs: &'a [u64],
    pub kept: &'a Retention,
}

/// What a replay costs.
pub fn cost(setup: &Setup) -> Cost {
    let served = serve(&setup.cache);
    let mut sums = Sums { tariff: setup.tariff, usd: CostParts::default(), tokens: CostParts::default() };
    for of_call in &served {
        let output = setup.outputs[of_call.call];
        sums.pay(of_call.call, of_call.tokens, |part, price| {
            let unread = if of_call.is_cached { setup.tariff.write(price) } else { price.input };
            let input = |read: u64| read as f64 * price.cache_read + (of_call.tokens - read) as f64 * unread;
            part.read += of_call.read as f64 * price.cache_read;
            part.written += (of_call.tokens - of_call.read) as f64 * unread;
            part.at_ends += input(of_call.read_at_ends) - input(of_call.read);
            part.output += output as f64 * price.output;
            part.uncached += of_call.tokens as f64 * price.input + output as f64 * price.output;
        });
    }
    let mut asked_at = None;
    for summary in &setup.cache.journal.summaries {
        let is_first = asked_at.replace(summary.call) != Some(summary.call);
        if !summary.attempt.failed {
            sums.add_summary(setup, summary, is_first, &served);
        }
    }
    for reread in &setup.kept.rereads {
        sums.add_reread(reread, &served);
    }
    Cost {
        usd: setup.tariff.is_known().then_some(sums.usd),
        tokens: sums.tokens,
        cache_read: served.iter().map(|of_call| of_call.read).sum(),
        breaks: breaks(setup.tariff, &served),
    }
}

/// Amounts as they add up.
struct Sums<'a> {
    tariff: &'a Tariff,
    usd: CostParts,
    tokens: CostParts,
}

impl Sums<'_> {
    /// Adds what a call pays at the prices of a request of so many tokens: `add` adds tokens times price.
    fn pay(&mut self, call: usize, tokens: u64, add: impl Fn(&mut CostParts, &Price)) {
        let price = self.tariff.price(call, tokens);
        add(&mut self.usd, &price.times(tariff::USD));
        add(&mut self.tokens, &price.times(1.0 / price.input));
    }

    /// A summary that rides the prefix reads what the last request had cached, and writes the rest. A retry begins with another
    /// message, and so does a summarizer's request of its own: of those nothing is cached. Failed attempts are not billed: most
    /// are refused before they are read.
    fn add_summary(&mut self, setup: &Setup, summary: &Summary, is_first: bool, served: &[CacheUse]) {
        let rides = is_first && setup.cache.policy.layers[summary.layer].reuses_prefix_cache();
        let ready = of_call(served, summary.call).map_or(0, |of_call| of_call.ready);
        let whole = summary.attempt.tokens_in + if rides { setup.cache.journal.overhead } else { 0 };
        let read = if rides { ready.min(whole) } else { 0 };
        self.pay(summary.call, whole, |part, price| {
            let rest = if rides { setup.tariff.write(price) } else { price.input };
            let output = summary.attempt.tokens_out as f64 * price.output;
            part.summarizer += read as f64 * price.cache_read + (whole - read) as f64 * rest + output;
            part.uncached += whole as f64 * price.input + output;
        });
    }

    /// To fetch something again takes a call: it reads the prefix, writes what it asks, and what it gets enters the cache.
    fn add_reread(&mut self, reread: &Reread, served: &[CacheUse]) {
        let call = reread.call as usize;
        let request = of_call(served, call).map_or(0, |of_call| of_call.tokens);
        self.pay(call, request, |part, price| {
            let again = reread.tokens as f64 * self.tariff.write(price);
            part.rereads += again + ASKING_AGAIN as f64 * price.output + request as f64 * price.cache_read;
        });
    }
}

fn of_call(served: &[CacheUse], call: usize) -> Option<&CacheUse> {
    served.binary_search_by_key(&call, |of_call| of_call.call).ok().map(|at| &served[at])
}

fn breaks(tariff: &Tariff, served: &[CacheUse]) -> Vec<PricedBreak> {
    let broken: Vec<_> = served.iter().enumerate().filter(|(_, of_call)| of_call.broken.is_some()).map(|(at, _)| at).collect();
    let ends = broken.iter().skip(1).copied().chain([served.len()]);
    let priced = |(at, end): (&usize, usize)| {
        let of_call = &served[*at];
        let what = of_call.broken?;
        let price = tariff.price(of_call.call, of_call.tokens);
        let dearer = what.rebilled as f64 * (tariff.write(price) - price.cache_read);
        let saved = what.freed as f64 * price.cache_read;
        Some(PricedBreak {
            call: of_call.call,
            what,
            usd: tariff.is_known().then_some(dearer * tariff::USD),
            tokens: dearer / price.input,
            break_even: (saved > 0.0).then(|| dearer / saved),
            followed: end - at,
        })
    };
    broken.iter().zip(ends).filter_map(priced).collect()
}
