//! `archive`: the full transcript is written to disk before something is lost.
//!
//! It edits nothing; `{path}` in the templates of the layer it runs before is the file it wrote. Harnesses write a full copy
//! each time, so a policy that acts at every turn writes the history as often as there are turns.
//!
//! ```toml
//! [[layer]]
//! id = "archive"
//! do = "archive"
//! when = { before = ["auto"] }
//! path = ".transcripts/transcript_{n}.jsonl"     # {n} counts from 1
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::context::Context;
use crate::tokens::meter::{SizeUnit, python_text};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Archive {
    /// Where it goes; `{n}` counts the archives of one conversation from 1.
    pub path: String,
}

/// A message is written as Python's `json.dumps` writes it: ASCII only, so characters are bytes.
pub const FORM: SizeUnit = SizeUnit::JsonAscii;

impl Default for Archive {
    fn default() -> Self {
        Self { path: ".transcripts/transcript_{n}.jsonl".to_owned() }
    }
}

/// Bytes of the transcript as it would be written now: one message a line.
pub fn bytes(context: &Context) -> u64 {
    context.sum(FORM) + context.len() as u64
}

/// The transcript as it would be written now.
pub fn text(context: &Context) -> String {
    context.messages().iter().map(|sent| python_text::dumps(&context.wire(sent), true) + "\n").collect()
}
