//! Parses TOML into [`Prices`], with the line of each error.

use jiff::civil::Date;
use toml::{Table, Value};

use super::{MIN_TOKENS, Price, PriceEntry, Prices, names};
use crate::metrics::prompt_cache::{PROVIDERS, Provider};
use crate::util::text::did_you_mean;
use crate::util::toml_span::{FileError, TomlSpans, line_at};

const SETTINGS: &[&str] = &[
    "names",
    "provider",
    "min_tokens",
    "window",
    "input",
    "output",
    "cache_write_5m",
    "cache_write_1h",
    "cache_read",
    "large",
    "factors",
    "web_searches",
    "from",
    "until",
    "source",
    "date",
];
const LARGE_SETTINGS: &[&str] = &["above", "input", "output", "cache_write_5m", "cache_write_1h", "cache_read"];

/// The largest price in USD per million tokens: a dollar for each token. Sums of prices must stay numbers.
const MAX_PRICE: f64 = 1e6;
/// The largest factor of a service.
const MAX_FACTOR: f64 = 1e3;
pub(super) const A_PRICE_IS: &str = "a price is a number, 0 or more, and at most a dollar per token";

/// An error, and the key it is about.
struct KeyError {
    key: &'static str,
    message: String,
}

type Parsed<T> = Result<T, KeyError>;

impl Prices {
    /// Parses a list of prices in TOML, or LiteLLM's table in JSON. `origin` names the source in errors.
    pub fn parse(text: &str, origin: &str) -> Result<Self, FileError> {
        if text.trim_start().starts_with('{') {
            return Self::parse_litellm(text, origin);
        }
        let error = |line: Option<usize>, what: String| FileError { origin: origin.to_owned(), line, what };
        let mut list: Table =
            toml::from_str(text).map_err(|e| error(e.span().map(|span| line_at(text, span.start)), e.message().to_owned()))?;
        let spans = TomlSpans::new(text, "model");
        let Some(Value::Array(models)) = list.remove("model") else {
            return Err(error(spans.line(None, "model"), "a list of prices has a table `[[model]]` for each price".to_owned()));
        };
        if let Some(key) = list.keys().next() {
            return Err(error(spans.line(None, key), format!("a list of prices has no setting `{key}`; write `[[model]]`")));
        }
        let mut entries: Vec<PriceEntry> = Vec::new();
        for (index, model) in models.iter().enumerate() {
            let Value::Table(model) = model else {
                return Err(error(spans.line(None, "model"), "`model` is written `[[model]]`".to_owned()));
            };
            if let Some(key) = model.keys().find(|key| !SETTINGS.contains(&key.as_str())) {
                let what = format!("{}a price has no setting `{key}`{}", error_prefix(model), did_you_mean(key, SETTINGS));
                return Err(error(spans.line(Some(index), key), what));
            }
            let entry =
                price_entry(model).and_then(|entry| check_no_overlap(&entries, &entry).map(|()| entry)).map_err(|wrong| {
                    let line = [wrong.key, "names"].into_iter().chain(SETTINGS.iter().copied());
                    let line = line.filter(|key| model.contains_key(*key)).find_map(|key| spans.line(Some(index), key));
                    error(line, format!("{}{}", error_prefix(model), wrong.message))
                })?;
            entries.push(entry);
        }
        Ok(Self::new(entries))
    }
}

/// Returns the beginning of an error message: the name of the model.
fn error_prefix(model: &Table) -> String {
    let name = model.get("names").and_then(|names| names.get(0)).and_then(Value::as_str);
    name.map_or_else(String::new, |name| format!("`{name}`: "))
}

fn price_entry(model: &Table) -> Parsed<PriceEntry> {
    let names = model_names(model)?;
    let provider = text(model, "provider")?;
    let provider = provider.as_deref().unwrap_or_else(|| names::provider(&names[0]));
    let provider = Provider::by_name(provider).ok_or_else(|| {
        let known: Vec<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
        KeyError { key: "provider", message: format!("there is no provider `{provider}`{}", did_you_mean(provider, &known)) }
    })?;
    let (from, until) = (date(model, "from")?, date(model, "until")?);
    if let (Some(first), Some(end)) = (from, until)
        && first >= end
    {
        return Err(KeyError { key: "until", message: format!("ends on {end}, before it begins on {first}") });
    }
    Ok(PriceEntry {
        price: price(model)?,
        large: large(model)?,
        provider,
        min_tokens: whole_number(model, "min_tokens")?.unwrap_or(MIN_TOKENS),
        window: whole_number(model, "window")?,
        factors: factors(model)?,
        web_searches: number(model, "web_searches")?,
        from,
        until,
        source: text(model, "source")?,
        date: text(model, "date")?,
        names,
    })
}

fn model_names(model: &Table) -> Parsed<Vec<String>> {
    let wrong = || KeyError { key: "names", message: "`names` is a list of model ids in quotes, one or more".to_owned() };
    let names = model.get("names").and_then(Value::as_array).filter(|names| !names.is_empty()).ok_or_else(wrong)?;
    names.iter().map(|name| name.as_str().filter(|name| !name.trim().is_empty()).map(str::to_owned).ok_or_else(wrong)).collect()
}

