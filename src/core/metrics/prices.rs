//! Prices of tokens by model and date, and the rules of prompt caches, as data.
//!
//! There are two built-in lists. `prices/list.toml` has the prices of a period, and those that the other lacks or has otherwise;
//! where it says nothing, `prices/snapshot.json` holds, which is a dated copy of LiteLLM's public table. A user's file, in either
//! form, goes before both. A recorded model id is looked up by its whole name, without date and route: a model that is in no
//! list is unknown, and is never priced as one with a similar name. A request longer than a provider's limit costs the higher
//! price for all of its tokens, as providers bill it.

mod answer;
mod bill;
mod dates;
mod litellm;
mod load;
mod names;
mod page;
mod window;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use jiff::civil::Date;

pub use bill::{Bill, CallBill, Ledger, call_bills};

use crate::metrics::prompt_cache::{OTHER, Provider};
use crate::text::inflate::inflate;
use crate::transcript::conversation::Service;

/// Prices in USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Input that is neither read from the prompt cache nor written to it; more than 0.
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    /// Input written to the cache, for five minutes and for an hour; equal to `input` if writing is free.
    pub cache_write_5m: f64,
    pub cache_write_1h: f64,
}

impl Price {
    /// Returns all prices times a factor.
    pub fn times(&self, factor: f64) -> Self {
        let Self { input, output, cache_read, cache_write_5m, cache_write_1h } = *self;
        let [input, output, cache_read, cache_write_5m, cache_write_1h] =
            [input, output, cache_read, cache_write_5m, cache_write_1h].map(|price| price * factor);
        Self { input, output, cache_read, cache_write_5m, cache_write_1h }
    }
}

/// Price of one model at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Quote {
    /// Name in the list; `None`: the model is unknown, and the prices are ratios to the price of input.
    pub entry: Option<String>,
    pub price: Price,
    /// Token limit, and the price of requests above it.
    pub large: Option<(u64, Price)>,
    pub provider: &'static Provider,
    /// Tokens of the shortest prefix that is cached.
    pub min_tokens: u64,
    /// Most tokens that the model takes as input, if a list says so.
    pub window: Option<u64>,
    /// By what all prices are multiplied if a call was served so ([`Service::modes`]).
    pub factors: Vec<(String, f64)>,
    /// Price of a thousand searches of the web.
    pub web_searches: Option<f64>,
}

/// Price of some models in one period.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceEntry {
    /// Ids of the models, without date and route; never empty.
    pub names: Vec<String>,
    pub price: Price,
    /// Token limit, and the price of requests above it.
    pub large: Option<(u64, Price)>,
    pub provider: &'static Provider,
    /// Tokens of the shortest prefix that is cached.
    pub min_tokens: u64,
    /// Most tokens that the model takes as input.
    pub window: Option<u64>,
    /// By what all prices are multiplied if a call was served so.
    pub factors: Vec<(String, f64)>,
    /// Price of a thousand searches of the web.
    pub web_searches: Option<f64>,
    /// First day of the price, and first day after it, in UTC. If no price follows, the last known one stays valid.
    pub from: Option<Date>,
    pub until: Option<Date>,
    /// Where and when the price was read.
    pub source: Option<String>,
    pub date: Option<String>,
}

/// List of prices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    entries: Vec<PriceEntry>,
    /// For each name, `(entry index, index in its names)`, the earliest entry first.
    positions: HashMap<String, Vec<(usize, usize)>>,
    fallback: Fallback,
}

/// Where to look if a list has no price for a model at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Fallback {
    #[default]
    Nothing,
    /// LiteLLM's table. It is large, so it is read only when it is needed.
    Snapshot,
    /// The project's own list, and behind it the snapshot.
    BuiltIn,
}

impl Fallback {
    fn list(self) -> Option<&'static Prices> {
        match self {
            Self::Nothing => None,
            Self::Snapshot => Some(snapshot()),
            Self::BuiltIn => Some(built_in()),
        }
    }
}

