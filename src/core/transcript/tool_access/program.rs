//! Finds string literals in programs that call tools; commands and patches are among them. Codex's `exec` takes such JavaScript.

use std::borrow::Cow;

/// A string literal of a program, unescaped.
pub struct Literal<'a> {
    /// The key before it, as in `{cmd: "ls"}`; empty if there is none.
    pub key: &'a str,
    pub text: Cow<'a, str>,
}

/// Returns whether a text is a program that calls tools. A patch of such a program is not one.
pub fn calls_tools(text: &str) -> bool {
    text.contains("tools.") && !["*** ", "--- ", "diff "].iter().any(|patch| text.trim_start().starts_with(patch))
}

/// Returns the string literals of a program, in order. A backslash escapes the next character, also outside of literals. So the scan
/// takes linear time, even with many quotes that are never closed.
pub fn literals(text: &str) -> impl Iterator<Item = Literal<'_>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            let begin = at;
            at += if byte == b'\\' { 2 } else { 1 };
            if matches!(byte, b'"' | b'\'' | b'`')
                && let Some(end) = end_of_literal(bytes, at, byte)
            {
                at = end + 1;
                return Some(Literal { key: key_before(&text[..begin]), text: unescaped(&text[begin + 1..end]) });
            }
        }
        None
    })
}

/// Returns the position of the closing quote of a literal whose text starts at `from`. Only literals in backticks span several lines.
fn end_of_literal(bytes: &[u8], mut from: usize, quote: u8) -> Option<usize> {
    loop {
        match *bytes.get(from)? {
            b'\\' => from += 1,
            b'\n' if quote != b'`' => return None,
            byte if byte == quote => return Some(from),
            _ => {}
        }
        from += 1;
    }
}

/// Returns the key at the end of a text: `cmd` for `… {"cmd": `.
fn key_before(text: &str) -> &str {
    let Some(named) = text.trim_end().strip_suffix(':') else { return "" };
    let named = named.trim_end().trim_end_matches(['"', '\'']);
    let start = named.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |before| before + 1);
    named.get(start..).unwrap_or_default()
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match if c == '\\' { chars.next() } else { None } {
            None => out.push(c),
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            // A line continuation.
            Some('\n') => {}
            Some('u') => {
                let rest = chars.as_str();
                let code = rest.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
                match code {
                    Some(code) => {
                        out.push(code);
                        chars = rest[4..].chars();
                    }
                    None => out.push('u'),
                }
            }
            Some(other) => out.push(other),
        }
    }
    Cow::Owned(out)
}
