//! The state of an interrupted study, saved so that `--resume` can continue it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The transcripts of an interrupted study that are done. It resumes only if [`Results::study`](super::Results::study) is the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unfinished {
    /// Number of transcripts in the study, done or not.
    pub transcripts: usize,
    /// Transcripts that are done.
    pub done: Vec<SavedTranscript>,
}

/// Saved work on one transcript.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedTranscript {
    pub transcript: String,
    /// XXH3 hash of its bytes, in hexadecimal. If the file changed since, it is replayed again.
    pub hash: String,
    /// Hash of the policies in this round of a sweep; empty for a study, which has one round.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub round: String,
    /// Partial results of this transcript. Only the program version that wrote them can read them.
    pub part: serde_json::Value,
    /// Hash of all of this. A part that was edited, or exchanged with that of another transcript, is refused.
    #[serde(default)]
    pub checksum: String,
}
