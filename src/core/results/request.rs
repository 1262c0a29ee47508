//! One request as plain data, part by part: what the model gets, and what was recorded there.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::Value;

/// One request, and what became of everything recorded before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShownRequest {
    pub transcript: String,
    pub conversation: String,
    pub policy: String,
    /// Number of the call, from 1, and of all calls.
    pub call: usize,
    pub calls: usize,
    /// Tokens of the request, with system prompt and tools.
    pub tokens: u64,
    pub messages: usize,
    /// Whether it does not fit the context window.
    pub overflows: bool,
    /// In the order of the request. Removed parts are where they were recorded.
    pub parts: Vec<ShownPart>,
    /// What `changed` compares with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<String>,
    /// The messages as they are sent, as Anthropic's Messages API has them; empty for the request before the one that is shown.
    #[serde(skip)]
    pub sent: Vec<Value>,
}

/// A block of the request, or a recorded block that is not in it any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownPart {
    pub role: &'static str,
    /// `text`, `thinking`, `tool_use Read`, `tool_result Read`, `media` or `other`.
    pub what: String,
    /// Line of the transcript, from 1; 0 for what a layer wrote.
    pub line: u32,
    pub state: PartState,
    /// The layer that wrote or removed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// Tokens of the recorded block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_tokens: Option<u64>,
    /// What the model reads; empty for a removed part.
    pub text: String,
    /// What was recorded, if it is not what the model reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    /// Whether it differs from the request that it is compared with.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// Index of the recorded block.
    #[serde(skip)]
    pub block: Option<u32>,
}

/// What became of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PartState {
    /// As it was recorded.
    Recorded,
    /// A layer wrote something else in its place: cleared, moved to disk, cut.
    Rewritten,
    /// A layer put it in: a summary, a marker, a restored file.
    Inserted,
    /// A layer removed it, or the provider, which drops thinking of earlier turns.
    Removed,
}

impl ShownRequest {
    /// Marks the parts that differ from another request of the same conversation, and leaves out the others.
    #[must_use]
    pub fn differences(mut self, other: &Self, name: impl Into<String>) -> Self {
        let known: HashSet<(Option<u32>, PartState, &str)> =
            other.parts.iter().map(|part| (part.block, part.state, part.text.as_str())).collect();
        for part in &mut self.parts {
            part.changed = !known.contains(&(part.block, part.state, part.text.as_str()));
        }
        self.parts.retain(|part| part.changed);
        self.compared_with = Some(name.into());
        self
    }

    /// Leaves only the parts that hold a text, in the request or as recorded.
    #[must_use]
    pub fn holding(mut self, text: &str) -> Self {
        self.parts
            .retain(|part| part.text.contains(text) || part.recorded.as_ref().is_some_and(|recorded| recorded.contains(text)));
        self
    }
}
