//! Cost check: replays the recorded requests with the simulated cache and compares the cost with the provider's bill, with and
//! without the cache events of the record.

use super::Tariff;
use crate::metrics::prompt_cache::{CacheEvent, CacheMode, CacheSetup, CacheUse, simulate, simulate_record};
use crate::transcript::conversation::Usage;

/// Tokens sent, tokens read and cost over the calls with recorded usage.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CheckSide {
    pub read: u64,
    pub tokens: u64,
    pub cost: f64,
}

/// Simulated and recorded side of a cost check.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CostCheck {
    /// Calls with recorded usage.
    pub calls: usize,
    /// Calls among them whose simulated read matches the recorded one within a twentieth of the request.
    pub matching: usize,
    /// The costs are in USD; else in tokens at the price of input.
    pub in_usd: bool,
    pub recorded: CheckSide,
    /// Cost of the recorded usage as it is. `recorded` also has cache writes that the record calls input.
    pub by_usage: f64,
    /// With the cache of the replays: with cache events if they take them over.
    pub simulated: CheckSide,
    /// The same with the tokens that the token counter finds in the requests.
    pub counted: CheckSide,
    /// Without cache events.
    pub ideal: CheckSide,
    pub events: Vec<CacheEvent>,
    /// The call whose cost differs most from the ideal cache.
    pub worst: Option<WorstCall>,
}

/// A call whose recorded read differs from the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorstCall {
    pub call: usize,
    pub recorded_read: u64,
    pub simulated_read: u64,
    /// What the record shows about the reason.
    pub why: &'static str,
}

/// Reads match if they differ by at most this share of the request: the tokens of blocks are estimates.
const READ_TOLERANCE: f64 = 0.05;

impl CostCheck {
    /// Returns simulated ÷ recorded − 1; 0 if nothing was recorded.
    pub fn residual(&self) -> f64 {
        self.simulated.error(&self.recorded)
    }

    /// Returns the same without cache events.
    pub fn ideal_residual(&self) -> f64 {
        self.ideal.error(&self.recorded)
    }
}

/// Checks a replay of the policy `recorded`, whose requests have their recorded sizes, with cache breakpoints at the ends of
/// requests, as recorded harnesses set them. All sides use the recorded output. `setup` has no cache events.
pub fn check(setup: &CacheSetup, tariff: &Tariff, mode: CacheMode) -> CostCheck {
    let (ideal, events) = simulate_record(setup);
    let mut check = CostCheck { in_usd: tariff.is_known(), ..CostCheck::default() };
    check.add_ideal(setup, tariff, &ideal);
    let replayed = if mode == CacheMode::Recorded { &events[..] } else { &[] };
    let simulated = if replayed.is_empty() { ideal } else { simulate(&CacheSetup { events: replayed, ..*setup }) };
    for (cache_use, usage) in billed(setup, &simulated) {
        let read = cache_use.read_at_ends;
        check.matching += usize::from(read.abs_diff(usage.cache_read) as f64 <= READ_TOLERANCE * usage.request() as f64);
        check.simulated.add(read, cache_use.tokens, simulated_cost(tariff, cache_use, &usage));
    }
    let request_tokens = &setup.journal.request_tokens();
    for (cache_use, usage) in billed(setup, &simulate(&CacheSetup { events: replayed, request_tokens, ..*setup })) {
        check.counted.add(cache_use.read_at_ends, cache_use.tokens, simulated_cost(tariff, cache_use, &usage));
    }
    CostCheck { events, ..check }
}

/// Returns the calls with recorded usage.
fn billed<'a>(setup: &'a CacheSetup, cache_uses: &'a [CacheUse]) -> impl Iterator<Item = (&'a CacheUse, Usage)> {
    cache_uses.iter().filter_map(|cache_use| Some((cache_use, setup.conversation.calls[cache_use.call].billed()?)))
}

fn simulated_cost(tariff: &Tariff, cache_use: &CacheUse, recorded: &Usage) -> f64 {
    let read = cache_use.read_at_ends;
    let unread = cache_use.tokens - cache_use.unwritten - read;
    let usage = tariff.usage(cache_use.call, read, unread, cache_use.is_cached, recorded.output);
    tariff.cost(cache_use.call, &Usage { input: usage.input + cache_use.unwritten, ..usage })
}

impl CostCheck {
    fn add_ideal(&mut self, setup: &CacheSetup, tariff: &Tariff, cache_uses: &[CacheUse]) {
        let (mut largest, mut last_size) = (0.0, 0);
        for (cache_use, usage) in billed(setup, cache_uses) {
            let read = cache_use.read_at_ends;
            let recorded = tariff.cost(cache_use.call, &tariff.as_billed(cache_use.call, usage, cache_use.is_cached));
            let simulated = simulated_cost(tariff, cache_use, &usage);
            self.calls += 1;
            self.recorded.add(usage.cache_read, usage.request(), recorded);
            self.by_usage += tariff.cost(cache_use.call, &usage);
            self.ideal.add(read, cache_use.tokens, simulated);
            if (simulated - recorded).abs() > largest {
                largest = (simulated - recorded).abs();
                let (call, recorded_read) = (cache_use.call, usage.cache_read);
                let shrank = usage.request() < last_size;
                let why = explain(recorded_read < read, was_edited(setup, call), shrank, cache_use);
                self.worst = Some(WorstCall { call, recorded_read, simulated_read: read, why });
            }
            last_size = usage.request();
        }
    }
}

fn was_edited(setup: &CacheSetup, call: usize) -> bool {
    let requests = &setup.journal.requests;
    requests.binary_search_by_key(&call, |request| request.call).is_ok_and(|index| !requests[index].changes.is_empty())
}

fn explain(missed: bool, was_edited: bool, shrank: bool, cache_use: &CacheUse) -> &'static str {
    match missed {
        true if cache_use.broken.is_some() => "a recorded edit invalidated more of the prefix",
        true if was_edited => "the prefix was not read after thinking was dropped",
        true if shrank => "the request shrank, but the record shows no edit",
        true => "the prefix was not read, and the record shows no reason",
        false if cache_use.expired => "the prefix lived longer than simulated",
        false => "more was cached than the record shows",
    }
}

impl CheckSide {
    fn error(&self, recorded: &Self) -> f64 {
        if recorded.cost > 0.0 { self.cost / recorded.cost - 1.0 } else { 0.0 }
    }

    fn add(&mut self, read: u64, request: u64, cost: f64) {
        self.read += read;
        self.tokens += request;
        self.cost += cost;
    }
}
