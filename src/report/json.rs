//! The json report: the complete saved form of results ([`crate::results::saved`]).
//!
//! Each row is one line, so that files can be read, compared and searched line by line. Invisible characters are
//! written as JSON escapes: the same text for a program, harmless for a terminal. A lone surrogate is written as the
//! escape it came from.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::text::surrogates::lone_surrogate;

use super::escape;

/// Writes any plain data in this layout.
pub fn write(data: &impl Serialize) -> Vec<u8> {
    write_rows(data, 2)
}

/// Writes any plain data with a line break before each member of the lists and objects down to nesting depth `broken`;
/// deeper members stay on one line.
pub fn write_rows(data: &impl Serialize, broken: usize) -> Vec<u8> {
    let mut out = Vec::new();
    write_rows_to(&mut out, data, broken).expect("plain data with string keys, written to memory");
    out
}

/// Writes any plain data in the layout of [`write`](fn@write) to where it goes.
///
/// # Errors
///
/// Fails as the writer does.
pub fn write_to(to: &mut dyn Write, data: &impl Serialize) -> io::Result<()> {
    write_rows_to(to, data, 2)
}

fn write_rows_to(to: &mut (impl Write + ?Sized), data: &impl Serialize, broken: usize) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(&mut *to, RowPerLine { broken, depth: 0, filled: false });
    data.serialize(&mut serializer)?;
    to.write_all(b"\n")
}

/// A JSON formatter that breaks lines down to a nesting depth.
struct RowPerLine {
    /// The deepest level with line breaks. 2: between the members of the outermost object and of the lists in it.
    broken: usize,
    depth: usize,
    /// Whether the list or object that ends next has at least one member.
    filled: bool,
}

impl RowPerLine {
    fn begin(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        out.write_all(bracket)
    }

    fn member(&mut self, out: &mut (impl Write + ?Sized), first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        if self.depth <= self.broken {
            self.line_break(out)
        } else if first {
            Ok(())
        } else {
            out.write_all(b" ")
        }
    }

    fn end(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        let broken = self.filled && self.depth <= self.broken;
        self.depth -= 1;
        self.filled = true;
        if broken {
            self.line_break(out)?;
        }
        out.write_all(bracket)
    }

    fn line_break(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(b" "))
    }
}

impl Formatter for RowPerLine {
    fn begin_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"[")
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.member(out, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn end_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"]")
    }

    fn begin_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.member(out, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn end_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"}")
    }

    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(index) = rest.find(escape::is_unseen) {
            let (visible, tail) = rest.split_at(index);
            out.write_all(visible.as_bytes())?;
            let mut chars = tail.chars();
            let invisible = chars.next().unwrap_or_default();
            match lone_surrogate(invisible) {
                Some(unit) => write!(out, "\\u{unit:04x}")?,
                None => invisible.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?,
            }
            rest = chars.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}
