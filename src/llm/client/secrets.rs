//! What is in no message and no file: keys and passwords. What others say is told without them, in one short line.

use serde_json::Value;

/// Keys and passwords. There is no way to see them but to send them.
#[derive(Clone)]
pub(super) struct Secrets(Vec<String>);

/// A shorter one guards nothing: local servers take any word for a key, and it may be a word of an answer.
const SHORTEST: usize = 8;
/// Most characters of what another program said.
const LONGEST_LINE: usize = 300;

impl Secrets {
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<_> = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST).collect();
        // One may be a part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(secrets)
    }

    /// A text without them.
    pub fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "[key]"))
    }

    /// All texts of a value without them.
    pub fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) if self.0.iter().any(|secret| text.contains(secret.as_str())) => *text = self.hide(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.hide_in(field)),
            _ => {}
        }
    }

    /// What another program said, as it may stand in a message: one line, short, without them. What would be unseen on a
    /// terminal is left to those who print it.
    pub fn told(&self, said: &str) -> String {
        let hidden = self.hide(said);
        let mut words = hidden.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
        let mut line = String::new();
        while let Some(word) = words.next()
            && line.len() <= 4 * LONGEST_LINE
        {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
        match line.char_indices().nth(LONGEST_LINE) {
            None => line,
            Some(_) => line.chars().take(LONGEST_LINE - 1).chain(['…']).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_hidden_before_anything_is_cut() {
        let secrets = Secrets::new(["sk-12345678".to_owned(), "sk-12345678-long".to_owned(), "x".to_owned()]);
        assert_eq!(secrets.told("x sk-12345678-long,\n\tsk-12345678\u{1b}[31m"), "x [key], [key] [31m");
        let long = format!("{} sk-12345678", "a".repeat(LONGEST_LINE - 8));
        assert!(secrets.told(&long).ends_with(" [key]"), "half a key would be one, too");
        let wide = secrets.told(&"é".repeat(1000));
        assert_eq!((wide.chars().count(), wide.ends_with('…')), (LONGEST_LINE, true));
        let mut value = json!({"a": ["sk-12345678", 1], "b": {"c": "x"}});
        secrets.hide_in(&mut value);
        assert_eq!(value, json!({"a": ["[key]", 1], "b": {"c": "x"}}));
    }
}
