//! A finding, as plain data.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// An API refuses it, or something is destroyed for good.
    Error,
    /// It costs money, time or information.
    Warning,
    /// Something to know.
    Note,
}

impl Level {
    pub const ALL: [Level; 3] = [Self::Error, Self::Warning, Self::Note];

    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// A finding as reports tell it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub id: String,
    pub level: Level,
    /// The transcript.
    pub path: String,
    #[serde(default)]
    pub line: Option<u32>,
    /// The call before which it happened, from 1.
    #[serde(default)]
    pub call: Option<usize>,
    pub message: String,
    #[serde(default)]
    pub data: Map<String, Value>,
    /// None where it is about files, not about a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The policy that was replayed; none in an audit, which is about the record alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// What continuous integration shows as one test: it passed where nothing was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What it belongs to: a transcript, a suite.
    pub group: String,
    /// What was looked for.
    pub name: String,
    pub findings: Vec<Finding>,
}
