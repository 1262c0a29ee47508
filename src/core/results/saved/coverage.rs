//! Which transcripts are in the results, and which are not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::util::text::plural;

/// How many of the transcripts that a command found are in its results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Number of transcripts found.
    pub found: usize,
    /// Those that are not in the results, in the order in which they were found.
    pub left_out: Vec<LeftOut>,
}

/// A transcript that is not in the results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{path}: {why}")]
pub struct LeftOut {
    pub path: String,
    pub why: String,
}

impl Coverage {
    /// Whether nothing was left out.
    pub fn is_complete(&self) -> bool {
        self.left_out.is_empty()
    }

    /// Returns how many transcripts are in the results: `47 of 60 transcripts`.
    pub fn line(&self) -> String {
        format!("{} of {}", self.found.saturating_sub(self.left_out.len()), plural(self.found, "transcript"))
    }

    /// Adds what was left out before: `read` is the coverage of reading, and this one that of the transcripts that could be read.
    pub fn of_all_found(self, read: Coverage) -> Self {
        Self { found: read.found, left_out: read.left_out.into_iter().chain(self.left_out).collect() }
    }

    /// Leaves out another transcript.
    pub fn leave_out(&mut self, path: &str, why: impl Into<String>) {
        self.left_out.push(LeftOut { path: path.to_owned(), why: why.into() });
    }
}
