//! Prices and cache rules of the calls of one conversation.

use std::collections::{BTreeMap, BTreeSet};

use crate::metrics::prices::{Price, Prices, Quote};
use crate::metrics::prompt_cache::CacheTerms;
use crate::transcript::conversation::{Call, Conversation, Iteration, Service, Usage};

/// Prices are per million tokens.
pub(super) const USD: f64 = 1e-6;

/// Price of input, in USD per million tokens, that ratios assume for a model without a known price: that of Claude Opus since
/// 4.5 and of GPT-5.5. It has an effect only where such a model is compared together with others.
const NOMINAL_INPUT: f64 = 5.0;

/// Prices and cache rules by call of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Tariff {
    /// Distinct quotes, by model and time.
    quotes: Vec<Quote>,
    /// Index into `quotes` for each call.
    quote_of_call: Vec<usize>,
    terms: Vec<CacheTerms>,
    unknown: Vec<String>,
    /// Models, and what of their calls has no known price.
    unpriced: BTreeSet<(String, String)>,
    /// What the searches of each call cost, in USD; only calls that searched.
    searches: BTreeMap<usize, f64>,
    /// The record tells tokens written to the cache from other input.
    records_writes: bool,
    /// Calls whose request the provider ran more than once.
    other_iterations: BTreeMap<usize, OtherIterations>,
}

/// What a call was billed for beside its last iteration.
#[derive(Debug, Clone, PartialEq)]
struct OtherIterations {
    /// Tokens of the recorded request.
    request: u64,
    /// Index of the quote, and usage.
    billed: Vec<(usize, Usage)>,
}

impl Tariff {
    /// Prices every call as its recorded model, or all calls as one model. A call without a recorded model is priced as the
    /// last known model of the conversation.
    pub fn new(conversation: &Conversation, prices: &Prices, priced_as: Option<&str>) -> Self {
        let first_write = conversation.calls.iter().find_map(pays_for_long_lifetime);
        let mut tariff = Self {
            quotes: Vec::new(),
            quote_of_call: Vec::new(),
            terms: Vec::new(),
            unknown: Vec::new(),
            unpriced: BTreeSet::new(),
            searches: BTreeMap::new(),
            records_writes: first_write.is_some(),
            other_iterations: BTreeMap::new(),
        };
        let mut model = priced_as.or_else(|| conversation.calls.iter().find_map(|call| call.model.as_deref()));
        let mut models = Vec::new();
        let mut long = first_write.unwrap_or(false);
        for (index, call) in conversation.calls.iter().enumerate() {
            long = pays_for_long_lifetime(call).unwrap_or(long);
            model = priced_as.or(call.model.as_deref()).or(model);
            // A call that is priced as another model is priced as that model's usual service.
            let service = if priced_as.is_some() { Service::default() } else { call.service.clone() };
            let quote = tariff.quote(prices, model, call.time, &service);
            if service.web_searches > 0 {
                tariff.searches.insert(index, tariff.quotes[quote].searches(&service));
            }
            let Quote { provider, min_tokens, .. } = tariff.quotes[quote];
            tariff.terms.push(CacheTerms { provider, min_tokens, long, model: position_or_push(&mut models, model) });
            tariff.quote_of_call.push(quote);
            if let Some(usage) = call.billed()
                && !call.other_iterations.is_empty()
            {
                let billed = |other: &Iteration| match priced_as.or(other.model.as_deref()) {
                    None => (quote, other.usage),
                    model => (tariff.quote(prices, model, call.time, &Service::default()), other.usage),
                };
                let billed = call.other_iterations.iter().map(billed).collect();
                tariff.other_iterations.insert(index, OtherIterations { request: usage.request(), billed });
            }
        }
        tariff
    }

    /// Returns the index of a model's quote. Notes the model if its price is unknown.
    fn quote(&mut self, prices: &Prices, model: Option<&str>, time: Option<i64>, service: &Service) -> usize {
        let (quote, unpriced) = prices.quote_served(model, time, service);
        self.unpriced.extend(unpriced.into_iter().map(|what| (model.unwrap_or_default().to_owned(), what)));
        if quote.entry.is_none() {
            position_or_push(&mut self.unknown, model.unwrap_or_default().to_owned());
        }
        position_or_push(&mut self.quotes, quote)
    }

    /// Returns whether the prices of all calls are known; if not, they are ratios to the price of input.
    pub fn is_known(&self) -> bool {
        self.unknown.is_empty()
    }

    /// Returns the models without a price, as recorded; an empty name for calls without a model.
    pub fn unknown_models(&self) -> &[String] {
        &self.unknown
    }

    /// Returns models, and what of their calls has no known price and is in no cost.
    pub fn unpriced(&self) -> impl Iterator<Item = &(String, String)> {
        self.unpriced.iter()
    }

    /// Returns what the provider's searches of the web cost in a call, in USD. They are the same under every policy.
    pub(super) fn searches(&self, call: usize) -> f64 {
        self.searches.get(&call).copied().unwrap_or(0.0)
    }

