//! Where things stand in a TOML file that a user wrote, so that an error can name the line.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Why a file could not be used: what, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// Path of the file, or the name of what comes with the program.
    pub origin: String,
    pub line: Option<usize>,
    pub what: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.origin, self.what),
            None => write!(f, "{}: {}", self.origin, self.what),
        }
    }
}

impl std::error::Error for FileError {}

/// The lines of the keys of a file that holds a list of tables (`[[layer]]`, `[[model]]`).
pub struct TomlSpans<'a> {
    text: &'a str,
    list: &'a str,
}

impl<'a> TomlSpans<'a> {
    pub fn of(text: &'a str, list: &'a str) -> Self {
        Self { text, list }
    }

    /// The line of a key of the table with this index, or of the file itself; `None` where there is no such key.
    pub fn line(&self, index: Option<usize>, key: &str) -> Option<usize> {
        self.found(index, |table| key_of(table, key).map(|(key, _)| key))
    }

    /// The line of an item of a list in the table with this index; that of the list's key where there is no such item.
    pub fn line_of_item(&self, index: usize, key: &str, item: usize) -> Option<usize> {
        let item = |table: &DeTable| Some(key_of(table, key)?.1.get_ref().as_array()?.get(item)?.span().start);
        self.found(Some(index), item).or_else(|| self.line(Some(index), key))
    }

    /// The line of a key of a table in the table with this index.
    pub fn line_of_key(&self, index: usize, table: &str, key: &str) -> Option<usize> {
        self.found(Some(index), |outer| Some(key_of(key_of(outer, table)?.1.get_ref().as_table()?, key)?.0))
    }

    /// The line of what is found in the table with this index, or in the file itself.
    fn found(&self, index: Option<usize>, start: impl Fn(&DeTable) -> Option<usize>) -> Option<usize> {
        let document = DeTable::parse(self.text).ok()?;
        let document = document.get_ref();
        let table = match index {
            None => document,
            Some(index) => match document.get(self.list)?.get_ref() {
                DeValue::Array(tables) => tables.get(index)?.get_ref().as_table()?,
                _ => return None,
            },
        };
        Some(line_at(self.text, start(table)?))
    }
}

/// Where a key begins, and its value.
fn key_of<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<(usize, &'t Spanned<DeValue<'i>>)> {
    let (key, value) = table.iter().find(|(name, _)| name.get_ref() == key)?;
    Some((key.span().start, value))
}

/// The line that holds a byte, from 1.
pub fn line_at(text: &str, byte: usize) -> usize {
    text.as_bytes()[..byte.min(text.len())].iter().filter(|b| **b == b'\n').count() + 1
}

/// What serde expects, without the names of Rust's types.
pub fn friendly_serde_error(what: &str) -> String {
    let Some((found, expected)) = what.rsplit_once(", expected ") else { return what.to_owned() };
    let expected = match expected {
        "usize" | "u64" | "u32" | "u16" => "a whole number, 0 or more",
        "f64" => "a number",
        "a sequence" => "a list",
        other => other,
    };
    format!("{found}, expected {expected}")
}
