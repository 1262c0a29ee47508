//! Cost check: replays the recorded requests with the simulated cache and compares the cost with the provider's bill.

use super::Tariff;
use crate::metrics::prompt_cache::{CacheSetup, CacheUse, simulate};

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
    /// Tokens that the token counter found in the same requests.
    pub counted: u64,
    pub recorded: CheckSide,
    pub simulated: CheckSide,
    /// The call whose cost differs most.
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
        if self.recorded.cost > 0.0 { self.simulated.cost / self.recorded.cost - 1.0 } else { 0.0 }
    }
}

/// Checks a replay of the policy `recorded`, whose requests have their recorded sizes, with cache breakpoints at the ends of
/// requests, as recorded harnesses set them. Both sides use the recorded output.
pub fn check(setup: &CacheSetup, tariff: &Tariff) -> CostCheck {
    let mut check = CostCheck { in_usd: tariff.is_known(), ..CostCheck::default() };
    let (mut largest, mut last_size) = (0.0, 0);
    for (request, cache_use) in setup.journal.requests.iter().zip(simulate(setup)) {
        let Some(usage) = setup.conversation.calls[cache_use.call].billed() else { continue };
        let read = cache_use.read_at_ends;
        let simulated = tariff.usage(read, cache_use.tokens - read, cache_use.is_cached, usage.output);
        let recorded_cost = tariff.cost(cache_use.call, &usage);
        let simulated_cost = tariff.cost(cache_use.call, &simulated);
        check.calls += 1;
        check.matching += usize::from(read.abs_diff(usage.cache_read) as f64 <= READ_TOLERANCE * usage.request() as f64);
        check.recorded.add(usage.cache_read, usage.request(), recorded_cost);
        check.simulated.add(read, cache_use.tokens, simulated_cost);
        if (simulated_cost - recorded_cost).abs() > largest {
            largest = (simulated_cost - recorded_cost).abs();
            let (call, recorded_read) = (cache_use.call, usage.cache_read);
            let was_edited = !request.changes.is_empty();
            let why = explain(recorded_read < read, was_edited, usage.request() < last_size, &cache_use);
            check.worst = Some(WorstCall { call, recorded_read, simulated_read: read, why });
        }
        last_size = usage.request();
    }
    check
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
    fn add(&mut self, read: u64, request: u64, cost: f64) {
        self.read += read;
        self.tokens += request;
        self.cost += cost;
    }
}