fn price(table: &Table) -> Parsed<Price> {
    let required =
        |key| number(table, key)?.ok_or_else(|| KeyError { key, message: format!("`{key}` is missing: USD per million tokens") });
    let input = required("input")?;
    if input == 0.0 {
        let what = "`input` is 0, but costs are compared as multiples of it: remove the model, and ratios are used";
        return Err(KeyError { key: "input", message: what.to_owned() });
    }
    let cache_write_5m = number(table, "cache_write_5m")?.unwrap_or(input);
    Ok(Price {
        input,
        output: required("output")?,
        cache_read: required("cache_read")?,
        cache_write_5m,
        cache_write_1h: number(table, "cache_write_1h")?.unwrap_or(cache_write_5m),
    })
}

fn large(model: &Table) -> Parsed<Option<(u64, Price)>> {
    let wrong = |what| KeyError { key: "large", message: what };
    let Some(value) = model.get("large") else { return Ok(None) };
    let form = || wrong("`large` is written { above = 200_000, input = …, output = …, cache_read = … }".to_owned());
    let large = value.as_table().ok_or_else(form)?;
    if let Some(key) = large.keys().find(|key| !LARGE_SETTINGS.contains(&key.as_str())) {
        return Err(wrong(format!("`large` has no setting `{key}`{}", did_you_mean(key, LARGE_SETTINGS))));
    }
    let inside = |inner: KeyError| wrong(format!("in `large`, {}", inner.message));
    let above = whole_number(large, "above").map_err(inside)?.ok_or_else(form)?;
    Ok(Some((above, price(large).map_err(inside)?)))
}

fn factors(model: &Table) -> Parsed<Vec<(String, f64)>> {
    let wrong =
        || KeyError { key: "factors", message: "`factors` is written { fast = 2, us = 1.1 }: numbers above 0".to_owned() };
    let Some(value) = model.get("factors") else { return Ok(Vec::new()) };
    let factor = |(name, value): (&String, &Value)| {
        let number = value.as_float().or(value.as_integer().map(|number| number as f64));
        Some((name.clone(), number.filter(|factor| (f64::MIN_POSITIVE..=MAX_FACTOR).contains(factor))?))
    };
    value.as_table().and_then(|factors| factors.iter().map(factor).collect()).ok_or_else(wrong)
}

/// Whether a number of USD per million tokens can be a price.
pub(super) fn is_price(number: &f64) -> bool {
    (0.0..=MAX_PRICE).contains(number)
}

fn number(table: &Table, key: &'static str) -> Parsed<Option<f64>> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let number = value.as_float().or(value.as_integer().map(|number| number as f64));
    match number.filter(is_price) {
        Some(number) => Ok(Some(number)),
        None => Err(KeyError { key, message: format!("`{key}` is {value}, but {A_PRICE_IS}") }),
    }
}

fn whole_number(table: &Table, key: &'static str) -> Parsed<Option<u64>> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
    number
        .map(Some)
        .ok_or_else(|| KeyError { key, message: format!("`{key}` is {value}, but must be a whole number, 0 or more") })
}

fn text(table: &Table, key: &'static str) -> Parsed<Option<String>> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let text = value.as_str().map(str::to_owned);
    text.map(Some).ok_or_else(|| KeyError { key, message: format!("`{key}` is {value}, but must be a text in quotes") })
}

/// Parses a date in quotes, or a TOML date.
fn date(table: &Table, key: &'static str) -> Parsed<Option<Date>> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let date = written.parse::<Date>().ok().filter(|_| written.len() == "2026-09-01".len());
    date.map(Some)
        .ok_or_else(|| KeyError { key, message: format!("`{key}` is {value}, but must be a date such as \"2026-09-01\"") })
}

