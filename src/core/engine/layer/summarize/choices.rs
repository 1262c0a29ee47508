//! The choices among the settings of `summarize`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which messages stay behind the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeptTail {
    /// The newest `keep_recent_messages` messages.
    Recent,
    /// The new messages since the last response.
    Entered,
}

/// In what the share of the context that a summary replaces counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpanUnit {
    /// In messages.
    #[default]
    Messages,
    /// In the size of messages by the policy's `meter`.
    Size,
}

/// Where the part of the span that the summarizer reads may begin, if `input.tokens` limits it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InputStart {
    /// At any message.
    #[default]
    Anywhere,
    /// At a typed message: the messages before the first one that fits are not read.
    Typed,
}

/// What happens to a summary that does not fit its maximum length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnCap {
    /// It is cut off, as providers do.
    Clip,
    /// It is a failure.
    Fail,
}