    /// Returns the cache rules by call.
    pub fn terms(&self) -> &[CacheTerms] {
        &self.terms
    }

    /// Returns the price of a call whose request has `tokens` tokens.
    pub fn price(&self, call: usize, tokens: u64) -> &Price {
        self.quote_of_call(call).at(tokens)
    }

    pub(super) fn quote_of_call(&self, call: usize) -> &Quote {
        &self.quotes[self.quote_of_call[call]]
    }

    /// Returns what the provider bills beside the last iteration of a call, if the call's request has `tokens` tokens: the
    /// recorded usages, with input in proportion to the size of the request.
    pub(super) fn other_iterations(&self, call: usize, tokens: u64) -> impl Iterator<Item = (&Quote, Usage)> {
        let others = self.other_iterations.get(&call);
        others.into_iter().flat_map(move |others| {
            let scaled = move |recorded: u64| (u128::from(recorded) * u128::from(tokens) / u128::from(others.request)) as u64;
            others.billed.iter().map(move |(quote, usage)| {
                let usage = Usage {
                    input: scaled(usage.input),
                    cache_read: scaled(usage.cache_read),
                    cache_write_5m: scaled(usage.cache_write_5m),
                    cache_write_1h: scaled(usage.cache_write_1h),
                    ..*usage
                };
                (&self.quotes[*quote], usage)
            })
        })
    }

    /// Returns the price of input of a call whose request is not large. Large requests cost more, and this shows how much more.
    pub(super) fn input_price(&self, call: usize) -> f64 {
        self.quotes[self.quote_of_call[call]].price.input
    }

    /// Returns the price of tokens that a call writes to the cache.
    pub fn write(&self, call: usize, price: &Price) -> f64 {
        if self.terms[call].long { price.cache_write_1h } else { price.cache_write_5m }
    }

    /// Builds the usage that a provider would bill: unread input is written if the request is long enough.
    pub(super) fn usage(&self, call: usize, cache_read: u64, unread: u64, is_cached: bool, output: u64) -> Usage {
        let usage = Usage { cache_read, output, ..Usage::default() };
        match (is_cached, self.terms[call].long) {
            (false, _) => Usage { input: unread, ..usage },
            (true, false) => Usage { cache_write_5m: unread, ..usage },
            (true, true) => Usage { cache_write_1h: unread, ..usage },
        }
    }

    /// Builds the usage of a summarizer's call. One that continues the conversation reads what is `ready` and writes the rest.
    pub(super) fn summarizer_usage(&self, call: usize, request: u64, ready: u64, continues: bool, output: u64) -> Usage {
        let read = ready.min(request);
        self.usage(call, read, request - read, continues, output)
    }

    /// Returns the recorded usage as the provider billed it. Codex records cache writes as input, and some providers charge more
    /// for them.
    pub(super) fn as_billed(&self, call: usize, usage: Usage, is_cached: bool) -> Usage {
        if self.records_writes {
            usage
        } else {
            self.usage(call, usage.cache_read, usage.request() - usage.cache_read, is_cached, usage.output)
        }
    }

    /// Returns the cost of a call with this usage, all iterations included: in USD, or in tokens at the price of input if a price
    /// is unknown.
    pub(super) fn cost(&self, call: usize, usage: &Usage) -> f64 {
        let in_unit = |price: &Price, usage: &Usage| match self.is_known() {
            true => price.usd(usage),
            false => price.times(1.0 / (self.input_price(call) * USD)).usd(usage),
        };
        let others = self.other_iterations(call, usage.request());
        let searches = if self.is_known() { self.searches(call) } else { 0.0 };
        in_unit(self.price(call, usage.request()), usage)
            + searches
            + others.map(|(quote, other)| in_unit(quote.at(other.request()), &other)).sum::<f64>()
    }
}

/// Returns the price of a request in USD per token. A model without a known price has a nominal one, so that conversations
/// with and without prices can be added up.
pub(super) fn nominal_price(quote: &Quote, tokens: u64) -> Price {
    quote.at(tokens).times(if quote.entry.is_some() { USD } else { NOMINAL_INPUT * USD })
}

/// Returns whether a call paid for the longer lifetime; `None` if it wrote nothing. A call of several iterations may pay for both.
fn pays_for_long_lifetime(call: &Call) -> Option<bool> {
    let usage = call.usage.filter(|usage| call.other_iterations.is_empty() && usage.cache_write_5m + usage.cache_write_1h > 0)?;
    Some(usage.cache_write_1h > usage.cache_write_5m)
}

/// Returns the index of an item in a list, and adds the item if it is missing. There are few models and prices.
fn position_or_push<T: PartialEq>(list: &mut Vec<T>, wanted: T) -> usize {
    list.iter().position(|known| *known == wanted).unwrap_or_else(|| {
        list.push(wanted);
        list.len() - 1
    })
}
