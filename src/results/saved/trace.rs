//! Tokens per call over time, as rows.

use serde::{Deserialize, Serialize};

/// One conversation, call by call, under every policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceRow {
    pub transcript: String,
    pub conversation: String,
    /// Tokens the model accepted: of the baseline, where policies differ.
    pub window: u64,
    /// Calls before which the recorded agent's harness compacted, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<usize>,
    pub lines: Vec<TraceLine>,
}

/// One policy's requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceLine {
    pub policy: String,
    /// Of each call's request, overhead included.
    pub tokens: Vec<u64>,
    /// What its layers did that took tokens out or put some in, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventMark>,
}

/// A layer made edits before a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventMark {
    /// From 1.
    pub call: usize,
    /// The layer's id.
    pub layer: String,
    /// Tokens the context had before and has after.
    pub before: u64,
    pub after: u64,
}
