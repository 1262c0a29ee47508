//! Which file has the text of a cleared result, and how a result is known that another layer saved.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Results in files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Save {
    /// Path of the file that gets the text of a cleared result, so that the model can read it again; `{id}` is the tool_use id, reduced
    /// to letters, digits, `.`, `_` and `-`. Without it the text is lost.
    pub to: Option<Box<str>>,
    /// Characters of a saved result that stay as `{head}`, and as `{tail}`.
    #[schemars(extend("x-unit" = "characters"))]
    pub preview_chars: usize,
    /// A result with a line that begins with this text was persisted; the rest of the line is `{path}` in `save.placeholder`.
    pub line: String,
    /// Text that replaces a persisted result; empty: `placeholder`, or with `save.to`, it stays.
    pub placeholder: String,
}

impl Default for Save {
    fn default() -> Self {
        Self { to: None, preview_chars: 0, line: "Full output: ".to_owned(), placeholder: String::new() }
    }
}
