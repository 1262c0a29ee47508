//! The price of one model at one time, and what a call costs by it.

use super::{MIN_TOKENS, Price};
use crate::metrics::prompt_cache::{OTHER, Provider};
use crate::transcript::conversation::Service;

/// Prices of unknown models, as multiples of the price of input: what most providers charge.
pub const RATIOS: Price = Price { input: 1.0, output: 5.0, cache_read: 0.1, cache_write_5m: 1.25, cache_write_1h: 2.0 };

/// Providers whose cache writes cost no more than input.
const FREE_WRITES: [&str; 3] = ["openai", "openai-5.5", "gemini"];

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

impl Quote {
    /// Returns the price of a request of `tokens` tokens.
    pub fn at(&self, tokens: u64) -> &Price {
        self.large.as_ref().filter(|(above, _)| tokens > *above).map_or(&self.price, |(_, price)| price)
    }

    /// Returns the prices of a call that was served in this way, and what has no known price: that is left out of them.
    pub(super) fn served(mut self, service: &Service) -> (Self, Vec<String>) {
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

    /// Returns the prices of an unknown model of a provider, as ratios.
    pub(super) fn of_unknown(provider: &str) -> Self {
        let write = |ratio| if FREE_WRITES.contains(&provider) { RATIOS.input } else { ratio };
        let price =
            Price { cache_write_5m: write(RATIOS.cache_write_5m), cache_write_1h: write(RATIOS.cache_write_1h), ..RATIOS };
        let provider = Provider::by_name(provider).unwrap_or(&OTHER);
        let (factors, web_searches) = (Vec::new(), None);
        Self { entry: None, price, large: None, provider, min_tokens: MIN_TOKENS, window: None, factors, web_searches }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Prices;

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
