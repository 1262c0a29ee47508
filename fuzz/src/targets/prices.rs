//! Lists of prices, in TOML and in LiteLLM's JSON: every price is a number that money can be computed with.

use recompact::metrics::prices::Prices;

/// Milliseconds since 1970: the limits, and a day that some list may begin or end with.
const TIMES: [Option<i64>; 4] = [None, Some(i64::MIN), Some(1_780_000_000_000), Some(i64::MAX)];

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(prices) = Prices::parse(&text, "fuzz") else { return };
    for name in prices.names() {
        assert!(!prices.entries(name).is_empty(), "{name}");
        for time in TIMES {
            let quote = prices.quote(Some(name), time);
            for tokens in [0, 200_001, u64::MAX] {
                let price = quote.at(tokens);
                assert!(price.input.is_finite() && price.input >= 0.0, "{name}: {price:?}");
                assert!(price.output.is_finite() && price.output >= 0.0, "{name}: {price:?}");
            }
        }
    }
}
