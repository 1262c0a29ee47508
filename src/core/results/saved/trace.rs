//! Tokens per call over time, as rows of results.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::util::held::Held;

/// One conversation, call by call, under every policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceRow {
    pub transcript: Arc<str>,
    pub conversation: Arc<str>,
    /// Context window in tokens; the window of the baseline if policies differ.
    pub window: u64,
    /// Calls before which the recorded agent's harness compacted the context, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<usize>,
    /// One line for each policy. They are large, so those of large studies wait in a file.
    pub lines: Held<Vec<TraceLine>>,
}

/// One policy's requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceLine {
    pub policy: String,
    /// Tokens of each call's request, overhead included.
    pub tokens: Vec<u64>,
    /// Edits by layers that removed or added tokens, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventMark>,
}

/// Edits that one layer made before one call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventMark {
    /// The call, from 1.
    pub call: usize,
    /// The layer's id.
    pub layer: String,
    /// Tokens of the context before the edits.
    pub before: u64,
    /// Tokens of the context after the edits.
    pub after: u64,
}
