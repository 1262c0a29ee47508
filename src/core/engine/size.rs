//! Sizes in a policy are numbers or formulas.
//!
//! Examples: `50000`, `"50k"`, `"200 KB"`, `"80%"` (of the window), `"window - min(max_output, 20k) - 13k"`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::util::ValueError;

/// Values of the names in a [`Size`], in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Context window of the model.
    pub window: u64,
    /// Maximum tokens of an answer.
    pub max_output: u64,
}

/// A size: a number, or a formula over `window` and `max_output`. Keeps its original text.
#[derive(Debug, Clone, PartialEq)]
pub struct Size {
    // Boxes keep the settings of a layer small, which have several sizes.
    written: Box<str>,
    formula: Box<Formula>,
}

impl Size {
    /// Computes the size for a model with these limits, rounded down, at least 0.
    pub fn resolve(&self, limits: Limits) -> u64 {
        self.formula.evaluate(limits).max(0.0) as u64
    }

    /// Returns whether it is the number 0.
    pub fn is_zero(&self) -> bool {
        matches!(*self.formula, Formula::Number(0.0))
    }
}

impl From<u64> for Size {
    fn from(number: u64) -> Self {
        Self { written: number.to_string().into(), formula: Formula::Number(number as f64).into() }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl FromStr for Size {
    type Err = ValueError;

    fn from_str(written: &str) -> Result<Self, ValueError> {
        let mut parser = Parser { rest: written.trim(), depth: 0, is_share: false };
        let formula = parser.sum().map_err(|reason| format!("`{written}` is not a size: {reason}"))?;
        match (parser.rest, &formula) {
            ("", Formula::Number(number)) if number.fract() != 0.0 => Err(not_whole(*number).into()),
            ("", _) => Ok(Self { written: written.trim().into(), formula: formula.into() }),
            (rest, _) if rest.starts_with(',') => {
                Err(ValueError::new(format!("`{written}` is not a size, but several values: a sweep tries them")))
            }
            (rest, _) => Err(ValueError::new(format!("`{written}` is not a size: unexpected `{rest}`"))),
        }
    }
}

/// Parses a size that does not depend on a window: `200000`, `200k`, `1.5M`.
///
/// # Errors
///
/// Fails with the reason if it is not a size, or depends on the window.
pub fn parse_tokens(written: &str) -> Result<u64, ValueError> {
    match *written.parse::<Size>()?.formula {
        _ if written.trim_end().ends_with(['b', 'B']) => {
            Err(ValueError::new(format!("`{written}` is a number of bytes: write tokens, such as 200000 or 200k")))
        }
        Formula::Number(number) if number >= 1.0 => Ok(number as u64),
        _ => Err(ValueError::new(format!("`{written}` is not a number of tokens: write one such as 200000 or 200k"))),
    }
}

/// A number of tokens in a file: `200000`, or `"200k"`.
#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(untagged, expecting = "a number of tokens, such as 200000 or \"200k\"")]
pub enum Tokens {
    /// `200000`
    Number(u64),
    /// `"200k"`
    Text(String),
}

impl Tokens {
    fn value<E: serde::de::Error>(self) -> Result<u64, E> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Text(text) => parse_tokens(&text).map_err(E::custom),
        }
    }
}

/// Reads [`Tokens`], for `deserialize_with`.
///
/// # Errors
///
/// Fails if it is not a number of tokens.
pub fn tokens<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Tokens::deserialize(deserializer)?.value()
}

/// Reads the [`Tokens`] of a context window that may be missing, for `deserialize_with`.
///
/// # Errors
///
/// Fails if it is not a number of tokens, or 0.
pub fn window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match Option::<Tokens>::deserialize(deserializer)?.map(Tokens::value).transpose()? {
        Some(0) => Err(serde::de::Error::custom("a context window of 0 tokens holds no request")),
        window => Ok(window),
    }
}

