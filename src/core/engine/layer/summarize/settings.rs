//! The settings of `summarize`, and their defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Input, KeptTail, Messages, OnCap, Retry, Span, Typed};
use crate::engine::layer::cut::{CutRule, Snap};
use crate::engine::layer::{TurnCount, turn_count};
use crate::engine::size::Size;
use crate::llm::prompt::Instructions;

/// Settings of `summarize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Summarize {
    /// Which messages stay behind the summary.
    pub keep: KeptTail,
    /// Number of newest messages to keep (only with `keep = "recent"`).
    #[schemars(extend("x-unit" = "messages"))]
    pub keep_recent_messages: usize,
    /// Number of newest groups to keep, in place of messages; a group is a response with the results that answer it, or any other
    /// message. With fewer groups there is no summary.
    #[schemars(range(min = 1), extend("x-unit" = "groups"))]
    pub keep_recent_groups: Option<usize>,
    /// Maximum size of the messages that stay, by the policy's `meter`, in place of their number.
    #[schemars(extend("x-unit" = "by meter"))]
    pub keep_recent_tokens: Option<Size>,
    /// `true`: one message more stays, so that those that stay have at least `keep_recent_tokens`; with `snap = "forward"`, the newest
    /// batch always stays (pi).
    pub keep_at_least: bool,
    /// Number of newest turns whose messages all stay; `true` is 1. Without a message in front of these turns it has no effect.
    #[serde(deserialize_with = "turn_count")]
    #[schemars(with = "TurnCount", extend("x-unit" = "turns"))]
    pub protect_turns: usize,
    /// Number of oldest messages to keep in front of the summary.
    #[schemars(extend("x-unit" = "messages"))]
    pub keep_first: usize,
    /// Where the span may end.
    pub cut: CutRule,
    /// Which way the end of the span moves to such a position.
    pub snap: Snap,
    /// How much of the messages before those that stay is the span that a summary replaces.
    pub span: Span,
    /// What the user typed in the span.
    pub typed: Typed,
    /// Size of the context, by the policy's `meter`, above which a summary takes effect that was made before, when the layer was due: it is
    /// made in the background. Without it a summary takes effect at once.
    #[schemars(extend("x-unit" = "by meter"))]
    pub apply_at: Option<Size>,
    /// What the summarizer reads.
    pub input: Input,
    /// `true`: pass the `focus` of the compact tool to the summarizer.
    pub focus: bool,
    /// Prompt of a model that summarises: the name of a built-in prompt, or a table with instructions of your own.
    pub prompt: Instructions,
    /// Maximum tokens of the summary.
    #[schemars(extend("x-unit" = "tokens"))]
    pub max_tokens: u64,
    /// What happens to a summary that does not fit `max_tokens`.
    pub on_cap: OnCap,
    /// Text that replaces an empty summary. Without it an empty summary is a failure.
    pub empty: Option<String>,
    /// The messages that replace the span.
    pub messages: Messages,
    /// What happens after a failure.
    pub retry: Retry,
    /// Minimum share of the context's tokens that a summary must free, or it is refused: 0.1 is a tenth.
    #[schemars(extend("x-unit" = "share"))]
    pub min_gain: f64,
}

impl Default for Summarize {
    fn default() -> Self {
        Self {
            keep: KeptTail::Recent,
            keep_recent_messages: 0,
            keep_recent_groups: None,
            keep_recent_tokens: None,
            keep_at_least: false,
            protect_turns: 0,
            keep_first: 0,
            cut: CutRule::Batch,
            snap: Snap::Back,
            span: Span::default(),
            typed: Typed::default(),
            apply_at: None,
            input: Input::default(),
            focus: false,
            prompt: Instructions::default(),
            max_tokens: 2_000,
            on_cap: OnCap::Fail,
            empty: None,
            messages: Messages::default(),
            retry: Retry::default(),
            min_gain: 0.0,
        }
    }
}
