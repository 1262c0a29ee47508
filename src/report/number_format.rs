//! Formats numbers for people, by unit.

use crate::results::saved::Unit;
use crate::util::text::with_commas;

/// Shown where a column has no value.
pub const MISSING: &str = "–";

/// Formats a value in its unit: `1,234,567`, `44.1%`, `66.8 KB`, `$1.23`, `0.886`.
pub fn value(unit: Unit, value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return MISSING.to_owned() };
    match unit {
        Unit::Tokens | Unit::Count if value.fract() == 0.0 => grouped(value, 0),
        Unit::Tokens | Unit::Count => grouped(value, 1),
        Unit::Share => format!("{}%", grouped(value * 100.0, 1)),
        Unit::Bytes => bytes(value),
        // Below one dollar, whole cents are too coarse for comparison.
        Unit::Usd if value != 0.0 && value.abs() < 1.0 => dollars(value, 4),
        Unit::Usd => dollars(value, 2),
        Unit::Ratio => grouped(value, 3),
    }
}

/// Formats a count.
pub fn count(count: u64) -> String {
    value(Unit::Count, Some(count as f64))
}

/// Formats a value and its interval, if it has one: `40.2% (39.1 … 41.2%)`.
pub fn estimate(unit: Unit, value: Option<f64>, ends: Option<[f64; 2]>) -> String {
    let value = self::value(unit, value);
    match ends.and_then(|ends| interval(unit, ends)) {
        Some(ends) => format!("{value} ({ends})"),
        None => value,
    }
}

/// Formats the two ends of an interval: `39.1 … 41.2%`, `0.886 … 0.912`, `124k … 185k`. `None` if both ends print
/// alike.
pub fn interval(unit: Unit, ends: [f64; 2]) -> Option<String> {
    let [low, high] = ends.map(|end| match unit {
        Unit::Tokens | Unit::Count => thousands(end),
        _ => value(unit, Some(end)),
    });
    (low != high).then(|| format!("{} … {high}", if unit == Unit::Share { low.trim_end_matches('%') } else { &low }))
}

/// Formats a whole number with the digits an interval can support: `9,500`, `124k`, `-1.2M`.
fn thousands(value: f64) -> String {
    match value.abs() {
        size if size >= 999_500.0 => format!("{}M", grouped(value / 1e6, 1)),
        size if size >= 9_999.5 => format!("{}k", grouped(value / 1e3, 0)),
        _ => grouped(value, 0),
    }
}

/// Formats a difference with its sign: `+1,234`, `-0.405`. Shares are in percentage points, without a unit.
pub fn difference(unit: Unit, value: f64) -> String {
    let text = match unit {
        Unit::Share => grouped(value * 100.0, 1),
        _ => self::value(unit, Some(value)),
    };
    // A difference that rounds to 0 gets no sign.
    let is_positive = value > 0.0 && text.bytes().any(|digit| (b'1'..=b'9').contains(&digit));
    if is_positive { format!("+{text}") } else { text }
}

/// Formats bytes in powers of 1,000, as harnesses write their limits; exact below 10 KB.
fn bytes(value: f64) -> String {
    for (size, unit) in [(1e9, "GB"), (1e6, "MB"), (1e3, "KB")] {
        // From this size on, the rounded number has at most three digits before the point, and 999.96 KB becomes 1.0
        // MB.
        if value.abs() >= size * 0.99995 && value.abs() >= 1e4 {
            return format!("{} {unit}", grouped(value / size, 1));
        }
    }
    format!("{} B", grouped(value, 0))
}

fn dollars(value: f64, digits: usize) -> String {
    let amount = grouped(value.abs(), digits);
    if value < 0.0 { format!("-${amount}") } else { format!("${amount}") }
}

/// Formats a number with `digits` decimals and commas between thousands. A number that rounds to 0 gets no sign.
pub fn grouped(value: f64, digits: usize) -> String {
    let plain = format!("{:.digits$}", value.abs());
    let (whole, fraction) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut out = String::new();
    if value < 0.0 && plain.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) {
        out.push('-');
    }
    out + &with_commas(whole) + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_formatted() {
        let cases = [
            (Unit::Tokens, 1_234_567.0, "1,234,567"),
            (Unit::Tokens, -12_345.0, "-12,345"),
            (Unit::Count, 999.0, "999"),
            (Unit::Count, 2.25, "2.2"),
            (Unit::Share, 0.4412, "44.1%"),
            (Unit::Share, 1.0, "100.0%"),
            (Unit::Share, -0.000_01, "0.0%"),
            (Unit::Share, -12.5, "-1,250.0%"),
            (Unit::Bytes, 0.0, "0 B"),
            (Unit::Bytes, 9_999.0, "9,999 B"),
            (Unit::Bytes, 66_800.0, "66.8 KB"),
            (Unit::Bytes, 999_960.0, "1.0 MB"),
            (Unit::Bytes, 12_345_678.0, "12.3 MB"),
            (Unit::Bytes, 7e12, "7,000.0 GB"),
            (Unit::Usd, 0.0123, "$0.0123"),
            (Unit::Usd, 0.0, "$0.00"),
            (Unit::Usd, 1_234.5, "$1,234.50"),
            (Unit::Usd, -0.5, "-$0.5000"),
            (Unit::Ratio, 0.8864, "0.886"),
        ];
        for (unit, number, expected) in cases {
            assert_eq!(value(unit, Some(number)), expected, "{number} {unit:?}");
        }
        let differences = [
            (Unit::Share, 0.315, "+31.5"),
            (Unit::Share, -0.0001, "0.0"),
            (Unit::Ratio, -0.405, "-0.405"),
            (Unit::Usd, 0.5, "+$0.5000"),
        ];
        for (unit, number, expected) in differences {
            assert_eq!(difference(unit, number), expected, "{number} {unit:?}");
        }
        assert_eq!(interval(Unit::Share, [-0.1, 0.412]).as_deref(), Some("-10.0 … 41.2%"));
        assert_eq!(interval(Unit::Tokens, [1_000.0, 2_000.0]).as_deref(), Some("1,000 … 2,000"));
        assert_eq!(interval(Unit::Tokens, [-12_499.6, 999_500.0]).as_deref(), Some("-12k … 1.0M"));
        assert_eq!(interval(Unit::Tokens, [9_999.4, 9_999.5]).as_deref(), Some("9,999 … 10k"));
        assert_eq!(interval(Unit::Ratio, [1.0, 1.000_01]), None);
        assert_eq!((value(Unit::Share, None), value(Unit::Usd, Some(f64::NAN))), ("–".to_owned(), "–".to_owned()));
    }
}
