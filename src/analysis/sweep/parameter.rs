//! Parameters that `--set` varies: lists and ranges of values.
//!
//! `micro.keep_recent_results=1..10` · `budget.max_bytes=50KB,100KB` · `auto.threshold=20k..120k:20k` · `micro.enabled=true,false`

use std::str::FromStr;

use crate::engine::policy::Setting;
use crate::engine::size::{Limits, Size};
use crate::util::ValueError;

/// One `--set LAYER.FIELD=VALUES`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Full name: `micro.keep_recent_results`.
    pub name: String,
    /// Id of the layer; `None` for a setting of the whole policy.
    pub layer: Option<String>,
    pub values: Values,
}

/// Values of one parameter, in order. Each value is formatted on demand, because a range may have millions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values(Vec<ValuePiece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum ValuePiece {
    One(String),
    Range {
        from: u64,
        step: u64,
        count: u64,
        /// `k`, `KB`, … as written, and its factor.
        unit: (String, u64),
    },
}

impl FromStr for Parameter {
    type Err = ValueError;

    fn from_str(written: &str) -> Result<Self, ValueError> {
        let (name, values) = written.split_once('=').ok_or_else(|| format!("`{written}`: write LAYER.FIELD=VALUES"))?;
        let name = name.trim();
        let layer = name.split_once('.').map(|(layer, _)| layer.to_owned());
        let values = values.parse().map_err(|what: ValueError| format!("{name}: {what}"))?;
        Ok(Self { name: name.to_owned(), layer, values })
    }
}

impl Parameter {
    /// Returns the setting for the value with this index.
    ///
    /// # Errors
    ///
    /// None in practice: a parsed parameter always contains `=`.
    pub fn setting(&self, at: u64) -> Result<Setting, ValueError> {
        format!("{}={}", self.name, self.values.at(at)).parse()
    }
}

impl Values {
    /// Returns the number of values, at least 1.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, piece| sum.saturating_add(piece.count()))
    }

    /// Returns a value as written after `--set`; beyond the end, the last value.
    pub fn at(&self, mut index: u64) -> String {
        for piece in &self.0 {
            match piece.count() {
                count if index < count => return piece.at(index),
                count => index -= count,
            }
        }
        self.0.last().map(|piece| piece.at(piece.count() - 1)).unwrap_or_default()
    }

    /// Returns the indices of values to validate: if any value is wrong, one of these is. They are all listed values, and
    /// both ends of each range.
    pub fn telling(&self) -> Vec<u64> {
        let mut first = 0;
        let mut places = Vec::new();
        for piece in &self.0 {
            places.push(first);
            first = piece.count().saturating_add(first);
            places.push(first - 1);
        }
        places.dedup();
        places
    }
}

impl ValuePiece {
    fn count(&self) -> u64 {
        match self {
            ValuePiece::One(_) => 1,
            ValuePiece::Range { count, .. } => *count,
        }
    }

    fn at(&self, index: u64) -> String {
        match self {
            ValuePiece::One(value) => value.clone(),
            ValuePiece::Range { from, step, unit: (unit, size), .. } => match from + index * step {
                value if value.is_multiple_of(*size) => format!("{}{unit}", value / size),
                value => value.to_string(),
            },
        }
    }
}

impl FromStr for Values {
    type Err = ValueError;

    fn from_str(written: &str) -> Result<Self, ValueError> {
        let mut pieces: Vec<ValuePiece> = Vec::new();
        for part in split_values(written) {
            let piece = parse_piece(part.trim())?;
            // Ignores a repeated value.
            if !pieces.contains(&piece) {
                pieces.push(piece);
            }
        }
        Ok(Self(pieces))
    }
}

