//! Conditions on the total of a column, such as `kept.hard <= 0.02`.

use std::fmt;
use std::str::FromStr;

use crate::metrics::column::ColumnId;
use crate::util::ValueError;

/// A condition on a total: a column, a comparison, a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub column: ColumnId,
    operator: Operator,
    limit: f64,
    /// The limit as the user wrote it: `2%`.
    limit_text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    AtMost,
    Less,
    AtLeast,
    More,
    Equal,
}

/// The signs of the operators, longer ones first, so that `<=` is not read as `<`. `=` means `==`.
const OPERATORS: [(&str, Operator); 6] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("==", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::More),
    ("=", Operator::Equal),
];

impl FromStr for Condition {
    type Err = ValueError;

    fn from_str(written: &str) -> Result<Self, ValueError> {
        let usage = || format!("`{written}`: a condition is written `kept.hard <= 0.02`");
        let at = written.find(['<', '>', '=']).ok_or_else(usage)?;
        let (sign, operator) = OPERATORS.into_iter().find(|(sign, _)| written[at..].starts_with(sign)).ok_or_else(usage)?;
        let (column, number) = (written[..at].trim(), written[at + sign.len()..].trim());
        if column.is_empty() || number.is_empty() {
            return Err(usage().into());
        }
        let (digits, unit) = number.strip_suffix('%').map_or((number, 1.0), |digits| (digits.trim(), 100.0));
        let limit = digits.parse::<f64>().ok().filter(|limit| limit.is_finite());
        let limit = limit.ok_or_else(|| format!("`{written}`: `{number}` is not a number"))? / unit;
        Ok(Self { column: column.to_owned().into(), operator, limit, limit_text: number.to_owned() })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = OPERATORS.iter().find(|(_, operator)| *operator == self.operator).map_or("", |(sign, _)| sign);
        write!(f, "{} {sign} {}", self.column, self.limit_text)
    }
}

impl Condition {
    /// Returns whether a total meets the condition. A missing value does not meet it.
    pub fn holds(&self, value: Option<f64>) -> bool {
        let Some(value) = value else { return false };
        match self.operator {
            Operator::AtMost => value <= self.limit,
            Operator::Less => value < self.limit,
            Operator::AtLeast => value >= self.limit,
            Operator::More => value > self.limit,
            Operator::Equal => value == self.limit,
        }
    }

    /// Returns the limit as a number; `2%` is 0.02.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Returns how far a value may still move before it misses the limit; negative if it already misses it. For `==`, it is 0 or
    /// negative.
    pub fn headroom(&self, value: f64) -> f64 {
        match self.operator {
            Operator::AtMost | Operator::Less => self.limit - value,
            Operator::AtLeast | Operator::More => value - self.limit,
            Operator::Equal => 0.0 - (value - self.limit).abs(),
        }
    }

    /// Returns the operator in words: `at most`, `above`.
    pub fn operator_words(&self) -> &'static str {
        match self.operator {
            Operator::AtMost => "at most",
            Operator::Less => "below",
            Operator::AtLeast => "at least",
            Operator::More => "above",
            Operator::Equal => "exactly",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condition_operators_round_trip() {
        for (written, plain, meets, fails) in [
            ("kept.hard <= 0.02", "kept.hard <= 0.02", 0.02, 0.021),
            ("kept.hard<=2%", "kept.hard <= 2%", 0.02, 0.021),
            (" kept.hit >= 90 % ", "kept.hit >= 90 %", 0.9, 0.89),
            ("a<5", "a < 5", 4.9, 5.0),
            ("a > -1.5", "a > -1.5", 0.0, -1.5),
            ("broken.requests = 0", "broken.requests == 0", 0.0, 1.0),
            ("broken.requests == 0", "broken.requests == 0", 0.0, 1.0),
        ] {
            let condition: Condition = written.parse().expect(written);
            assert_eq!(condition.to_string(), plain);
            assert!(condition.holds(Some(meets)) && !condition.holds(Some(fails)) && !condition.holds(None), "{written}");
        }
    }

    #[test]
    fn invalid_condition_error_says_why() {
        for (written, what) in [
            ("kept.hard", "`kept.hard`: a condition is written `kept.hard <= 0.02`"),
            ("<= 3", "`<= 3`: a condition is written `kept.hard <= 0.02`"),
            ("kept.hard <=", "`kept.hard <=`: a condition is written `kept.hard <= 0.02`"),
            ("kept.hard <= little", "`kept.hard <= little`: `little` is not a number"),
            ("kept.hard => 2", "`kept.hard => 2`: `> 2` is not a number"),
        ] {
            assert_eq!(written.parse::<Condition>().expect_err(written).to_string(), what);
        }
    }

    #[test]
    fn condition_headroom_is_the_signed_distance() {
        let headroom = |written: &str, value: f64| written.parse::<Condition>().expect(written).headroom(value);
        assert_eq!(
            (headroom("a <= 5", 3.0), headroom("a < 5", 6.0), headroom("a >= 5", 6.0), headroom("a > 5", 3.0)),
            (2.0, -1.0, 1.0, -2.0)
        );
        assert_eq!((headroom("a == 5", 5.0), headroom("a == 5", 3.0), headroom("a == 5", 7.0)), (0.0, -2.0, -2.0));
    }
}