fn built_in() -> &'static Prices {
    static LIST: LazyLock<Prices> = LazyLock::new(|| {
        let list = Prices::parse(include_str!("prices/list.toml"), "the built-in prices");
        let list = list.expect("it is part of the program, and a test parses it");
        Prices { fallback: Fallback::Snapshot, ..list }
    });
    &LIST
}

/// `prices/snapshot.json`, deflated.
const DEFLATED_SNAPSHOT: &[u8] = include_bytes!("prices/snapshot.deflate");

fn snapshot() -> &'static Prices {
    static TABLE: LazyLock<Prices> = LazyLock::new(|| {
        let json = String::from_utf8(inflate(DEFLATED_SNAPSHOT)).expect("the snapshot is UTF-8");
        Prices::parse(&json, "the built-in snapshot").expect("it is part of the program, and a test parses it")
    });
    &TABLE
}

impl Prices {
    /// Returns the built-in list, which is parsed once.
    pub fn built_in() -> Self {
        built_in().clone()
    }

    /// Looks in the built-in lists for what this list lacks.
    pub fn or_built_in(self) -> Self {
        Self { fallback: Fallback::BuiltIn, ..self }
    }

    /// Returns the price of a model at a time (milliseconds since 1970; `None`: the latest price). Before its first period, a
    /// model costs what it costs in that period.
    pub fn quote(&self, model: Option<&str>, time: Option<i64>) -> Quote {
        let known = model.and_then(|model| self.find_model(&names::lookup_keys(model), time));
        known.unwrap_or_else(|| ratio_quote(names::provider(model.unwrap_or_default())))
    }

    /// Returns the price of a model for calls that were served in this way, and what of that has no known price: it is in none of the
    /// prices.
    pub fn quote_served(&self, model: Option<&str>, time: Option<i64>, service: &Service) -> (Quote, Vec<String>) {
        let mut quote = self.quote(model, time);
        if *service == Service::default() {
            return (quote, Vec::new());
        }
        let keys = names::lookup_keys(model.unwrap_or_default());
        for list in std::iter::successors(Some(self), |list| list.fallback.list()) {
            let Some((other, _)) = keys.iter().find_map(|key| list.find(key, time)) else { continue };
            quote.factors = if quote.factors.is_empty() { other.factors } else { quote.factors };
            quote.web_searches = quote.web_searches.or(other.web_searches);
        }
        quote.served(service)
    }

    fn find_model(&self, keys: &[String], time: Option<i64>) -> Option<Quote> {
        let found = keys.iter().find_map(|key| self.find(key, time));
        if let Some((quote, false)) = &found
            && quote.window.is_some()
        {
            return found.map(|(quote, _)| quote);
        }
        let fallback = self.fallback.list().and_then(|list| list.find_model(keys, time));
        match (found, fallback) {
            (Some((_, true)), Some(fallback)) => Some(fallback),
            (Some((quote, _)), fallback) => {
                Some(Quote { window: quote.window.or(fallback.and_then(|other| other.window)), ..quote })
            }
            (None, fallback) => fallback,
        }
    }

    /// Returns every model of the list, in order, without those of the lists behind it.
    pub fn names(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let names = self.entries.iter().flat_map(|entry| &entry.names).map(String::as_str);
        names.filter(|name| seen.insert(names::normalized(name))).collect()
    }

    /// Returns the models of this list and of those behind it, without names that contain a route.
    pub fn all_names(&self) -> Vec<&str> {
        let lists = std::iter::successors(Some(self), |list| list.fallback.list());
        let mut seen = HashSet::new();
        let names = lists.flat_map(Self::names).filter(|name| !name.contains('/'));
        names.filter(|name| seen.insert(names::normalized(name))).collect()
    }

    /// Returns the entries of a model with this name, the earliest first: those of the first list that has any.
    pub fn entries(&self, name: &str) -> Vec<&PriceEntry> {
        match self.positions.get(&names::normalized(name)) {
            Some(positions) => positions.iter().map(|(entry, _)| &self.entries[*entry]).collect(),
            None => self.fallback.list().map_or_else(Vec::new, |list| list.entries(name)),
        }
    }

