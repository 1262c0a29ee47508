//! What tokens cost: models, their prices by date, and the rules of their prompt caches, as data.

use crate::cache::Provider;

/// USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Input that is neither read from the prompt cache nor written to it.
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    /// Input that is written to the cache, for five minutes and for an hour; the price of input where writing is free.
    pub cache_write_5m: f64,
    pub cache_write_1h: f64,
}

impl Price {
    /// All prices in another unit.
    pub fn times(&self, factor: f64) -> Self {
        let Self { input, output, cache_read, cache_write_5m, cache_write_1h } = *self;
        let [input, output, cache_read, cache_write_5m, cache_write_1h] =
            [input, output, cache_read, cache_write_5m, cache_write_1h].map(|price| price * factor);
        Self { input, output, cache_read, cache_write_5m, cache_write_1h }
    }
}

/// What one model costs at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Quote {
    /// The entry it was found under; `None`: the model is unknown, and these are ratios to the price of input.
    pub entry: Option<String>,
    /// The model as it was asked for; empty where none was.
    pub model: String,
    pub price: Price,
    /// Requests of more than so many tokens cost this instead.
    pub large: Option<(u64, Price)>,
    pub provider: &'static Provider,
    /// The shortest prefix that is cached, in tokens.
    pub min_tokens: u64,
}

/// A list of prices.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {}

impl Prices {
    /// The list that comes with the program.
    pub fn built_in() -> Self {
        Self {}
    }

    /// What a model costs at a time (milliseconds since 1970; without one: at the latest).
    pub fn quote(&self, _model: Option<&str>, _time: Option<i64>) -> Quote {
        Quote {
            entry: None,
            model: _model.unwrap_or_default().to_owned(),
            price: RATIOS,
            large: None,
            provider: &crate::cache::PROVIDERS[0],
            min_tokens: 1_024,
        }
    }
}

impl Quote {
    /// The price of a request of so many tokens.
    pub fn at(&self, tokens: u64) -> &Price {
        self.large.as_ref().filter(|(above, _)| tokens > *above).map_or(&self.price, |(_, price)| price)
    }
}

/// For models nobody knows: the price of everything as a multiple of that of input, which is what most providers ask.
pub const RATIOS: Price = Price { input: 1.0, output: 5.0, cache_read: 0.1, cache_write_5m: 1.25, cache_write_1h: 2.0 };
