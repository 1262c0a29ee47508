//! The state of an interrupted study, saved so that `--resume` can continue it.

use serde::{Deserialize, Serialize};

/// The options of an interrupted study, and the transcripts that are done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Number of transcripts in the study, done or not.
    pub transcripts: usize,
    /// Options that influence the results, as names and values. A study resumes only if they are the same.
    pub question: Vec<(String, String)>,
    /// Transcripts that are done.
    pub done: Vec<SavedTranscript>,
}

/// Saved work on one transcript.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
