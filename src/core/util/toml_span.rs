//! Lines of keys in a TOML file that a user wrote, so that an error message can name the line.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Why a file could not be used, and at which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// Path of the file, or the name of a file that is built into the program.
    pub origin: String,
    /// Line in the file, from 1; `None` if the error is not at one line.
    pub line: Option<usize>,
    /// The error message.
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

impl FileError {
    /// Says at which line a text is not the TOML that was expected.
    pub fn in_toml(origin: &str, text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map(|span| line_at(text, span.start));
        Self { origin: origin.to_owned(), line, what: friendly_serde_error(error.message().trim()) }
    }
}

/// Finds the lines of keys in a file that holds an array of tables (`[[layer]]`, `[[model]]`).
pub struct TomlSpans<'a> {
    text: &'a str,
    /// Name of the array of tables: `layer`, `model`.
    list: &'a str,
}

impl<'a> TomlSpans<'a> {
    /// Reads positions in `text`, whose array of tables is called `list`.
    pub fn new(text: &'a str, list: &'a str) -> Self {
        Self { text, list }
    }

    /// Returns the line of a key (`chars`, `input.chars`) in the table with this index, or at the top of the file if `index` is `None`.
    /// Returns `None` if there is no such key.
    pub fn line(&self, index: Option<usize>, key: &str) -> Option<usize> {
        self.line_where(index, |table| key_of(table, key).map(|(key, _)| key))
    }

    /// Returns the line of an item of an array in the table with this index, or the line of the array's key if there is no such item.
    pub fn line_of_item(&self, index: usize, key: &str, item: usize) -> Option<usize> {
        let item_start = |table: &DeTable| Some(key_of(table, key)?.1.get_ref().as_array()?.get(item)?.span().start);
        self.line_where(Some(index), item_start).or_else(|| self.line(Some(index), key))
    }

    /// Returns the line of a key in a sub-table of the table with this index.
    pub fn line_of_key(&self, index: usize, table: &str, key: &str) -> Option<usize> {
        self.line_where(Some(index), |outer| Some(key_of(key_of(outer, table)?.1.get_ref().as_table()?, key)?.0))
    }

    /// Returns the line of the byte that `start` finds in the table with this index, or at the top of the file.
    fn line_where(&self, index: Option<usize>, start: impl Fn(&DeTable) -> Option<usize>) -> Option<usize> {
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

/// Returns the byte at which a key begins, and the value of the key. A key of a table in the table is `input.chars`.
fn key_of<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<(usize, &'t Spanned<DeValue<'i>>)> {
    if let Some((name, value)) = table.iter().find(|(name, _)| name.get_ref() == key) {
        return Some((name.span().start, value));
    }
    let (outer, inner) = key.split_once('.')?;
    key_of(key_of(table, outer)?.1.get_ref().as_table()?, inner)
}

/// Returns the line of a key in tables within tables, from the top of the file: `["defaults", "sweep", "holdout"]`. Returns `None` if
/// there is no such key.
pub fn line_of_path(text: &str, path: &[&str]) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let (last, tables) = path.split_last()?;
    let table = tables.iter().try_fold(document.get_ref(), |table, key| key_of(table, key)?.1.get_ref().as_table())?;
    Some(line_at(text, key_of(table, last)?.0))
}

/// Returns the line that contains a byte, from 1.
pub fn line_at(text: &str, byte: usize) -> usize {
    text.as_bytes()[..byte.min(text.len())].iter().filter(|b| **b == b'\n').count() + 1
}

/// Rewrites an error message of serde without names of Rust types.
pub fn friendly_serde_error(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let expected = match expected {
        "usize" | "u64" | "u32" | "u16" => "a whole number, 0 or more",
        "a nonzero usize" | "a nonzero u64" => "a whole number, 1 or more",
        "f64" => "a number",
        "a sequence" => "a list",
        other => other,
    };
    format!("{found}, expected {expected}")
}
