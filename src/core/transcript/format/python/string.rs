//! Parses Python strings and their escapes.

use memchr::memchr2;

use super::{Parser, SyntaxError};
use crate::text::surrogates::stand_in;

impl Parser<'_> {
    /// Reads a string in single or double quotes. In a bytes literal (`bytes`), `\u`, `\U` and `\N` are not escapes.
    pub(super) fn string(&mut self, bytes: bool) -> Result<String, SyntaxError> {
        let start = self.at;
        let quote = self.text.as_bytes()[start];
        let mut out = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(plain) = memchr2(quote, b'\\', rest.as_bytes()) else {
                return Err(self.error(start, "the string that begins here does not end"));
            };
            out.push_str(&rest[..plain]);
            self.at += plain + 1;
            if rest.as_bytes()[plain] == quote {
                return Ok(out);
            }
            self.escape(bytes, &mut out)?;
        }
    }

    /// Reads one escape after its backslash.
    fn escape(&mut self, bytes: bool, out: &mut String) -> Result<(), SyntaxError> {
        let Some(letter) = self.text[self.at..].chars().next() else {
            return Err(self.error(self.at - 1, "the text ends in the middle of an escape"));
        };
        let start = self.at - 1;
        self.at += letter.len_utf8();
        match letter {
            '\n' => {}
            '\\' | '\'' | '"' => out.push(letter),
            'a' => out.push('\x07'),
            'b' => out.push('\x08'),
            'f' => out.push('\x0C'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'v' => out.push('\x0B'),
            '0'..='7' => {
                let digits = self.text.as_bytes()[self.at - 1..].iter().take(3).take_while(|b| matches!(b, b'0'..=b'7')).count();
                self.at -= 1;
                out.push(self.code(start, digits, 8)?);
            }
            'x' => out.push(self.code(start, 2, 16)?),
            'u' if !bytes => out.push(self.code(start, 4, 16)?),
            'U' if !bytes => out.push(self.code(start, 8, 16)?),
            'N' if !bytes => {
                return Err(self.error(start, "character names (\\N{…}) are not supported, because repr never prints them"));
            }
            // Python keeps a backslash before any other character.
            _ => out.extend(['\\', letter]),
        }
        Ok(())
    }

    /// Reads a character code with this number of digits. `start` is the position of the escape, for errors.
    fn code(&mut self, start: usize, digits: usize, radix: u32) -> Result<char, SyntaxError> {
        let number = self.text.get(self.at..self.at + digits).filter(|text| text.chars().all(|c| c.is_digit(radix)));
        let Some(code) = number.and_then(|text| u32::from_str_radix(text, radix).ok()) else {
            return Err(self.error(start, format!("an escape that needs {digits} hexadecimal digits")));
        };
        self.at += digits;
        let surrogate = u16::try_from(code).ok().and_then(stand_in);
        surrogate
            .or_else(|| char::from_u32(code))
            .ok_or_else(|| self.error(start, "an escape beyond the last character, U+10FFFF"))
    }
}
