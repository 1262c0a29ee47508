//! Reads the price table of LiteLLM: one JSON object, which maps the name of each model to its prices in USD per token.
//!
//! The built-in snapshot (`snapshot.json`, written by `.ci/update-prices`, and deflated in the program) has the same form. Fields and
//! models that this program does not use are ignored: images, and models without a price for text.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::load::{A_PRICE_IS, is_price};
use super::{MIN_TOKENS, Price, PriceEntry, Prices, names};
use crate::metrics::prompt_cache::{OTHER, Provider};
use crate::util::toml_span::{FileError, line_at};

/// Key of the snapshot's source and date. It is not the name of a model.
const SNAPSHOT: &str = "snapshot";

/// Companies that serve their own models, as LiteLLM names them. If several routes lead to one model, the price of the first of
/// these is that of the model's name without a route.
const MAKERS: [&str; 11] =
    ["anthropic", "openai", "gemini", "deepseek", "xai", "mistral", "zai", "moonshot", "dashscope", "minimax", "meta_llama"];

impl Prices {
    /// Parses a table. `origin` names the source in errors.
    pub(super) fn parse_litellm(text: &str, origin: &str) -> Result<Self, FileError> {
        let error = |line: Option<usize>, what: String| FileError { origin: origin.to_owned(), line, what };
        let table: Map<String, Value> = serde_json::from_str(text)
            .map_err(|e| error(Some(e.line()), format!("neither a list of prices in TOML nor a price table of LiteLLM: {e}")))?;
        let about = |key: &str| table.get(SNAPSHOT).and_then(|about| about.get(key)).and_then(Value::as_str).map(str::to_owned);
        let (source, date) = (about("source").unwrap_or_else(|| origin.to_owned()), about("date"));
        let mut entries = Vec::new();
        for (name, model) in &table {
            let entry = price_entry(name, model).map_err(|what| {
                let line = text.find(&format!("\"{name}\"")).map(|at| line_at(text, at));
                error(line, format!("`{name}`: {what}"))
            })?;
            entries.extend(entry.map(|entry| PriceEntry { source: Some(source.clone()), date: date.clone(), ..entry }));
        }
        if entries.is_empty() {
            return Err(error(None, "no model in it has `input_cost_per_token` and `output_cost_per_token`".to_owned()));
        }
        add_plain_names(&mut entries, &table);
        Ok(Self::new(entries))
    }
}

/// Returns the entry of one model; `None` if it has no price for text.
fn price_entry(name: &str, model: &Value) -> Result<Option<PriceEntry>, String> {
    let Some(price) = price(model, "")? else { return Ok(None) };
    let whole = |key: &str| model.get(key).and_then(Value::as_f64).filter(|tokens| *tokens >= 1.0).map(|tokens| tokens as u64);
    Ok(Some(PriceEntry {
        names: vec![name.to_owned()],
        price,
        large: large(model)?,
        provider: Provider::by_name(names::provider(name)).unwrap_or(&OTHER),
        min_tokens: whole("prompt_cache_min_tokens").unwrap_or(MIN_TOKENS),
        window: whole("max_input_tokens"),
        factors: factors(model, &price)?,
        web_searches: per_million(
            model.get("search_context_cost_per_query").unwrap_or(&Value::Null),
            "search_context_size_medium",
        )?
        .map(|price| price / 1e3),
        from: None,
        until: None,
        source: None,
        date: None,
    }))
}

/// Returns the prices whose keys have this suffix (`_above_200k_tokens`); `None` if input or output has none.
fn price(model: &Value, suffix: &str) -> Result<Option<Price>, String> {
    let number = |key: &str| per_million(model, &format!("{key}{suffix}"));
    let (Some(input), Some(output)) = (number("input_cost_per_token")?, number("output_cost_per_token")?) else {
        return Ok(None);
    };
    if input == 0.0 {
        return Ok(None);
    }
    // A price of 0 for writes means that they are billed as input.
    let write = number("cache_creation_input_token_cost")?.filter(|price| *price > 0.0).unwrap_or(input);
    let hour = number("cache_creation_input_token_cost_above_1hr")?.filter(|price| *price > 0.0);
    let cache_read = number("cache_read_input_token_cost")?.unwrap_or(input);
    Ok(Some(Price { input, output, cache_read, cache_write_5m: write, cache_write_1h: hour.unwrap_or(write) }))
}

/// The services that the table gives by prices of their own.
const SERVICES: [&str; 3] = ["priority", "flex", "batches"];

/// Returns the factors of services: those that the table states (`fast`, and regions such as `us`), and those of services whose prices
/// are all the same multiple of the usual ones.
fn factors(model: &Value, usual: &Price) -> Result<Vec<(String, f64)>, String> {
    let stated = model.get("provider_specific_entry").and_then(Value::as_object).into_iter().flatten();
    let stated = stated.filter_map(|(name, factor)| Some((name.clone(), factor.as_f64().filter(|factor| *factor > 0.0)?)));
    let mut factors: Vec<(String, f64)> = stated.collect();
    for service in SERVICES {
        let Some(price) = price(model, &format!("_{service}"))? else { continue };
        let factor = price.input / usual.input;
        let is_same = |price: f64, usual: f64| (price - usual * factor).abs() <= 1e-6 * usual;
        if is_same(price.output, usual.output) && is_same(price.cache_read, usual.cache_read) {
            factors.push((service.to_owned(), factor));
        }
    }
    Ok(factors)
}

