//! What Python's `repr`, Python's `json.dumps` and JavaScript's `JSON.stringify` have in common: brackets, separators, and
//! words as long as each other (`True` and `true`, `None` and `null`, `'role'` and `"role"`). They differ in strings, in
//! numbers and in the space after a separator.

use serde_json::{Number, Value};

use crate::transcript::conversation::Role;

/// How a language writes a value down. Sizes are in its own units: code points, or UTF-16 units for JavaScript.
pub struct Notation {
    /// The space after each `,` and `:`, 1 or 0.
    pub space: u64,
    pub number: fn(&Number) -> u64,
    /// The size of a string with its quotes.
    pub string: fn(&str) -> u64,
}

impl Notation {
    /// The size of a value as it is written.
    pub fn value(&self, value: &Value) -> u64 {
        match value {
            Value::Null | Value::Bool(true) => 4,
            Value::Bool(false) => 5,
            Value::Number(number) => (self.number)(number),
            Value::String(text) => (self.string)(text),
            Value::Array(items) => self.items(items.len(), items.iter().map(|item| self.value(item)).sum()),
            Value::Object(fields) => {
                let sum = fields.iter().map(|(key, value)| (self.string)(key) + 1 + self.space + self.value(value)).sum();
                self.items(fields.len(), sum)
            }
        }
    }

    /// The size of a list, or of a dict, of `n` items whose sizes add up to `sum`.
    pub fn items(&self, n: usize, sum: u64) -> u64 {
        2 + sum + (n as u64).saturating_sub(1) * (1 + self.space)
    }

    /// The size of `{"role": …, "content": …}` whose content takes `content`.
    pub fn message(&self, role: Role, content: u64) -> u64 {
        let keys = "'role':'content':".len() as u64 + 2 * self.space;
        let role = role.as_str().len() as u64 + 2;
        self.items(2, keys + role + content)
    }
}

/// The sizes of a text's characters: up to `~` as the table has them, of others as `beyond` gives them. The table has a place
/// for every byte, and 0 for those after `~`.
pub fn characters(text: &str, sizes: &[u8; 256], beyond: impl Fn(char) -> u64) -> u64 {
    let known: u64 = text.bytes().map(|byte| u64::from(sizes[usize::from(byte)])).sum();
    // A second look is quicker than to tell characters apart one by one: nearly all of them are ASCII.
    if text.is_ascii() && memchr::memchr(0x7f, text.as_bytes()).is_none() {
        return known;
    }
    known + text.chars().filter(|c| *c > '~').map(beyond).sum::<u64>()
}
