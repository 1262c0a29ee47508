//! The prices and cache rules of one conversation's calls.

use crate::metrics::prices::{Price, Prices, Quote};
use crate::metrics::prompt_cache::CacheTerms;
use crate::transcript::conversation::{Conversation, Usage};

/// Prices are per million tokens.
pub(super) const USD: f64 = 1e-6;

/// By call of a conversation: what it costs, and how its request is cached.
#[derive(Debug, Clone, PartialEq)]
pub struct Tariff {
    /// One for each model and time that differ.
    quotes: Vec<Quote>,
    /// By call: which of them.
    quote_of_call: Vec<usize>,
    terms: Vec<CacheTerms>,
    unknown: Vec<String>,
    /// Writes are for the longer time.
    long: bool,
}

impl Tariff {
    /// Prices every call as its recorded model, or all as one model. A call whose model is not recorded is priced as the
    /// conversation's last known.
    pub fn new(conversation: &Conversation, prices: &Prices, priced_as: Option<&str>) -> Self {
        let usages = conversation.calls.iter().filter_map(|call| call.usage);
        let (short, long) = usages.fold((0, 0), |sum, usage| (sum.0 + usage.cache_write_5m, sum.1 + usage.cache_write_1h));
        let mut tariff =
            Self { quotes: Vec::new(), quote_of_call: Vec::new(), terms: Vec::new(), unknown: Vec::new(), long: long > short };
        let mut model = priced_as.or_else(|| conversation.calls.iter().find_map(|call| call.model.as_deref()));
        let mut models = Vec::new();
        for call in &conversation.calls {
            model = priced_as.or(call.model.as_deref()).or(model);
            let quote = prices.quote(model, call.time);
            if quote.entry.is_none() {
                position_or_push(&mut tariff.unknown, model.unwrap_or_default().to_owned());
            }
            let (provider, min_tokens) = (quote.provider, quote.min_tokens);
            tariff.terms.push(CacheTerms {
                provider,
                min_tokens,
                long: tariff.long,
                model: position_or_push(&mut models, model),
            });
            tariff.quote_of_call.push(position_or_push(&mut tariff.quotes, quote));
        }
        tariff
    }

    /// Whether the prices of all calls are known; else they are ratios to the price of input.
    pub fn is_known(&self) -> bool {
        self.unknown.is_empty()
    }

    /// Models without a price, as recorded; an empty name for calls without a model.
    pub fn unknown_models(&self) -> &[String] {
        &self.unknown
    }

    /// By call.
    pub fn terms(&self) -> &[CacheTerms] {
        &self.terms
    }

    /// The price of a call whose request has so many tokens.
    pub fn price(&self, call: usize, tokens: u64) -> &Price {
        self.quotes[self.quote_of_call[call]].at(tokens)
    }

    /// The price of what is written to the cache.
    pub fn write(&self, price: &Price) -> f64 {
        if self.long { price.cache_write_1h } else { price.cache_write_5m }
    }

    /// A usage as a provider would bill it: what is not read is written, if it is long enough.
    pub(super) fn usage(&self, cache_read: u64, unread: u64, is_cached: bool, output: u64) -> Usage {
        let usage = Usage { cache_read, output, ..Usage::default() };
        match (is_cached, self.long) {
            (false, _) => Usage { input: unread, ..usage },
            (true, false) => Usage { cache_write_5m: unread, ..usage },
            (true, true) => Usage { cache_write_1h: unread, ..usage },
        }
    }

    /// What a usage costs: in USD, or in tokens at the price of input where a price is not known.
    pub(super) fn cost(&self, call: usize, usage: &Usage) -> f64 {
        let price = self.price(call, usage.request());
        if self.is_known() { price.usd(usage) } else { price.times(1.0 / (price.input * USD)).usd(usage) }
    }
}

/// Where something stands in a list, which it is put into if it is not there. There are few models and prices.
fn position_or_push<T: PartialEq>(list: &mut Vec<T>, wanted: T) -> usize {
    list.iter().position(|known| *known == wanted).unwrap_or_else(|| {
        list.push(wanted);
        list.len() - 1
    })
}
