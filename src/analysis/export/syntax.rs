//! The languages of configurations: their comments and their literals.

use serde::Deserialize;
use toml::Value;

/// The language of a configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Syntax {
    /// JSON for a parser that takes no comments.
    #[default]
    Json,
    /// JSON for a parser that skips `//` comments.
    Jsonc,
    Python,
    /// Lines for a POSIX shell.
    Shell,
    Toml,
    Typescript,
    Yaml,
}

impl Syntax {
    /// Returns what a line of a comment begins with; `None` if there are no comments.
    pub fn comment_prefix(self) -> Option<&'static str> {
        match self {
            Self::Json => None,
            Self::Jsonc | Self::Typescript => Some("//"),
            Self::Python | Self::Shell | Self::Toml | Self::Yaml => Some("#"),
        }
    }

    /// Returns a text that sets nothing, for a configuration that holds no settings.
    pub(super) fn nothing(self) -> &'static str {
        match self {
            // A file without any value is no JSON.
            Self::Json | Self::Jsonc => "{}\n",
            Self::Python | Self::Shell | Self::Toml | Self::Typescript | Self::Yaml => "",
        }
    }

    /// Writes a value. Texts and lists look alike in all of these languages.
    pub(super) fn literal(self, value: &Value) -> String {
        match value {
            Value::Boolean(true) if self == Self::Python => "True".to_owned(),
            Value::Boolean(false) if self == Self::Python => "False".to_owned(),
            Value::String(text) => serde_json::Value::from(text.as_str()).to_string(),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.literal(item)).collect();
                format!("[{}]", items.join(", "))
            }
            other => other.to_string(),
        }
    }
}
