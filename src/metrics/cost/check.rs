//! The self-check: the recorded requests, replayed with the cache simulated, against what the provider billed for them.

use super::Tariff;
use crate::metrics::prompt_cache::{CacheUse, Setup, serve};

/// What was sent, read and paid over the calls with recorded usage.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CostSide {
    pub read: u64,
    pub tokens: u64,
    pub cost: f64,
}

/// The two sides of a self-check.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Check {
    /// Calls with recorded usage.
    pub calls: usize,
    /// Of those, how many read what the record says, to a twentieth of the request.
    pub alike: usize,
    /// The costs are in USD; else in tokens at the price of input.
    pub in_usd: bool,
    /// Tokens that were counted in the same requests.
    pub counted: u64,
    pub recorded: CostSide,
    pub simulated: CostSide,
    /// The call whose cost differs most.
    pub worst: Option<Worst>,
}

/// A call that read otherwise than the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worst {
    pub call: usize,
    pub recorded_read: u64,
    pub simulated_read: u64,
    /// What the record shows of the reason.
    pub why: &'static str,
}

/// Reads that differ by less than this share of the request are alike: blocks share its tokens by an estimate.
const ALIKE: f64 = 0.05;

impl Check {
    /// Simulated ÷ recorded − 1; 0 where nothing was recorded.
    pub fn residual(&self) -> f64 {
        if self.recorded.cost > 0.0 { self.simulated.cost / self.recorded.cost - 1.0 } else { 0.0 }
    }
}

/// Checks a replay of the policy `recorded`, whose requests have their recorded sizes, with marks at the ends of requests, as
/// recorded harnesses set them. The output is the recorded one on both sides.
pub fn check(setup: &Setup, tariff: &Tariff) -> Check {
    let mut check = Check { in_usd: tariff.is_known(), ..Check::default() };
    let (mut largest, mut last_request) = (0.0, 0);
    for (request, served) in setup.journal.requests.iter().zip(serve(setup)) {
        let Some(usage) = setup.conversation.calls[served.call].billed() else { continue };
        let read = served.read_at_ends;
        let simulated = tariff.usage(read, served.tokens - read, served.is_cached, usage.output);
        let recorded_cost = tariff.cost(served.call, &usage);
        let simulated_cost = tariff.cost(served.call, &simulated);
        check.calls += 1;
        check.alike += usize::from(read.abs_diff(usage.cache_read) as f64 <= ALIKE * usage.request() as f64);
        check.recorded.add(usage.cache_read, usage.request(), recorded_cost);
        check.simulated.add(read, served.tokens, simulated_cost);
        if (simulated_cost - recorded_cost).abs() > largest {
            largest = (simulated_cost - recorded_cost).abs();
            let (call, recorded_read) = (served.call, usage.cache_read);
            let left = !request.changes.is_empty();
            let why = why(recorded_read < read, left, usage.request() < last_request, &served);
            check.worst = Some(Worst { call, recorded_read, simulated_read: read, why });
        }
        last_request = usage.request();
    }
    check
}

fn why(missed: bool, left: bool, shrank: bool, served: &CacheUse) -> &'static str {
    match missed {
        true if served.broken.is_some() => "a recorded edit broke more of the prefix",
        true if left => "the prefix was not read when thinking had left",
        true if shrank => "the request shrank, though the record tells of no edit",
        true => "the prefix was not read, and the record tells of no reason",
        false if served.expired => "the prefix lived on",
        false => "more had been cached than the record tells of",
    }
}

impl CostSide {
    fn add(&mut self, read: u64, request: u64, cost: f64) {
        self.read += read;
        self.tokens += request;
        self.cost += cost;
    }
}
