//! `archive`: writes the full transcript to disk before content is lost.
//!
//! It edits nothing. In the templates of the layer that runs after it, `{path}` is the file it wrote. Harnesses write a full
//! copy each time, so a policy that acts at every turn writes the whole history once per turn.
//!
//! ```toml
//! [[layer]]
//! id = "archive"
//! do = "archive"
//! when = { before = ["auto"] }                   # the layers that it precedes; required
//! path = ".transcripts/transcript_{n}.jsonl"     # the default; {n} counts the archives of a conversation from 1
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Action, LayerInput, LayerTraits, Proposal, Timing};
use crate::engine::context::Context;
use crate::tokens::meter::{SizeUnit, python_text};

/// Settings of `archive`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Archive {
    /// Path of the archive; `{n}` counts the archives of one conversation from 1.
    pub path: String,
}

/// Size unit of an archive: Python's `json.dumps`, which writes ASCII only, so one character is one byte.
pub const FORM: SizeUnit = SizeUnit::JsonAscii;

impl Default for Archive {
    fn default() -> Self {
        Self { path: ".transcripts/transcript_{n}.jsonl".to_owned() }
    }
}

impl Action for Archive {
    type State = ();

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits { timing: Timing::BeforeLayers, archive_path: Some(&self.path), ..LayerTraits::PLAIN }
    }

    /// Proposes nothing: the replay writes the archive, just before the layer that the archive precedes.
    fn propose(&self, _input: &LayerInput, _state: &mut ()) -> Proposal {
        Proposal::default()
    }
}

/// Returns the bytes of the transcript as it would be written now: one message per line.
pub fn bytes(context: &Context) -> u64 {
    context.sum(FORM) + context.len() as u64
}

/// Returns the transcript as it would be written now.
pub fn text(context: &Context) -> String {
    context.messages().iter().map(|message| python_text::dumps(&context.wire(message), true) + "\n").collect()
}
