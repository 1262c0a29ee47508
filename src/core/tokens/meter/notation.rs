//! Lengths of values in Python's `repr`, Python's `json.dumps` and JavaScript's `JSON.stringify`.
//!
//! The three have the same brackets and separators, and words of the same length (`True` and `true`, `None` and `null`,
//! `'role'` and `"role"`). They differ in strings, in numbers and in the space after a separator.

use serde_json::{Number, Value};

use super::rules::UnitRules;
use crate::transcript::conversation::{Block, Role};

/// The notation of one language. Sizes are in its own units: code points, or UTF-16 units for JavaScript.
pub struct Notation {
    /// Number of spaces after each `,` and `:`, 0 or 1.
    pub space: u64,
    /// Returns the size of a number.
    pub number: fn(&Number) -> u64,
    /// Returns the size of a string with its quotes.
    pub string: fn(&str) -> u64,
}

impl Notation {
    /// Returns the size of a value.
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

    /// Returns the size of a list or dict of `n` items whose sizes add up to `sum`.
    pub fn items(&self, n: usize, sum: u64) -> u64 {
        2 + sum + (n as u64).saturating_sub(1) * (1 + self.space)
    }

    /// Returns the size of `{"role": …, "content": …}` whose content has the size `content`.
    fn role_and_content(&self, role: Role, content: u64) -> u64 {
        let keys = "'role':'content':".len() as u64 + 2 * self.space;
        let role = role.as_str().len() as u64 + 2;
        self.items(2, keys + role + content)
    }
}

/// A request counts as the language writes it, punctuation included.
impl UnitRules for Notation {
    fn counts_tokens(&self) -> bool {
        false
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn text(&self, text: &str) -> u64 {
        (self.string)(text)
    }

    fn block(&self, block: &Block, plain: bool) -> u64 {
        if plain { (self.string)(&block.text()) } else { self.value(&block.wire) }
    }

    fn message(&self, role: Role, plain: bool, blocks: usize, sum: u64) -> u64 {
        let content = if plain { sum } else { self.items(blocks, sum) };
        self.role_and_content(role, content)
    }

    fn list(&self, messages: usize, sum: u64) -> u64 {
        self.items(messages, sum)
    }
}
