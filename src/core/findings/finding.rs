//! A finding, as plain data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The API refuses the request, or something is destroyed for good.
    Error,
    /// It costs money, time or information.
    Warning,
    /// Something to know.
    Note,
}

impl Level {
    /// All levels, the worst first.
    pub const ALL: [Level; 3] = [Self::Error, Self::Warning, Self::Note];

    /// Returns the name in reports, as SARIF spells it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// A finding as reports show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub id: String,
    pub level: Level,
    /// Path of the transcript.
    pub path: String,
    #[serde(default)]
    pub line: Option<u32>,
    /// Number of the call before which it happened, from 1.
    #[serde(default)]
    pub call: Option<usize>,
    pub message: String,
    #[serde(default)]
    pub data: Map<String, Value>,
    /// Name of the conversation; `None` for a finding about a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Name of the replayed policy; `None` in an audit, which checks only the recorded session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// One test in the reports for continuous integration. It passes if it has no findings.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Transcript or suite of the test.
    pub group: String,
    /// What the test checks, such as the id of a finding.
    pub name: String,
    pub findings: Vec<Finding>,
}
