//! Removes API keys and passwords from everything that is shown or saved.

#[cfg(feature = "models")]
use serde_json::Value;

/// Keys and passwords to hide. No method returns them.
#[derive(Clone)]
pub(super) struct Secrets(Vec<String>);

/// Shorter secrets are not hidden: local servers accept any word as a key, and the word may occur in an answer.
const MIN_SECRET_BYTES: usize = 8;
/// Maximum characters of another program's message.
const MAX_LINE_CHARS: usize = 300;

impl Secrets {
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<_> = secrets.into_iter().filter(|secret| secret.len() >= MIN_SECRET_BYTES).collect();
        // Longest first, because one secret may be part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(secrets)
    }

    /// Returns a text without the secrets.
    pub fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "[key]"))
    }

    /// Removes the secrets from all texts of a JSON value.
    #[cfg(feature = "models")]
    pub fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) if self.0.iter().any(|secret| text.contains(secret.as_str())) => *text = self.hide(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.hide_in(field)),
            _ => {}
        }
    }

    /// Returns another program's text as one short line without secrets, for a message. The caller that prints it removes
    /// invisible characters.
    pub fn one_line(&self, text: &str) -> String {
        let hidden = self.hide(text);
        let mut words = hidden.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
        let mut line = String::new();
        while let Some(word) = words.next()
            && line.len() <= 4 * MAX_LINE_CHARS
        {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
        match line.char_indices().nth(MAX_LINE_CHARS) {
            None => line,
            Some(_) => line.chars().take(MAX_LINE_CHARS - 1).chain(['…']).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_before_anything_is_cut() {
        let secrets = Secrets::new(["sk-12345678".to_owned(), "sk-12345678-long".to_owned(), "x".to_owned()]);
        assert_eq!(secrets.one_line("x sk-12345678-long,\n\tsk-12345678\u{1b}[31m"), "x [key], [key] [31m");
        let long = format!("{} sk-12345678", "a".repeat(MAX_LINE_CHARS - 8));
        assert!(secrets.one_line(&long).ends_with(" [key]"), "half a key would be one, too");
        let wide = secrets.one_line(&"é".repeat(1000));
        assert_eq!((wide.chars().count(), wide.ends_with('…')), (MAX_LINE_CHARS, true));
    }

    #[cfg(feature = "models")]
    #[test]
    fn secrets_are_hidden_in_all_texts_of_a_value() {
        let secrets = Secrets::new(["sk-12345678".to_owned()]);
        let mut value = serde_json::json!({"a": ["sk-12345678", 1], "b": {"c": "x"}});
        secrets.hide_in(&mut value);
        assert_eq!(value, serde_json::json!({"a": ["[key]", 1], "b": {"c": "x"}}));
    }
}