/// Splits at commas, except for commas in brackets and quotes.
fn split_values(written: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, c) in written.char_indices() {
        match (quote, c) {
            (Some(open), _) => quote = Some(open).filter(|open| *open != c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&written[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&written[begin..]);
    parts
}

fn parse_piece(written: &str) -> Result<ValuePiece, String> {
    if written.is_empty() {
        return Err("a value is missing; several are written `1,2,3`, `1..10` or `20k..120k:20k`".to_owned());
    }
    match written.split_once("..").filter(|(from, _)| from.starts_with(|c: char| c.is_ascii_digit())) {
        Some((from, to)) => parse_range(written, from, to),
        None => Ok(ValuePiece::One(written.to_owned())),
    }
}

fn parse_range(written: &str, from: &str, to: &str) -> Result<ValuePiece, String> {
    let (to, step) = to.split_once(':').map_or((to, None), |(to, step)| (to, Some(step)));
    let whole = |number: &str| {
        let digits_first = number.starts_with(|c: char| c.is_ascii_digit());
        let size = digits_first.then(|| number.parse::<Size>().ok()).flatten();
        let is_plain = number.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'));
        let whole = size.filter(|_| is_plain && !is_fraction(number));
        let value = whole.map(|size| size.resolve(Limits { window: 0, max_output: 0 }));
        value.filter(|value| i64::try_from(*value).is_ok()).ok_or_else(|| {
            format!("`{written}`: a range is written `1..10` or `20k..120k:20k`, in whole numbers, and `{number}` is not one")
        })
    };
    let (first, last, step) = (whole(from.trim())?, whole(to.trim())?, step.map_or(Ok(1), |step| whole(step.trim()))?);
    if step == 0 {
        return Err(format!("`{written}`: the step is 0"));
    }
    if last < first {
        return Err(format!("`{written}`: the range ends below its beginning"));
    }
    let unit = [unit_suffix(from), unit_suffix(to)].into_iter().find(|unit| !unit.is_empty()).unwrap_or_default();
    Ok(ValuePiece::Range { from: first, step, count: (last - first) / step + 1, unit: (unit.to_owned(), unit_size(unit)) })
}

/// Returns `k` of `20k`.
fn unit_suffix(number: &str) -> &str {
    number.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_'))
}

fn unit_size(unit: &str) -> u64 {
    let size = format!("1{unit}").parse::<Size>();
    size.map_or(1, |size| size.resolve(Limits { window: 0, max_output: 0 })).max(1)
}

/// Returns whether the number is not whole: `1.5` is not, `1.5k` is.
fn is_fraction(number: &str) -> bool {
    let unit = unit_suffix(number);
    let digits = number[..number.len() - unit.len()].replace('_', "");
    digits.parse::<f64>().is_ok_and(|digits| (digits * unit_size(unit) as f64).fract() != 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(written: &str) -> Vec<String> {
        let values: Values = written.parse().expect(written);
        (0..values.count()).map(|at| values.at(at)).collect()
    }

    #[test]
    fn parameter_lists_and_ranges_round_trip() {
        for (written, expected) in [
            ("5", &["5"][..]),
            ("1..4", &["1", "2", "3", "4"]),
            ("50KB,100KB , 200KB", &["50KB", "100KB", "200KB"]),
            ("20k..120k:40k", &["20k", "60k", "100k"]),
            ("1.5k..2k:500", &["1500", "2k"]),
            ("0..1k:300", &["0k", "300", "600", "900"]),
            ("500..1500:500", &["500", "1000", "1500"]),
            ("1..2,10,2..3", &["1", "2", "10", "2", "3"]),
            ("true,false,true", &["true", "false"]),
            ("min(0.85 * window, window - 33k),50k", &["min(0.85 * window, window - 33k)", "50k"]),
            ("[\"Read\", \"Grep\"],[]", &["[\"Read\", \"Grep\"]", "[]"]),
            ("\"a, b\",'c,d'", &["\"a, b\"", "'c,d'"]),
            ("../kept", &["../kept"]),
        ] {
            assert_eq!(values(written), expected, "{written}");
        }
    }

    #[test]
    fn parameter_range_of_millions_is_not_expanded() {
        let huge: Values = "1..9000000000000".parse().expect("a range");
        assert_eq!((huge.count(), huge.at(4_999_999).as_str()), (9_000_000_000_000, "5000000"));
        assert_eq!(huge.telling(), [0, 8_999_999_999_999]);
        let list: Values = "1..3,x".parse().expect("a list");
        assert_eq!(list.telling(), [0, 2, 3]);
        let endless = ["0", "1", "2"].map(|from| format!("{from}..9000000000000000000")).join(",");
        let endless: Values = endless.parse().expect("ranges");
        assert_eq!((endless.count(), endless.telling().last()), (u64::MAX, Some(&(u64::MAX - 1))));
    }

    #[test]
    fn invalid_parameter_values_say_why() {
        for (written, what) in [
            ("micro.keep_recent", "`micro.keep_recent`: write LAYER.FIELD=VALUES"),
            ("a.b=", "a.b: a value is missing; several are written `1,2,3`, `1..10` or `20k..120k:20k`"),
            ("a.b=1,,2", "a.b: a value is missing; several are written `1,2,3`, `1..10` or `20k..120k:20k`"),
            ("a.b=9..3", "a.b: `9..3`: the range ends below its beginning"),
            ("a.b=1..9:0", "a.b: `1..9:0`: the step is 0"),
            (
                "a.b=1..window",
                "a.b: `1..window`: a range is written `1..10` or `20k..120k:20k`, in whole numbers, and `window` is not one",
            ),
            (
                "a.b=1.5..3",
                "a.b: `1.5..3`: a range is written `1..10` or `20k..120k:20k`, in whole numbers, and `1.5` is not one",
            ),
            ("a.b=1..-3", "a.b: `1..-3`: a range is written `1..10` or `20k..120k:20k`, in whole numbers, and `-3` is not one"),
        ] {
            assert_eq!(written.parse::<Parameter>().expect_err(written).to_string(), what);
        }
        let fixed: Parameter = "window=200k".parse().expect("a setting of the policy");
        assert_eq!((fixed.layer, fixed.values.count()), (None, 1));
    }
}