/// Returns the lowest limit above which a request costs more, and the price there.
fn large(model: &Value) -> Result<Option<(u64, Price)>, String> {
    let keys = model.as_object().into_iter().flat_map(Map::keys);
    let limits = keys.filter_map(|key| key.strip_prefix("input_cost_per_token_above_")?.strip_suffix("k_tokens")?.parse().ok());
    let Some(thousands) = limits.min() else { return Ok(None) };
    let thousands: u64 = thousands;
    Ok(price(model, &format!("_above_{thousands}k_tokens"))?.map(|price| (thousands.saturating_mul(1_000), price)))
}

fn per_million(model: &Value, key: &str) -> Result<Option<f64>, String> {
    let Some(value) = model.get(key).filter(|value| !value.is_null()) else { return Ok(None) };
    // A price per token has many zeros after the point: rounding gives 6.25 per million and not 6.250000000000001.
    let rounded = value.as_f64().map(|number| (number * 1e15).round() / 1e9).filter(is_price);
    rounded.map(Some).ok_or_else(|| format!("`{key}` is {value}, but {A_PRICE_IS}"))
}

/// Adds the name without a route to the entry whose price is that of the name: the maker's, else the first.
fn add_plain_names(entries: &mut [PriceEntry], table: &Map<String, Value>) {
    let known: HashSet<String> = entries.iter().map(|entry| names::normalized(&entry.names[0])).collect();
    let mut best: HashMap<String, (usize, usize, String)> = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some((_, plain)) = entry.names[0].rsplit_once('/') else { continue };
        let key = names::normalized(plain);
        if key.is_empty() || known.contains(&key) {
            continue;
        }
        let maker = table[&entry.names[0]].get("litellm_provider").and_then(Value::as_str).unwrap_or_default();
        let rank = MAKERS.iter().position(|known| *known == maker).unwrap_or(MAKERS.len());
        if best.get(&key).is_none_or(|(known_rank, ..)| rank < *known_rank) {
            best.insert(key, (rank, index, plain.to_owned()));
        }
    }
    for (_, index, plain) in best.into_values() {
        entries[index].names.push(plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::prices::snapshot::DEFLATED;
    use crate::text::inflate::inflate;

    const TABLE: &str = r#"{
        "sample_spec": {"mode": "one of: chat"},
        "azure/m": {"input_cost_per_token": 9e-06, "output_cost_per_token": 1e-05, "litellm_provider": "azure"},
        "zai/m": {"input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05, "cache_read_input_token_cost": 3e-07,
            "cache_creation_input_token_cost": 3.75e-06, "cache_creation_input_token_cost_above_1hr": 6e-06,
            "input_cost_per_token_above_200k_tokens": 6e-06, "output_cost_per_token_above_200k_tokens": 2.25e-05,
            "input_cost_per_token_flex": 1.5e-06, "output_cost_per_token_flex": 7.5e-06, "cache_read_input_token_cost_flex": 1.5e-07,
            "input_cost_per_token_priority": 6e-06, "output_cost_per_token_priority": 2e-05,
            "provider_specific_entry": {"fast": 6, "us": 1.1, "odd": "x"}, "search_context_cost_per_query": {"search_context_size_medium": 0.01},
            "max_input_tokens": 131072, "litellm_provider": "zai"},
        "picture": {"input_cost_per_image": 0.04}
    }"#;

    #[test]
    fn litellm_table_is_read() {
        let prices = Prices::parse(TABLE, "table.json").expect("a table");
        let quote = prices.quote(Some("m"), None);
        let price = Price { input: 3.0, output: 15.0, cache_read: 0.3, cache_write_5m: 3.75, cache_write_1h: 6.0 };
        assert_eq!((quote.price, quote.window), (price, Some(131_072)), "the maker's price");
        // Input and output of `priority` are not the same multiple, so there is no factor.
        assert_eq!(quote.factors, [("fast".to_owned(), 6.0), ("us".to_owned(), 1.1), ("flex".to_owned(), 0.5)]);
        assert_eq!(quote.web_searches, Some(10.0));
        let large = Price { input: 6.0, output: 22.5, cache_read: 6.0, cache_write_5m: 6.0, cache_write_1h: 6.0 };
        assert_eq!(quote.large, Some((200_000, large)));
        assert_eq!(prices.quote(Some("azure/m"), None).price.cache_read, 9.0, "no discount without a price of reads");
        assert_eq!(prices.quote(Some("picture"), None).entry, None);
    }

    #[test]
    fn litellm_table_errors_name_the_line() {
        for (text, said) in [
            (TABLE.replace("9e-06", "-9e-06"), "t.json:3: `azure/m`: `input_cost_per_token` is -9e-06, but"),
            (TABLE.replace("9e-06", "\"9e-06\""), "t.json:3: `azure/m`: `input_cost_per_token` is \"9e-06\", but a price is"),
            ("{\n\"m\": {}\n}".to_owned(), "t.json: no model in it has `input_cost_per_token`"),
            ("{\n\"m\": \n}".to_owned(), "t.json:3: neither a list of prices in TOML nor a price table of LiteLLM: "),
        ] {
            let error = Prices::parse(&text, "t.json").expect_err("the table is wrong").to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn built_in_snapshot_loads() {
        let json = include_str!("snapshot.json");
        assert!(inflate(DEFLATED) == json.as_bytes(), "`.ci/update-prices` writes both files");
        let prices = Prices::parse(json, "snapshot").unwrap_or_else(|error| panic!("{error}"));
        assert!(prices.entries.len() > 3_000);
        assert!(prices.entries.iter().all(|entry| entry.source.as_deref().is_some_and(|source| source.starts_with("litellm "))));
        for (model, input, window) in
            [("claude-opus-5", 5.0, 1_000_000), ("gpt-5.3-codex", 1.75, 272_000), ("glm-4.7", 0.6, 200_000)]
        {
            let quote = prices.quote(Some(model), None);
            assert_eq!((quote.price.input, quote.window), (input, Some(window)), "{model}");
        }
    }
}