/// Says why a number is not a size. Numbers below 1 are meant as shares of the window.
fn not_whole(number: f64) -> String {
    if number > 0.0 && number < 1.0 {
        let percent = (number * 1e4).round() / 100.0;
        return format!("`{number}` is not a size: for a share of the window write \"{percent}%\" or \"{number} * window\"");
    }
    format!("`{number}` is not a size: write a whole number")
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.written.parse::<i64>() {
            Ok(number) => serializer.serialize_i64(number),
            Err(_) => serializer.serialize_str(&self.written),
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a size: a number, or a text such as \"50k\", \"80%\" or \"0.9 * window\"")]
        enum Written {
            Number(u64),
            Fraction(f64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(number.into()),
            Written::Fraction(number) if number >= 0.0 && number.fract() == 0.0 => Ok((number as u64).into()),
            Written::Fraction(number) => Err(serde::de::Error::custom(not_whole(number))),
            Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

/// Regular expression of a formula, for editors. A regular expression cannot check that parentheses are balanced.
const PATTERN: &str = concat!(
    r"^[\s(]*(?:(?:min|max)\s*\([\s(]*)*",
    r"(?:window|max_output|[0-9._]+(?:[eE][0-9._]+)?\s*(?:%|[kKmMgG]?_*[bB]?_*))[\s)]*",
    r"(?:[-+*/,][\s(]*(?:(?:min|max)\s*\([\s(]*)*",
    r"(?:window|max_output|[0-9._]+(?:[eE][0-9._]+)?\s*(?:%|[kKmMgG]?_*[bB]?_*))[\s)]*)*$"
);

impl JsonSchema for Size {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"],
            "minimum": 0,
            "pattern": PATTERN,
            "examples": [50_000, "50k", "200 KB", "80%", "0.9 * window", "window - min(max_output, 20k) - 13k"],
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Formula {
    Number(f64),
    Window,
    MaxOutput,
    Add(Box<Formula>, Box<Formula>),
    Subtract(Box<Formula>, Box<Formula>),
    Multiply(Box<Formula>, Box<Formula>),
    Divide(Box<Formula>, Box<Formula>),
    Min(Box<Formula>, Box<Formula>),
    Max(Box<Formula>, Box<Formula>),
}

impl Formula {
    fn evaluate(&self, limits: Limits) -> f64 {
        match self {
            Formula::Number(number) => *number,
            Formula::Window => limits.window as f64,
            Formula::MaxOutput => limits.max_output as f64,
            Formula::Add(a, b) => a.evaluate(limits) + b.evaluate(limits),
            Formula::Subtract(a, b) => a.evaluate(limits) - b.evaluate(limits),
            Formula::Multiply(a, b) => a.evaluate(limits) * b.evaluate(limits),
            Formula::Divide(a, b) => a.evaluate(limits) / b.evaluate(limits),
            Formula::Min(a, b) => a.evaluate(limits).min(b.evaluate(limits)),
            Formula::Max(a, b) => a.evaluate(limits).max(b.evaluate(limits)),
        }
    }
}

/// Maximum nesting depth. The parser is recursive and a policy file may be untrusted, so deeper formulas are refused.
const MAX_DEPTH: usize = 32;

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
    /// The last atom was a share of the window: `80%`.
    is_share: bool,
}

impl Parser<'_> {
    fn take(&mut self, token: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Result<Formula, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("it is nested too deeply".to_owned());
        }
        let mut left = self.product()?;
        loop {
            let operator = match () {
                () if self.take('+') => Formula::Add,
                () if self.take('-') => Formula::Subtract,
                () => break,
            };
            left = operator(Box::new(left), Box::new(self.product()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn product(&mut self) -> Result<Formula, String> {
        let mut left = self.atom()?;
        let mut has_share = std::mem::take(&mut self.is_share);
        loop {
            let operator = match () {
                () if self.take('*') => Formula::Multiply,
                () if self.take('/') => Formula::Divide,
                () => return Ok(left),
            };
            left = operator(Box::new(left), Box::new(self.atom()?));
            has_share |= std::mem::take(&mut self.is_share);
            if has_share {
                return Err("`%` is a share of the window already: write `80%` or `0.8 * window`".to_owned());
            }
        }
    }

    fn atom(&mut self) -> Result<Formula, String> {
        if self.take('(') {
            let inner = self.sum()?;
            return self.closed(inner);
        }
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "window" => Ok(Formula::Window),
            "max_output" => Ok(Formula::MaxOutput),
            "min" => self.two_arguments(Formula::Min),
            "max" => self.two_arguments(Formula::Max),
            "" => Err("expected a number or a name".to_owned()),
            word => self.number(word),
        }
    }

    /// Reads the unit of a number, if there is one behind a space: `30 KB`, `80 %`.
    fn number(&mut self, word: &str) -> Result<Formula, String> {
        if self.take('%') {
            self.is_share = true;
            let percent = Formula::Number(parse_number(word)?);
            let of_window = Formula::Multiply(Box::new(percent), Box::new(Formula::Window));
            return Ok(Formula::Divide(Box::new(of_window), Box::new(Formula::Number(100.0))));
        }
        let behind = self.rest.trim_start();
        let unit = &behind[..behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len())];
        if word.ends_with(|c: char| c.is_ascii_digit()) && unit_factor(unit).is_some() && !unit.is_empty() {
            self.rest = &behind[unit.len()..];
            return parse_number(&format!("{word}{unit}")).map(Formula::Number);
        }
        parse_number(word).map(Formula::Number)
    }

    fn two_arguments(&mut self, make: fn(Box<Formula>, Box<Formula>) -> Formula) -> Result<Formula, String> {
        if !self.take('(') {
            return Err("`min` and `max` take two sizes in parentheses".to_owned());
        }
        let first = self.sum()?;
        if !self.take(',') {
            return Err("`min` and `max` take two sizes, separated by a comma".to_owned());
        }
        let second = self.sum()?;
        self.closed(make(Box::new(first), Box::new(second)))
    }

    fn closed(&mut self, formula: Formula) -> Result<Formula, String> {
        if self.take(')') { Ok(formula) } else { Err("a `)` is missing".to_owned()) }
    }
}

/// Parses `1_000`, `50k`, `1.5M`, `200KB` (multiples of 1,000, as in the harnesses).
fn parse_number(word: &str) -> Result<f64, String> {
    let plain = word.replace('_', "");
    let digits = plain.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unknown = || format!("`{word}` is neither a number nor `window`, `max_output`, `min`, `max`");
    let factor = unit_factor(&plain[digits.len()..]).ok_or_else(unknown)?;
    let value: f64 = digits.parse().map_err(|_| format!("`{word}` is not a number"))?;
    Ok(value * factor)
}

/// Returns what a unit multiplies by.
fn unit_factor(unit: &str) -> Option<f64> {
    match &unit.to_ascii_lowercase()[..] {
        "" | "b" => Some(1.0),
        "k" | "kb" => Some(1e3),
        "m" | "mb" => Some(1e6),
        "g" | "gb" => Some(1e9),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(written: &str, window: u64, max_output: u64) -> u64 {
        written.parse::<Size>().expect(written).resolve(Limits { window, max_output })
    }

    #[test]
    fn sizes_with_units_are_read() {
        for (written, value) in [
            ("50000", 50_000),
            ("50k", 50_000),
            ("200KB", 200_000),
            ("1.5M", 1_500_000),
            ("1_000", 1_000),
            ("30 KB", 30_000),
            ("1.5 m", 1_500_000),
        ] {
            assert_eq!(resolve(written, 0, 0), value, "{written}");
        }
    }

    /// The thresholds of published harnesses; the expected values were computed manually from their rules.
    #[test]
    fn trigger_formulas_of_known_harnesses_are_read() {
        let claude_code = "window - min(max_output, 20k) - 13k";
        let k = 1_000;
        for (written, window, max_output, fires_at) in [
            (claude_code, 200 * k, 32 * k, 167 * k),
            (claude_code, 200 * k, 8 * k, 179 * k),
            (claude_code, 1_000 * k, 32 * k, 967 * k),
            ("0.9 * window", 272 * k, 0, 244_800),
            ("window - max_output", 200 * k, 32 * k, 168 * k),
            ("0.5 * window", 1_048_576, 0, 524_288),
            ("min(0.85 * window, window - 33k)", 131_072, 0, 98_072),
            ("min(0.85 * window, window - 33k)", 200 * k, 0, 167 * k),
            ("min(0.85 * window, window - 33k)", 1_000 * k, 0, 850 * k),
            ("window - 16384", 200 * k, 0, 183_616),
            ("min(0.85 * window, window - 50k)", 262_144, 0, 212_144),
            ("max(window - 40k, 0.8 * window)", 32_768, 0, 26_214),
            ("0.9 * window - max_output", 200 * k, 8_192, 171_808),
            ("max(min(window / 16, 8192), 1024)", 32_768, 0, 2_048),
            ("57%", 200 * k, 0, 114 * k),
            ("min(85 %, window - 33k)", 200 * k, 0, 167 * k),
        ] {
            assert_eq!(resolve(written, window, max_output), fires_at, "{written} of {window}");
        }
    }

    #[test]
    fn invalid_size_error_says_why() {
        for (written, reason) in [
            ("fifty", "`fifty` is not a size: `fifty` is neither a number nor `window`, `max_output`, `min`, `max`"),
            ("window -", "`window -` is not a size: expected a number or a name"),
            ("min(1", "`min(1` is not a size: `min` and `max` take two sizes, separated by a comma"),
            ("5k 6k", "`5k 6k` is not a size: unexpected `6k`"),
            ("5k,6k", "`5k,6k` is not a size, but several values: a sweep tries them"),
            ("0.8", "`0.8` is not a size: for a share of the window write \"80%\" or \"0.8 * window\""),
            ("80% * window", "`80% * window` is not a size: `%` is a share of the window already: write `80%` or `0.8 * window`"),
            ("30 KX", "`30 KX` is not a size: unexpected `KX`"),
        ] {
            assert_eq!(written.parse::<Size>().expect_err(written).to_string(), reason);
        }
        assert!("(".repeat(10_000).parse::<Size>().is_err());
    }

    #[test]
    fn tokens_are_plain_sizes() {
        assert_eq!(["200k", "200_000", "0.2M", "1000000"].map(parse_tokens), [200_000, 200_000, 200_000, 1_000_000].map(Ok));
        let error = "`80%` is not a number of tokens: write one such as 200000 or 200k";
        assert_eq!(parse_tokens("80%"), Err(ValueError::new(error)));
        let error = "`80kb` is a number of bytes: write tokens, such as 200000 or 200k";
        assert_eq!(parse_tokens("80kb"), Err(ValueError::new(error)));
        assert!(parse_tokens("0").is_err());
    }
}