    fn new(entries: Vec<PriceEntry>) -> Self {
        let mut positions: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        let mut by_time: Vec<_> = entries.iter().enumerate().collect();
        by_time.sort_by_key(|(_, entry)| entry.from);
        for (index, entry) in by_time {
            for (place, name) in entry.names.iter().enumerate() {
                positions.entry(names::normalized(name)).or_default().push((index, place));
            }
        }
        Self { entries, positions, fallback: Fallback::Nothing }
    }

    /// Returns the price that this list has for a name, and whether the period of that price has ended.
    fn find(&self, key: &str, time: Option<i64>) -> Option<(Quote, bool)> {
        let positions = self.positions.get(key)?;
        let has_begun = |(entry, _): &&(usize, usize)| {
            let from = self.entries[*entry].from;
            time.is_none_or(|time| from.is_none_or(|from| from <= utc_day(time)))
        };
        let (entry, name) = *positions.iter().rfind(has_begun).or(positions.first())?;
        let PriceEntry { names, price, large, provider, min_tokens, window, factors, web_searches, until, .. } =
            &self.entries[entry];
        let has_ended = until.is_some_and(|until| time.is_none_or(|time| until <= utc_day(time)));
        let quote = Quote {
            entry: names.get(name).cloned(),
            price: *price,
            large: *large,
            provider,
            min_tokens: *min_tokens,
            window: *window,
            factors: factors.clone(),
            web_searches: *web_searches,
        };
        Some((quote, has_ended))
    }
}

impl Quote {
    /// Returns the price of a request of `tokens` tokens.
    pub fn at(&self, tokens: u64) -> &Price {
        self.large.as_ref().filter(|(above, _)| tokens > *above).map_or(&self.price, |(_, price)| price)
    }

    /// Returns the prices of a call that was served in this way, and what has no known price: that is left out of them.
    fn served(mut self, service: &Service) -> (Self, Vec<String>) {
        let mut unpriced = Vec::new();
        for mode in &service.modes {
            match self.factors.iter().find(|(name, _)| name == mode) {
                Some((_, factor)) => {
                    self.large = self.large.map(|(above, price)| (above, price.times(*factor)));
                    self.price = self.price.times(*factor);
                }
                None => unpriced.push(format!("service `{mode}`")),
            }
        }
        if service.web_searches > 0 && self.web_searches.is_none() {
            unpriced.push("searches of the web".to_owned());
        }
        if self.entry.is_some() { (self, unpriced) } else { (self, Vec::new()) }
    }

    /// Returns the price of the searches of a call, in US dollars; 0 if it is unknown.
    pub fn searches(&self, service: &Service) -> f64 {
        self.web_searches.unwrap_or(0.0) * service.web_searches as f64 / 1e3
    }
}

/// Returns the day of a time, in UTC; the first day for times that no calendar holds.
fn utc_day(time: i64) -> Date {
    jiff::Timestamp::from_millisecond(time).map_or(Date::MIN, |time| time.to_zoned(jiff::tz::TimeZone::UTC).date())
}

/// Prices of unknown models, as multiples of the price of input: what most providers charge.
pub const RATIOS: Price = Price { input: 1.0, output: 5.0, cache_read: 0.1, cache_write_5m: 1.25, cache_write_1h: 2.0 };

/// Providers whose cache writes cost no more than input.
const FREE_WRITES: [&str; 3] = ["openai", "openai-5.5", "gemini"];

/// Default for the tokens of the shortest prefix that is cached: what most models of Anthropic and OpenAI require.
const MIN_TOKENS: u64 = 1_024;

