//! The text of Python's `repr` and `json.dumps`, whose length [`super::python`] computes.
//!
//! Harnesses put such text into messages and files: `str` of a list of parts, `json.dumps` of a transcript.

use std::io;

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter};
use serde_json::{Number, Value};

use super::unprintable::is_printable;
use crate::text::surrogates::lone_surrogate;

/// Returns Python's `repr` of a value.
pub fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number_repr(number),
        Value::String(text) => string_repr(text),
        Value::Array(items) => format!("[{}]", items.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| format!("{}: {}", string_repr(key), repr(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns the length of the list that Python's `splitlines` makes of a text.
pub fn line_count(text: &str) -> usize {
    const WIDE_ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r' | 0xb | 0xc | 0x1c..=0x1e);
    // Sums of bytes are vectors; 255 of them fit.
    let ends_in = |bytes: &[u8]| usize::from(bytes.iter().map(|byte| u8::from(is_end(byte))).sum::<u8>());
    let ends = text.as_bytes().chunks(255).map(ends_in).sum::<usize>();
    let pairs = if text.contains('\r') { text.matches("\r\n").count() } else { 0 };
    let wide_ends = if text.is_ascii() { 0 } else { text.matches(WIDE_ENDS).count() };
    let is_open = !text.is_empty() && !text.as_bytes().last().is_some_and(is_end) && !text.ends_with(WIDE_ENDS);
    ends - pairs + wide_ends + usize::from(is_open)
}

/// Returns Python's `json.dumps` of a value.
pub fn dumps(value: &Value, ensure_ascii: bool) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, PythonJson { ensure_ascii });
    match value.serialize(&mut serializer).map(|()| String::from_utf8(bytes)) {
        Ok(Ok(text)) if ensure_ascii => text,
        Ok(Ok(text)) => crate::text::surrogates::restore_escapes(text),
        // Cannot happen: writing a JSON value to memory does not fail, and the result is UTF-8.
        Ok(Err(_)) | Err(_) => String::new(),
    }
}

fn string_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote || c == '\\' => out.extend(['\\', c]),
            c => match (lone_surrogate(c), u32::from(c)) {
                (Some(unit), _) => out.push_str(&format!("\\u{unit:04x}")),
                (None, _) if is_printable(c) => out.push(c),
                (None, code @ 0..=0xFF) => out.push_str(&format!("\\x{code:02x}")),
                (None, code @ 0x100..=0xFFFF) => out.push_str(&format!("\\u{code:04x}")),
                (None, code) => out.push_str(&format!("\\U{code:08x}")),
            },
        }
    }
    out.push(quote);
    out
}

fn number_repr(number: &Number) -> String {
    let digits = number.as_str();
    if digits.contains(['.', 'e', 'E']) {
        digits.parse().map_or_else(|_| digits.to_owned(), float_repr)
    } else if digits == "-0" {
        "0".to_owned()
    } else {
        digits.to_owned()
    }
}

/// Returns Python's `repr` of a float: the shortest digits that parse to the same value, with an exponent below 1e-4 and from
/// 1e16 on.
fn float_repr(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let scientific = format!("{:e}", value.abs());
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return format!("{sign}{scientific}") };
    match exponent.parse::<i32>() {
        Ok(exponent) if (-4..16).contains(&exponent) => format!("{value:?}"),
        Ok(exponent) => {
            let direction = if exponent < 0 { '-' } else { '+' };
            format!("{sign}{mantissa}e{direction}{:02}", exponent.abs())
        }
        Err(_) => format!("{sign}{scientific}"),
    }
}

/// The format of `json.dumps`: `", "` and `": "` as separators, and with `ensure_ascii` an escape for everything outside ASCII.
struct PythonJson {
    ensure_ascii: bool,
}

impl Formatter for PythonJson {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_number_str<W: ?Sized + io::Write>(&mut self, writer: &mut W, digits: &str) -> io::Result<()> {
        let number = digits.parse::<Number>().map_or_else(|_| digits.to_owned(), |number| number_repr(&number));
        writer.write_all(if number == "inf" {
            b"Infinity"
        } else if number == "-inf" {
            b"-Infinity"
        } else {
            number.as_bytes()
        })
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let is_plain = |c: char| matches!(c, ' '..='~');
        if !self.ensure_ascii || fragment.chars().all(is_plain) {
            return writer.write_all(fragment.as_bytes());
        }
        for c in fragment.chars() {
            let mut units = [0u16; 2];
            match lone_surrogate(c) {
                _ if is_plain(c) => writer.write_all(&[c as u8])?,
                Some(unit) => write!(writer, "\\u{unit:04x}")?,
                None => {
                    for unit in c.encode_utf16(&mut units) {
                        write!(writer, "\\u{unit:04x}")?;
                    }
                }
            }
        }
        Ok(())
    }

    fn write_char_escape<W: ?Sized + io::Write>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        match escape {
            CharEscape::Quote => writer.write_all(b"\\\""),
            CharEscape::ReverseSolidus | CharEscape::Solidus => writer.write_all(b"\\\\"),
            CharEscape::Backspace => writer.write_all(b"\\b"),
            CharEscape::FormFeed => writer.write_all(b"\\f"),
            CharEscape::LineFeed => writer.write_all(b"\\n"),
            CharEscape::CarriageReturn => writer.write_all(b"\\r"),
            CharEscape::Tab => writer.write_all(b"\\t"),
            CharEscape::AsciiControl(byte) => write!(writer, "\\u{byte:04x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::surrogates::stand_in;
    use crate::tokens::meter::python;
    use serde_json::json;

    fn awkward() -> Value {
        let lone = stand_in(0xDC80).expect("a surrogate");
        json!({"a": ["it's", "\"q\"", "both ' and \"", "\u{0}\u{7f}\u{a0}\u{ad}é😀\n"], "n": [1, -2.5, 1e16, 1e-5, 0.0001, 1e22, null, true],
               "s": lone.to_string(), "e": [{}, []]})
    }

    /// The expected text is from Python 3.11.
    #[test]
    fn lines_are_counted_as_splitlines_does() {
        let texts = ["", "a", "a\n", "\n", "a\r\nb", "a\r\n\r\n", "a\u{2028}b\u{c}", "a\n\rb", "a\u{2029}", "\u{85}é"];
        assert_eq!(texts.map(line_count), [0, 1, 1, 1, 2, 2, 2, 3, 1, 2]);
        assert_eq!([254, 255, 256, 511].map(|lines| line_count(&"\n".repeat(lines))), [254, 255, 256, 511]);
    }

    #[test]
    fn repr_equals_pythons() {
        let expected = concat!(
            r#"{'a': ["it's", '"q"', 'both \' and "', '\x00\x7f\xa0\xadé😀\n'], "#,
            r#"'n': [1, -2.5, 1e+16, 1e-05, 0.0001, 1e+22, None, True], 's': '\udc80', 'e': [{}, []]}"#
        );
        assert_eq!(repr(&awkward()), expected);
    }

    #[test]
    fn python_text_length_equals_the_meter() {
        let value = awkward();
        let chars = |text: String| text.chars().count() as u64;
        assert_eq!(chars(repr(&value)), python::repr_len(&value));
        assert_eq!(chars(dumps(&value, true)), python::dumps_len(&value, true));
        // Python counts a lone surrogate as one character; this text has its escape of six characters.
        assert_eq!(chars(dumps(&value, false)) - 5, python::dumps_len(&value, false));
    }
}
