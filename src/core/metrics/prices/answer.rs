//! Price of the model answers that this program asks for.

use super::Prices;
use crate::llm::client::{Price, Usage};
use crate::transcript::conversation;

impl Prices {
    /// Returns a function from the usage of an answer to its cost at the latest prices. The model may have its protocol in
    /// front (`openai:gpt-5.5`). Returns `None` if the price is unknown.
    pub fn of_answers(&self, model: &str) -> Option<Price> {
        let quote = self.quote(Some(model.split_once(':').map_or(model, |(_, model)| model)), None);
        quote.entry.as_ref()?;
        Some(Box::new(move |usage: &Usage| {
            let Usage { input, cache_read, cache_write, output } = *usage;
            let usage =
                conversation::Usage { input, cache_read, cache_write_5m: cache_write, output, ..conversation::Usage::default() };
            quote.at(usage.request()).usd(&usage)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_cost_follows_the_price_list() {
        let prices = Prices::built_in();
        let price = prices.of_answers("openai:gpt-5.5").expect("a price that is known");
        let usage = Usage { input: 1_000_000, cache_read: 1_000_000, cache_write: 0, output: 100_000 };
        // 10 and 1 per million tokens of input of a large request, 45 per million of output, or what the list has.
        let quote = prices.quote(Some("gpt-5.5"), None);
        let at = quote.at(2_000_000);
        assert!((price(&usage) - (at.input + at.cache_read + at.output / 10.0)).abs() < 1e-9);
        assert!(prices.of_answers("openai:my-own-model").is_none());
    }
}
