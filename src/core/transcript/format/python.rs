//! Parses values as Python prints them (`repr`), for transcripts that contain printed objects instead of JSON.
//!
//! It reads lists, tuples, dicts, strings with all escapes, numbers, `True`, `None`, and objects such as `Class(field=value, …)`, and
//! converts them to JSON values. Numbers keep their digits. `inf` and `nan` become strings, because JSON does not have them. Tuples
//! become arrays. Keys that are numbers, booleans or `None` become their JSON text. Each byte of a bytes literal becomes the character
//! with that code. Escaped surrogates become stand-ins (see [`crate::util::text`]). Parsing takes linear time.

mod string;

use serde_json::{Map, Number, Value};

use crate::util::text::head;

/// Maximum nesting depth of lists, dicts and objects. Deeper text is an error, so that hostile text cannot exhaust the stack.
pub const MAX_DEPTH: usize = 128;

/// A printed object: `TextBlock(citations=None, text='…')`. Nested objects become JSON objects without their class.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    pub class: String,
    pub fields: Map<String, Value>,
}

/// Why a text is not a printed Python value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at character {at}")]
pub struct SyntaxError {
    pub what: String,
    /// Position in characters (code points), from 1.
    pub at: usize,
}

/// Reads a printed value. Only tests need this, because transcripts contain only printed objects.
#[cfg(test)]
pub fn value(text: &str) -> Result<Value, SyntaxError> {
    let mut parser = Parser { text, at: 0 };
    let value = parser.value(0)?;
    parser.end()?;
    Ok(value)
}

/// Reads a printed object.
pub fn object(text: &str) -> Result<Object, SyntaxError> {
    let mut parser = Parser { text, at: 0 };
    parser.skip_space();
    let name = parser.name();
    let object = parser.object(name, 0)?;
    parser.end()?;
    Ok(object)
}

struct Parser<'a> {
    text: &'a str,
    /// Byte offset of the next character.
    at: usize,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        self.skip_space();
        match (self.peek(), self.text.as_bytes().get(self.at + 1)) {
            (None, _) => Err(self.error(self.at, "the text ends where a value was expected")),
            (Some(b'['), _) => self.list(b']', depth),
            (Some(b'('), _) => self.list(b')', depth),
            (Some(b'{'), _) => self.dict(depth),
            (Some(b'\'' | b'"'), _) => self.string(false).map(Value::String),
            (Some(b'b'), Some(b'\'' | b'"')) => {
                self.at += 1;
                self.string(true).map(Value::String)
            }
            (Some(b'-' | b'0'..=b'9'), _) => self.number(),
            _ => self.keyword_or_object(depth),
        }
    }

    fn list(&mut self, close: u8, depth: usize) -> Result<Value, SyntaxError> {
        let mut list = Vec::new();
        self.items(close, depth, |parser| {
            list.push(parser.value(depth + 1)?);
            Ok(())
        })?;
        Ok(Value::Array(list))
    }

    fn dict(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        let mut dict = Map::new();
        self.items(b'}', depth, |parser| {
            let start = parser.at;
            let key = match parser.value(depth + 1)? {
                Value::String(key) => key,
                Value::Array(_) | Value::Object(_) => return Err(parser.error(start, "a key that JSON cannot hold")),
                other => other.to_string(),
            };
            parser.expect(b':')?;
            dict.insert(key, parser.value(depth + 1)?);
            Ok(())
        })?;
        Ok(Value::Object(dict))
    }

    /// Reads `True`, `None`, `inf` and similar words, or an object.
    fn keyword_or_object(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        match self.name() {
            "True" => Ok(Value::Bool(true)),
            "False" => Ok(Value::Bool(false)),
            "None" => Ok(Value::Null),
            name @ ("inf" | "nan") => Ok(name.into()),
            name => Ok(Value::Object(self.object(name, depth)?.fields)),
        }
    }

    /// Reads the rest of an object after its class name.
    fn object(&mut self, name: &str, depth: usize) -> Result<Object, SyntaxError> {
        let start = self.at - name.len();
        if name.is_empty() || name.starts_with(|c: char| c.is_numeric() || c == '.') {
            return Err(self.error(start, "expected a value"));
        }
        // The name of a generic class includes its parameter: `ParsedTextBlock[NoneType](…)`.
        if self.peek() == Some(b'[') {
            let open = memchr::memchr(b'(', &self.text.as_bytes()[self.at..]).map_or(self.text.len(), |n| self.at + n);
            if !self.text[..open].ends_with(']') {
                return Err(self.error(self.at, "expected '(' after the class"));
            }
            self.at = open;
        }
        let class = self.text[start..self.at].to_owned();
        if self.peek() != Some(b'(') {
            return Err(self.error(start, format!("`{}` is not a value", head(&class, 40))));
        }
        let mut fields = Map::new();
        self.items(b')', depth, |parser| {
            let field = parser.name();
            if field.is_empty() {
                return Err(parser.error(parser.at, "expected a field's name"));
            }
            parser.expect(b'=')?;
            fields.insert(field.to_owned(), parser.value(depth + 1)?);
            Ok(())
        })?;
        Ok(Object { class, fields })
    }

    /// Reads items in brackets, separated by commas, with an optional comma at the end.
    fn items(
        &mut self,
        close: u8,
        depth: usize,
        mut item: impl FnMut(&mut Self) -> Result<(), SyntaxError>,
    ) -> Result<(), SyntaxError> {
        if depth >= MAX_DEPTH {
            return Err(self.error(self.at, format!("brackets are nested more than {MAX_DEPTH} deep")));
        }
        self.at += 1;
        while !self.eat(close) {
            item(self)?;
            if !self.eat(b',') {
                return self.expect(close);
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, SyntaxError> {
        let rest = &self.text[self.at..];
        let mut previous = b'e';
        let end = rest.bytes().position(|byte| {
            let is_sign = matches!(byte, b'+' | b'-') && matches!(previous, b'e' | b'E');
            previous = byte;
            !(is_sign || byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'))
        });
        let digits = &rest[..end.unwrap_or(rest.len())];
        let value = match digits {
            "-inf" => digits.into(),
            _ => match digits.parse::<Number>() {
                Ok(number) => Value::Number(number),
                Err(_) => return Err(self.error(self.at, format!("`{}` is not a number JSON can hold", head(digits, 40)))),
            },
        };
        self.at += digits.len();
        Ok(value)
    }

    /// Reads a name, which may contain dots; empty if there is none.
    fn name(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let name = &rest[..rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len())];
        self.at += name.len();
        name
    }

    fn end(&mut self) -> Result<(), SyntaxError> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error(self.at, "expected the end of the text")),
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), SyntaxError> {
        if self.eat(byte) { Ok(()) } else { Err(self.error(self.at, format!("expected '{}'", char::from(byte)))) }
    }

    /// Consumes this byte and the space around it if it comes next; returns whether it did.
    fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        if is_next {
            self.at += 1;
            self.skip_space();
        }
        is_next
    }

    fn skip_space(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn error(&self, at: usize, what: impl Into<String>) -> SyntaxError {
        SyntaxError { what: what.into(), at: self.text[..at].chars().count() + 1 }
    }
}

#[cfg(test)]
mod tests;
