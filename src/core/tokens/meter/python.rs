//! Lengths of Python's `repr(value)` and `json.dumps(value)` in code points, computed without building the strings.

use recompact_text::characters::characters_len;
use serde_json::{Number, Value};

use super::json;
use super::notation::Notation;
use super::number::Decimal;
use super::unprintable::is_printable;
use crate::text::surrogates::lone_surrogate;

/// `repr`; for lists and dicts, `str` gives the same text.
pub const REPR: Notation = Notation { space: 1, number: |n| number_len(n, "inf"), string: repr_string_len };
/// `json.dumps` with `ensure_ascii=False`.
pub const DUMPS: Notation =
    Notation { space: 1, number: |n| number_len(n, "Infinity"), string: |text| json::string_len(text, |_| 1) };
/// `json.dumps` with default options: escapes DEL and everything outside ASCII, with two escapes for a character beyond U+FFFF.
pub const DUMPS_ASCII: Notation = Notation { string: |text| json::string_len(text, ascii_escape_len), ..DUMPS };

/// Returns `len(repr(value))` of a value that `json.loads` read.
pub fn repr_len(value: &Value) -> u64 {
    REPR.value(value)
}

/// Returns `len(json.dumps(value, ensure_ascii=…))` of a value that `json.loads` read.
pub fn dumps_len(value: &Value, ensure_ascii: bool) -> u64 {
    if ensure_ascii { DUMPS_ASCII.value(value) } else { DUMPS.value(value) }
}

/// Returns the length of a string's `repr`. Python uses single quotes unless the text contains single and no double quotes.
fn repr_string_len(text: &str) -> u64 {
    let size = 2 + characters_len(text, &REPR_SIZES, repr_escape_len);
    let escaped = if text.contains('"') { text.bytes().filter(|byte| *byte == b'\'').count() } else { 0 };
    size + escaped as u64
}

const REPR_SIZES: [u8; 256] = {
    let mut sizes = [0; 256];
    let mut byte = 0;
    while byte <= b'~' {
        sizes[byte as usize] = match byte {
            b'\\' | b'\n' | b'\r' | b'\t' => 2,
            0..0x20 => 4,
            _ => 1,
        };
        byte += 1;
    }
    sizes
};

/// Returns 1 for a printable character, else the length of `\xhh`, `\uhhhh` or `\Uhhhhhhhh`.
fn repr_escape_len(c: char) -> u64 {
    match c {
        c if is_printable(c) => 1,
        '\0'..='\u{ff}' => 4,
        '\u{100}'..='\u{ffff}' => 6,
        c if lone_surrogate(c).is_some() => 6,
        _ => 10,
    }
}

fn ascii_escape_len(c: char) -> u64 {
    if lone_surrogate(c).is_some() { 6 } else { 6 * c.len_utf16() as u64 }
}

/// Returns the length of a number. An int keeps its digits; `-0` is the int 0. A number with a point or an exponent is a float,
/// and `infinity` if it overflows.
fn number_len(number: &Number, infinity: &str) -> u64 {
    let written = number.as_str();
    let is_float = written.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'));
    match written.parse::<f64>() {
        Ok(double) if is_float => float_len(double, infinity),
        _ if written == "-0" => 1,
        _ => written.len() as u64,
    }
}

/// Returns the length of `float.__repr__`. Numbers with an exponent from −4 to 15 are written without it, and whole ones end
/// with `.0`.
fn float_len(double: f64, infinity: &str) -> u64 {
    let sign = u64::from(double.is_sign_negative());
    if !double.is_finite() {
        return sign + infinity.len() as u64;
    }
    let decimal = Decimal::from_f64(double);
    sign + match decimal.exponent {
        -4..=15 if decimal.is_whole() => decimal.positional() + ".0".len() as u64,
        -4..=15 => decimal.positional(),
        _ => decimal.scientific(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::surrogates::stand_in;

    fn repr(json: &str, expected: &str) {
        let value: Value = serde_json::from_str(json).expect("valid JSON");
        assert_eq!(repr_len(&value), expected.chars().count() as u64, "{json} should be {expected}");
    }

    #[test]
    fn python_numbers_are_ints_and_floats() {
        for (json, expected) in [
            ("-0", "0"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1e5", "100000.0"),
            ("1e16", "1e+16"),
            ("9007199254740993.0", "9007199254740992.0"),
            ("1e-5", "1e-05"),
            ("0.0001", "0.0001"),
            ("-0.0", "-0.0"),
            ("-1e999", "-inf"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ] {
            repr(json, expected);
        }
        assert_eq!(dumps_len(&serde_json::from_str("-1e999").expect("valid JSON"), true), "-Infinity".len() as u64);
    }

    #[test]
    fn python_quotes_depend_on_the_text() {
        repr(r#""it's""#, r#""it's""#);
        repr(r#""say \"it\"""#, r#"'say "it"'"#);
        repr(r#""it's \"it\"""#, r#"'it\'s "it"'"#);
    }

    #[test]
    fn python_escapes_unprintable_characters() {
        repr(r#""\n\u0000\u007f\u00a0\u00ad\u2028\ue000""#, r"'\n\x00\x7f\xa0\xad\u2028\ue000'");
        repr(r#""é😀\udb40\udc01""#, r"'é😀\U000e0001'");
        let lone = Value::from(stand_in(0xDC80).expect("a surrogate").to_string());
        assert_eq!([repr_len(&lone), dumps_len(&lone, true), dumps_len(&lone, false)], [8, 8, 3]);
    }

    #[test]
    fn python_containers_have_spaces() {
        repr(r#"{"a":[1,true,null],"b":{},"c":[],"d":false}"#, "{'a': [1, True, None], 'b': {}, 'c': [], 'd': False}");
    }
}
