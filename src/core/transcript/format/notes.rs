//! The notes of a reading. What occurs often is one note a kind: the line of the first, and how many there are.

use std::collections::HashMap;

use serde_json::Value;

use super::Note;
use crate::util::text::head;

/// Maximum characters of a name in a note.
const LONGEST_NAME: usize = 40;

/// Collects the notes about one file.
#[derive(Debug, Default)]
pub struct Notes {
    /// Notes on single lines.
    pub lines: Vec<Note>,
    kinds: Vec<(Note, usize)>,
    /// Index into `kinds`, by text.
    known: HashMap<String, usize>,
}

impl Notes {
    /// Adds a note about a kind of record or field. Notes with the same text become one, with their count.
    pub fn kind(&mut self, note: Note) {
        match self.known.get(&note.what) {
            Some(at) => self.kinds[*at].1 += 1,
            None => {
                self.known.insert(note.what.clone(), self.kinds.len());
                self.kinds.push((note, 1));
            }
        }
    }

    /// Notes that a field has a value that it cannot have, and that only the field was left out.
    pub fn odd_field(&mut self, line: u32, field: &str, value: &Value) {
        self.kind(Note::skipped(line, odd_field(field, value)));
    }

    /// Notes that some things of this type are not read: `blocks`, `records`.
    pub fn unknown_type(&mut self, line: u32, things: &str, name: &str) {
        let name = head(name, LONGEST_NAME);
        self.kind(Note::info(line, format!("{things} of the unknown type `{name}` are not read")));
    }

    /// Notes that messages of this role are not read.
    pub fn unknown_role(&mut self, line: u32, role: &str) {
        let role = head(role, LONGEST_NAME);
        self.kind(Note::skipped(line, format!("messages of the unknown role `{role}` are not read")));
    }

    /// Takes the notes on lines. Those about odd fields become one a field.
    pub fn of_lines(notes: Vec<Note>) -> Self {
        let mut all = Self::default();
        for note in notes {
            if note.what.ends_with(LEFT_OUT) { all.kind(note) } else { all.lines.push(note) }
        }
        all
    }

    /// Returns the notes in the order of their lines.
    pub fn finish(self) -> Vec<Note> {
        let mut notes = self.lines;
        notes.extend(self.kinds.into_iter().map(|(note, count)| match count {
            1 => note,
            _ => Note { what: format!("{} ({count} times)", note.what), ..note },
        }));
        notes.sort_by_key(|note| note.line);
        notes
    }
}

/// The end of a note about an odd field.
const LEFT_OUT: &str = "; this field was left out";

/// Returns the text of a note about a field with a value that it cannot have.
pub fn odd_field(field: &str, value: &Value) -> String {
    format!("`{field}` is {}{LEFT_OUT}", what(value))
}

/// Returns what a value is, in words: "a negative number".
fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.as_f64().is_some_and(|number| number < 0.0) => "a negative number",
        Value::Number(number) => match number.as_u64() {
            None => "not a whole number",
            Some(number) if u32::try_from(number).is_err() => "too large a number",
            Some(_) => "a number",
        },
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_occurs_often_is_one_note_with_its_count() {
        let mut notes = Notes::default();
        notes.kind(Note::info(5, "odd"));
        notes.lines.push(Note::info(3, "torn"));
        notes.kind(Note::info(2, "rare"));
        notes.kind(Note::info(9, "odd"));
        notes.odd_field(1, "usage", &json!(-1));
        let texts: Vec<_> = notes.finish().into_iter().map(|note| (note.line.unwrap_or(0), note.what)).collect();
        let usage = "`usage` is a negative number; this field was left out";
        assert_eq!(texts, [(1, usage), (2, "rare"), (3, "torn"), (5, "odd (2 times)")].map(|(at, text)| (at, text.to_owned())));
    }
}
