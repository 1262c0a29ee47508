//! Fields of a record, each read by itself: an odd one costs only itself.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error};
use serde_json::value::RawValue;
use serde_json::{Result, Value};

use super::super::Note;

/// The fields of one object of a line.
pub struct Fields<'a> {
    values: BTreeMap<String, &'a RawValue>,
    /// What the object is called in notes.
    what: String,
    line: u32,
}

impl<'a> Fields<'a> {
    /// Reads an object. `what` is its name in notes.
    pub fn new(json: &'a RawValue, what: impl Into<String>, line: u32) -> Result<Self> {
        Ok(Self { values: serde_json::from_str(json.get())?, what: what.into(), line })
    }

    /// Returns a field as it is in the record; `None` if it is absent or null.
    pub fn raw(&self, key: &str) -> Option<&'a RawValue> {
        self.values.get(key).copied().filter(|value| value.get() != "null")
    }

    /// Returns a field; `None` if it is absent, null, or of another form, which becomes a note.
    pub fn get<T: DeserializeOwned>(&self, key: &str, notes: &mut Vec<Note>) -> Option<T> {
        self.parsed(self.raw(key)?, key, notes)
    }

    /// Returns a number of tokens, which is never null; `None` if it is absent or of another form, which becomes a note.
    pub fn tokens(&self, key: &str, notes: &mut Vec<Note>) -> Option<u64> {
        self.parsed(self.values.get(key)?, key, notes)
    }

    fn parsed<T: DeserializeOwned>(&self, value: &RawValue, key: &str, notes: &mut Vec<Note>) -> Option<T> {
        match serde_json::from_str(value.get()) {
            Ok(value) => Some(value),
            Err(_) => {
                let text = format!(
                    "the field `{key}` of this `{}` does not have the form that Codex writes; it was left out",
                    self.what
                );
                notes.push(Note::skipped(self.line, text));
                None
            }
        }
    }

    /// Returns a field as a JSON value; null if it is absent.
    pub fn value(&self, key: &str) -> Value {
        self.raw(key).and_then(|value| serde_json::from_str(value.get()).ok()).unwrap_or_default()
    }

    /// Returns a field without which the record means nothing.
    pub fn required<T: DeserializeOwned>(&self, key: &'static str) -> Result<T> {
        serde_json::from_str(self.raw(key).ok_or_else(|| Error::missing_field(key))?.get())
    }

    /// Returns an object inside this one; `None` if it is absent, null, or no object, which becomes a note.
    pub fn object(&self, key: &str, notes: &mut Vec<Note>) -> Option<Fields<'a>> {
        let found = Fields::new(self.raw(key)?, key, self.line).ok();
        if found.is_none() {
            let text = format!("the field `{key}` of this `{}` is not an object; it was left out", self.what);
            notes.push(Note::skipped(self.line, text));
        }
        found
    }
}