/// Checks that no model has two prices at one time.
fn check_no_overlap(before: &[PriceEntry], entry: &PriceEntry) -> Parsed<()> {
    let wrong = |what| Err(KeyError { key: "names", message: what });
    let begins_in_time = |a: &PriceEntry, b: &PriceEntry| a.from.unwrap_or(Date::MIN) < b.until.unwrap_or(Date::MAX);
    let overlapping: Vec<_> =
        before.iter().filter(|other| begins_in_time(entry, other) && begins_in_time(other, entry)).collect();
    for (place, name) in entry.names.iter().enumerate() {
        let key = names::normalized(name);
        let is_in = |names: &[String]| names.iter().any(|known| names::normalized(known) == key);
        if is_in(&entry.names[..place]) {
            return wrong(format!("`{name}` is named twice"));
        }
        if let Some(other) = overlapping.iter().find(|other| is_in(&other.names)) {
            let day = entry.from.max(other.from).map_or_else(String::new, |day| format!(" on {day}"));
            return wrong(format!(
                "`{name}` already has another price{day}: set `until` of the earlier price to `from` of the next"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "[[model]]\nnames = [\"m\"]\ninput = 5\noutput = 25\ncache_read = 0.5\n";

    #[track_caller]
    fn assert_refused(text: &str, said: &str) {
        let error = Prices::parse(text, "p.toml").expect_err("the list is wrong").to_string();
        assert!(error.starts_with(said), "{error}");
    }

    #[test]
    fn built_in_price_list_loads() {
        let list = Prices::parse(include_str!("list.toml"), "list").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(list.entries, Prices::built_in().entries);
        assert_eq!(list.names().len(), 30);
        assert!(list.entries.iter().all(|entry| entry.source.is_some() && entry.date.is_some()));
    }

    #[test]
    fn omitted_prices_have_defaults() {
        let list = Prices::parse(SMALL, "p.toml").expect("prices");
        let price = Price { input: 5.0, output: 25.0, cache_read: 0.5, cache_write_5m: 5.0, cache_write_1h: 5.0 };
        let quote = list.quote(Some("m"), None);
        assert_eq!((quote.price, quote.provider.name, quote.min_tokens), (price, "other", 1_024));
        let written = Prices::parse(&SMALL.replace("output", "cache_write_5m = 6\noutput"), "p.toml").expect("prices");
        assert_eq!(written.quote(Some("m"), None).price.cache_write_1h, 6.0);
    }

    #[test]
    fn price_list_errors_name_the_line() {
        let with = |old: &str, new: &str| SMALL.replace(old, new);
        for (text, said) in [
            (with("input", "inputt"), "p.toml:3: `m`: a price has no setting `inputt`; did you mean `input`? (known: names, "),
            (
                with("= 5\n", "= -5\n"),
                "p.toml:3: `m`: `input` is -5, but a price is a number, 0 or more, and at most a dollar per token",
            ),
            (with("= 25", "= nan"), "p.toml:4: `m`: `output` is nan, but a price is"),
            (with("= 25", "= inf"), "p.toml:4: `m`: `output` is inf, but a price is"),
            (with("= 25", "= \"25\""), "p.toml:4: `m`: `output` is \"25\", but a price is"),
            (with("cache_read = 0.5\n", ""), "p.toml:2: `m`: `cache_read` is missing: USD per million tokens"),
            (with("[\"m\"]", "[]"), "p.toml:2: `names` is a list of model ids in quotes, one or more"),
            (with("names = [\"m\"]\n", ""), "p.toml:2: `names` is a list of model ids"),
            (
                format!("{SMALL}provider = \"antropic\""),
                "p.toml:6: `m`: there is no provider `antropic`; did you mean `anthropic`?",
            ),
            (format!("{SMALL}min_tokens = -1"), "p.toml:6: `m`: `min_tokens` is -1, but must be a whole number, 0 or more"),
            (
                format!("{SMALL}from = \"in May\""),
                "p.toml:6: `m`: `from` is \"in May\", but must be a date such as \"2026-09-01\"",
            ),
            (
                format!("{SMALL}from = 2026-09-01\nuntil = \"2026-08-01\""),
                "p.toml:7: `m`: ends on 2026-08-01, before it begins on",
            ),
            (format!("{SMALL}factors = 6"), "p.toml:6: `m`: `factors` is written { fast = 2, us = 1.1 }"),
            (format!("{SMALL}factors = {{ fast = 0 }}"), "p.toml:6: `m`: `factors` is written"),
            (format!("{SMALL}web_searches = -1"), "p.toml:6: `m`: `web_searches` is -1, but a price is"),
            (format!("{SMALL}large = 6"), "p.toml:6: `m`: `large` is written { above = 200_000, "),
            (format!("{SMALL}large = {{ above = 9, inptu = 6 }}"), "p.toml:6: `m`: `large` has no setting `inptu`; did you mean"),
            (
                format!("{SMALL}large = {{ above = 9, input = 6, output = 1 }}"),
                "p.toml:6: `m`: in `large`, `cache_read` is missing",
            ),
            (
                format!("{SMALL}{SMALL}"),
                "p.toml:7: `m`: `m` already has another price: set `until` of the earlier price to `from` of the next",
            ),
            (
                format!("{SMALL}until = 2026-09-02\n{SMALL}from = 2026-09-01"),
                "p.toml:8: `m`: `m` already has another price on 2026-09-01: ",
            ),
            (with("[\"m\"]", "[\"m\", \"M\"]"), "p.toml:2: `m`: `M` is named twice"),
            ("price = 5".to_owned(), "p.toml: a list of prices has a table `[[model]]` for each price"),
            (String::new(), "p.toml: a list of prices has a table `[[model]]` for each price"),
            ("model = [5]".to_owned(), "p.toml:1: `model` is written `[[model]]`"),
            (format!("unit = \"EUR\"\n{SMALL}"), "p.toml:1: a list of prices has no setting `unit`; write `[[model]]`"),
            (with("= 25", "="), "p.toml:4: "),
        ] {
            assert_refused(&text, said);
        }
    }

    #[test]
    fn adjacent_price_periods_do_not_overlap() {
        let text = format!("{SMALL}until = 2026-09-01\n{SMALL}from = 2026-09-01");
        assert_eq!(Prices::parse(&text, "p.toml").map(|list| list.entries("m").len()), Ok(2));
    }
}
