//! The self-check: the recorded requests, replayed with the cache simulated, against what the provider billed for them.

use super::Tariff;
use super::tariff::USD;
use crate::cache::{Setup, serve};
use crate::conversation::Usage;
use crate::prices::Price;

/// What was read, written and paid over the calls with recorded usage.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Side {
    pub read: u64,
    /// Everything that was not read.
    pub unread: u64,
    /// In USD; in tokens at the price of input where the prices are not known.
    pub cost: f64,
}

/// The two sides of a self-check.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Check {
    /// Calls with recorded usage.
    pub calls: usize,
    /// Of those, how many read what the record says, to a tenth of the request.
    pub alike: usize,
    pub recorded: Side,
    pub simulated: Side,
    /// The call whose cost differs most, and its two reads: recorded, simulated.
    pub worst: Option<(usize, u64, u64)>,
}

/// Reads that differ by less than this share of the request are alike: what counts tokens is an estimate.
const ALIKE: f64 = 0.1;

impl Check {
    /// Simulated ÷ recorded − 1; 0 where nothing was recorded.
    pub fn residual(&self) -> f64 {
        if self.recorded.cost > 0.0 { self.simulated.cost / self.recorded.cost - 1.0 } else { 0.0 }
    }
}

/// Checks a replay of the policy `recorded`, with marks at the ends of requests, as recorded harnesses set them. The output is the recorded one on both sides.
pub fn check(setup: &Setup, tariff: &Tariff) -> Check {
    let mut check = Check::default();
    let mut largest = 0.0;
    let unit = |input: f64| if tariff.is_known() { USD } else { 1.0 / input };
    for served in serve(setup) {
        let Some(usage) = setup.conversation.calls[served.call].usage.filter(|usage| usage.request() > 0) else { continue };
        let price = tariff.price(served.call, usage.request());
        let output = usage.output as f64 * price.output;
        let recorded = tariff.bill(price, &usage);
        let price = tariff.price(served.call, served.tokens);
        let unread = if served.is_cached { tariff.write(price) } else { price.input };
        let read = served.read_at_ends;
        let simulated = read as f64 * price.cache_read + (served.tokens - read) as f64 * unread + output;
        check.calls += 1;
        let difference = read.abs_diff(usage.cache_read);
        check.alike += usize::from(difference as f64 <= ALIKE * usage.request() as f64);
        check.recorded.add(usage.cache_read, usage.request(), recorded * unit(price.input));
        check.simulated.add(read, served.tokens, simulated * unit(price.input));
        if (simulated - recorded).abs() > largest {
            largest = (simulated - recorded).abs();
            check.worst = Some((served.call, usage.cache_read, read));
        }
    }
    check
}

impl Side {
    fn add(&mut self, read: u64, request: u64, cost: f64) {
        self.read += read;
        self.unread += request - read;
        self.cost += cost;
    }
}

impl Tariff {
    /// What the provider billed for a call, times a million.
    fn bill(&self, price: &Price, usage: &Usage) -> f64 {
        let written = usage.cache_write_5m as f64 * price.cache_write_5m + usage.cache_write_1h as f64 * price.cache_write_1h;
        usage.input as f64 * self.unread(price)
            + usage.cache_read as f64 * price.cache_read
            + written
            + usage.output as f64 * price.output
    }
}
