//! JavaScript's `JSON.stringify(value).length`, in UTF-16 units.

use serde_json::{Number, Value};

use super::json;
use super::notation::Notation;
use super::number::Decimal;
use crate::text::surrogates::lone_surrogate;

/// `JSON.stringify` without indentation. Since ES2019 it writes a lone surrogate as an escape.
pub const STRINGIFY: Notation = Notation { space: 0, number: number_len, string: string_len };

/// Returns `JSON.stringify(value).length` of a value that `JSON.parse` read. (JavaScript moves keys that are whole numbers to
/// the front; that does not change the length.)
pub fn stringify_len(value: &Value) -> u64 {
    STRINGIFY.value(value)
}

fn string_len(text: &str) -> u64 {
    json::string_len(text, |c| if lone_surrogate(c).is_some() { 6 } else { c.len_utf16() as u64 })
}

/// Returns the length of a number that was converted to a double: `1.0` becomes `1`, and an overflow becomes `null`. Numbers with
/// an exponent from −6 to 20 are written without it (ECMA-262, Number::toString).
fn number_len(number: &Number) -> u64 {
    let Ok(double) = number.as_str().parse::<f64>() else { return number.as_str().len() as u64 };
    if !double.is_finite() {
        return "null".len() as u64;
    }
    let decimal = Decimal::from_f64(double);
    let sign = u64::from(double < 0.0);
    sign + if (-6..=20).contains(&decimal.exponent) { decimal.positional() } else { decimal.scientific(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &str) {
        let value: Value = serde_json::from_str(json).expect("valid JSON");
        assert_eq!(stringify_len(&value), expected.encode_utf16().count() as u64, "{json} should be {expected}");
    }

    #[test]
    fn javascript_numbers_are_doubles() {
        for (json, expected) in [
            ("1.0", "1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("123456789012345678901", "123456789012345680000"),
            ("0.000001", "0.000001"),
            ("0.00000015", "1.5e-7"),
            ("-1e999", "null"),
        ] {
            check(json, expected);
        }
    }

    #[test]
    fn javascript_has_no_space_between_items() {
        check(r#"{"a": [1, true, null], "b": {}, "c": []}"#, r#"{"a":[1,true,null],"b":{},"c":[]}"#);
        check(r#""😀\u007f\u0001\n""#, "\"😀\u{7f}\\u0001\\n\"");
    }
}