fn ratio_quote(provider: &str) -> Quote {
    let write = |ratio| if FREE_WRITES.contains(&provider) { RATIOS.input } else { ratio };
    let price = Price { cache_write_5m: write(RATIOS.cache_write_5m), cache_write_1h: write(RATIOS.cache_write_1h), ..RATIOS };
    let provider = Provider::by_name(provider).unwrap_or(&OTHER);
    let (factors, web_searches) = (Vec::new(), None);
    Quote { entry: None, price, large: None, provider, min_tokens: MIN_TOKENS, window: None, factors, web_searches }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(prices: &Prices, model: &str, time: Option<&str>) -> f64 {
        let time = time.map(|time| time.parse::<jiff::Timestamp>().expect(time).as_millisecond());
        prices.quote(Some(model), time).price.input
    }

    #[test]
    fn price_applies_within_its_period() {
        let list = Prices::built_in();
        for (time, expected) in [
            (Some("1999-01-01T00:00:00Z"), 2.0),
            (Some("2026-08-31T23:59:59.999Z"), 2.0),
            (Some("2026-09-01T00:00:00Z"), 3.0),
            (Some("2026-11-22T23:59:59Z"), 3.0),
            (Some("2099-01-01T00:00:00Z"), 2.0),
            (None, 2.0),
        ] {
            assert_eq!(input(&list, "claude-sonnet-5", time), expected, "{time:?}");
        }
        let gap = "[[model]]\nnames = [\"m\"]\nfrom = \"2026-02-01\"\nuntil = 2026-03-01\ninput = 2\noutput = 0\ncache_read = 0\n\
                   [[model]]\nnames = [\"m\"]\nfrom = \"2026-04-01\"\ninput = 3\noutput = 0\ncache_read = 0\n";
        let gap = Prices::parse(gap, "gap").expect("prices");
        for (time, expected) in [("2026-01-31T00:00:00Z", 2.0), ("2026-03-15T00:00:00Z", 2.0), ("2026-04-01T00:00:00Z", 3.0)] {
            assert_eq!(input(&gap, "m", Some(time)), expected, "{time}");
        }
        assert_eq!(list.quote(Some("claude-sonnet-5"), Some(i64::MAX)).entry.as_deref(), Some("claude-sonnet-5"));
    }

    #[test]
    fn large_requests_use_the_higher_price() {
        let sonnet = Prices::built_in().quote(Some("claude-sonnet-4-5-20250929"), None);
        let sums = [200_000, 200_001].map(|tokens| (sonnet.at(tokens).input, sonnet.at(tokens).cache_write_1h));
        assert_eq!(sums, [(3.0, 6.0), (6.0, 12.0)]);
        let opus = Prices::built_in().quote(Some("claude-opus-4-6"), None);
        assert_eq!((opus.large, opus.at(900_000).input, opus.min_tokens), (None, 5.0, 4_096));
    }

    #[test]
    fn unknown_model_has_price_ratios() {
        let list = Prices::built_in();
        for (model, provider, write) in [
            (Some("claude-sonnet-99"), "anthropic", (1.25, 2.0)),
            (Some("gpt-99"), "openai", (1.0, 1.0)),
            (Some("openai/o3-huge"), "openai", (1.0, 1.0)),
            (Some("gpt-5.6-stella"), "openai-5.6", (1.25, 2.0)),
            (Some("models/gemini-9"), "gemini", (1.0, 1.0)),
            (Some("qwen-99"), "other", (1.25, 2.0)),
            (Some(""), "other", (1.25, 2.0)),
            (None, "other", (1.25, 2.0)),
        ] {
            let quote = list.quote(model, None);
            assert_eq!((quote.entry, quote.provider.name), (None, provider), "{model:?}");
            assert_eq!((quote.price.cache_write_5m, quote.price.cache_write_1h), write, "{model:?}");
            assert_eq!((quote.price.input, quote.price.output, quote.price.cache_read), (1.0, 5.0, 0.1));
        }
    }

    #[test]
    fn free_cache_writes_cost_the_input_price() {
        let gpt = Prices::built_in().quote(Some("gpt-5.5"), None);
        assert_eq!((gpt.price.cache_write_5m, gpt.price.cache_write_1h), (5.0, 5.0));
        let gemini = Prices::built_in().quote(Some("gemini-3.1-pro"), None);
        assert_eq!((gemini.at(1).cache_write_1h, gemini.at(200_001).cache_write_1h), (2.0, 4.0));
    }
}
