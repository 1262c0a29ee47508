//! A study that was stopped, as it is saved: what it takes to go on with it.

use serde::{Deserialize, Serialize};

/// What is done of a study, and what it was asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Unfinished {
    /// All transcripts of the study, done or not.
    pub transcripts: usize,
    /// Whatever decides the results, by the name of its option. What another question found cannot be gone on with.
    pub question: Vec<(String, String)>,
    pub done: Vec<SavedTranscript>,
}

/// A transcript that was replayed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedTranscript {
    pub transcript: String,
    /// Of its bytes, XXH3 in hexadecimal: a file that was changed since is replayed again.
    pub hash: String,
    /// Of the policies of this round of a sweep; empty for a study, which has but one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub round: String,
    /// What the study keeps of it; only the program that wrote it reads it again.
    pub part: serde_json::Value,
}
