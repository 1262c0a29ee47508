//! Sizes as a policy writes them: `50000`, `"50k"`, `"200KB"`, `"0.9 * window"`, `"window - min(max_output, 20k) - 13k"`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What the names in a [`Size`] stand for, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The context window of the model.
    pub window: u64,
    /// The most the model may answer.
    pub max_output: u64,
}

/// A size: a number, or a formula over `window` and `max_output`. Kept as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Size {
    written: String,
    formula: Formula,
}

impl Size {
    /// The size for a model with these limits; fractions are cut off, nothing is below 0.
    pub fn resolve(&self, limits: Limits) -> u64 {
        self.formula.value(limits).max(0.0) as u64
    }
}

impl From<u64> for Size {
    fn from(number: u64) -> Self {
        Self { written: number.to_string(), formula: Formula::Number(number as f64) }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let mut parser = Parser { rest: written.trim(), depth: 0 };
        let formula = parser.sum().map_err(|reason| format!("`{written}` is no size: {reason}"))?;
        match parser.rest {
            "" => Ok(Self { written: written.trim().to_owned(), formula }),
            rest => Err(format!("`{written}` is no size: did not expect `{rest}`")),
        }
    }
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
        #[serde(untagged, expecting = "a size: a number, or a text such as \"50k\" or \"0.9 * window\"")]
        enum Written {
            Number(u64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(number.into()),
            Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

/// What a formula looks like to an editor. Whether its parentheses pair up no pattern can say.
const PATTERN: &str = concat!(
    r"^[\s(]*(?:(?:min|max)\s*\([\s(]*)*",
    r"(?:window|max_output|[0-9._]+(?:[eE][0-9._]+)?[kKmMgG]?_*[bB]?_*)[\s)]*",
    r"(?:[-+*/,][\s(]*(?:(?:min|max)\s*\([\s(]*)*",
    r"(?:window|max_output|[0-9._]+(?:[eE][0-9._]+)?[kKmMgG]?_*[bB]?_*)[\s)]*)*$"
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
            "examples": [50_000, "50k", "200KB", "0.9 * window", "window - min(max_output, 20k) - 13k"],
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
    fn value(&self, limits: Limits) -> f64 {
        match self {
            Formula::Number(number) => *number,
            Formula::Window => limits.window as f64,
            Formula::MaxOutput => limits.max_output as f64,
            Formula::Add(a, b) => a.value(limits) + b.value(limits),
            Formula::Subtract(a, b) => a.value(limits) - b.value(limits),
            Formula::Multiply(a, b) => a.value(limits) * b.value(limits),
            Formula::Divide(a, b) => a.value(limits) / b.value(limits),
            Formula::Min(a, b) => a.value(limits).min(b.value(limits)),
            Formula::Max(a, b) => a.value(limits).max(b.value(limits)),
        }
    }
}

/// Deeper formulas are refused: the parser is recursive, and a policy file may come from anyone.
const MAX_DEPTH: usize = 32;

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn eat(&mut self, token: char) -> bool {
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
                () if self.eat('+') => Formula::Add,
                () if self.eat('-') => Formula::Subtract,
                () => break,
            };
            left = operator(Box::new(left), Box::new(self.product()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn product(&mut self) -> Result<Formula, String> {
        let mut left = self.atom()?;
        loop {
            let operator = match () {
                () if self.eat('*') => Formula::Multiply,
                () if self.eat('/') => Formula::Divide,
                () => return Ok(left),
            };
            left = operator(Box::new(left), Box::new(self.atom()?));
        }
    }

    fn atom(&mut self) -> Result<Formula, String> {
        if self.eat('(') {
            let inner = self.sum()?;
            return self.close(inner);
        }
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "window" => Ok(Formula::Window),
            "max_output" => Ok(Formula::MaxOutput),
            "min" => self.two(Formula::Min),
            "max" => self.two(Formula::Max),
            "" => Err("a number or a name is missing".to_owned()),
            word => number(word).map(Formula::Number),
        }
    }

    fn two(&mut self, make: fn(Box<Formula>, Box<Formula>) -> Formula) -> Result<Formula, String> {
        if !self.eat('(') {
            return Err("`min` and `max` take two sizes in parentheses".to_owned());
        }
        let first = self.sum()?;
        if !self.eat(',') {
            return Err("`min` and `max` take two sizes, with a comma between".to_owned());
        }
        let second = self.sum()?;
        self.close(make(Box::new(first), Box::new(second)))
    }

    fn close(&mut self, formula: Formula) -> Result<Formula, String> {
        if self.eat(')') { Ok(formula) } else { Err("a `)` is missing".to_owned()) }
    }
}

/// `1_000`, `50k`, `1.5M`, `200KB` (thousands, as the harnesses count them).
fn number(word: &str) -> Result<f64, String> {
    let plain = word.replace('_', "");
    let digits = plain.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &plain[digits.len()..].to_ascii_lowercase()[..] {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        _ => return Err(format!("`{word}` is neither a number nor `window`, `max_output`, `min`, `max`")),
    };
    let value: f64 = digits.parse().map_err(|_| format!("`{word}` is not a number"))?;
    Ok(value * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(written: &str, window: u64, max_output: u64) -> u64 {
        written.parse::<Size>().expect(written).resolve(Limits { window, max_output })
    }

    #[test]
    fn numbers_with_units() {
        for (written, value) in [("50000", 50_000), ("50k", 50_000), ("200KB", 200_000), ("1.5M", 1_500_000), ("1_000", 1_000)] {
            assert_eq!(resolve(written, 0, 0), value, "{written}");
        }
    }

    /// Where published harnesses fire, computed by hand from their rules.
    #[test]
    fn triggers_of_known_harnesses() {
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
        ] {
            assert_eq!(resolve(written, window, max_output), fires_at, "{written} of {window}");
        }
    }

    #[test]
    fn what_is_no_size_says_why() {
        for (written, reason) in [
            ("fifty", "`fifty` is no size: `fifty` is neither a number nor `window`, `max_output`, `min`, `max`"),
            ("window -", "`window -` is no size: a number or a name is missing"),
            ("min(1", "`min(1` is no size: `min` and `max` take two sizes, with a comma between"),
            ("5k 6k", "`5k 6k` is no size: did not expect `6k`"),
        ] {
            assert_eq!(written.parse::<Size>().expect_err(written), reason);
        }
        assert!("(".repeat(10_000).parse::<Size>().is_err());
    }
}
