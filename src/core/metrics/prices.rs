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
mod quote;
mod snapshot;
mod window;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use jiff::civil::Date;

pub use bill::{Bill, CallBill, Ledger, call_bills};
pub use names::lookup_keys;
pub use quote::{Quote, RATIOS};

use crate::metrics::prompt_cache::Provider;
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
    /// LiteLLM's table. It is large, so only what is needed of it is read.
    Snapshot,
    /// The project's own list, and behind it the snapshot.
    BuiltIn,
}

impl Fallback {
    /// Returns the whole list.
    fn list(self) -> Option<&'static Prices> {
        match self {
            Self::Nothing => None,
            Self::Snapshot => Some(snapshot::whole()),
            Self::BuiltIn => Some(built_in()),
        }
    }

    /// Returns the list, or the part of it that has what these models cost. An entry of a part may have more names than in the list.
    fn list_with(self, keys: &[String]) -> Option<&'static Prices> {
        match self {
            Self::Snapshot => keys.iter().find_map(|key| snapshot::part(key)),
            Self::Nothing | Self::BuiltIn => self.list(),
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
        known.unwrap_or_else(|| Quote::of_unknown(names::provider(model.unwrap_or_default())))
    }

    /// Returns the price of a model for calls that were served in this way, and what of that has no known price: it is in none of the
    /// prices.
    pub fn quote_served(&self, model: Option<&str>, time: Option<i64>, service: &Service) -> (Quote, Vec<String>) {
        let mut quote = self.quote(model, time);
        if *service == Service::default() {
            return (quote, Vec::new());
        }
        let keys = names::lookup_keys(model.unwrap_or_default());
        for list in std::iter::successors(Some(self), |list| list.fallback.list_with(&keys)) {
            let Some((other, _)) = keys.iter().find_map(|key| list.find(key, time)) else { continue };
            let is_new = |(name, _): &(String, f64)| quote.factors.iter().all(|(known, _)| known != name);
            let more: Vec<_> = other.factors.into_iter().filter(is_new).collect();
            quote.factors.extend(more);
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
        let fallback = self.fallback.list_with(keys).and_then(|list| list.find_model(keys, time));
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

/// Returns the day of a time, in UTC; the first day for times that no calendar holds.
fn utc_day(time: i64) -> Date {
    jiff::Timestamp::from_millisecond(time).map_or(Date::MIN, |time| time.to_zoned(jiff::tz::TimeZone::UTC).date())
}

/// Default for the tokens of the shortest prefix that is cached: what most models of Anthropic and OpenAI require.
const MIN_TOKENS: u64 = 1_024;

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
}
