//! The settings of `summarize`, and their defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InputStart, KeptTail, OnCap, SpanUnit};
use crate::engine::layer::cut::{CutRule, Snap};
use crate::engine::layer::{TurnCount, turn_count};
use crate::engine::size::Size;
use crate::engine::summarizer::Side;
use crate::llm::prompt::Instructions;
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::Role;

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
    /// Maximum share of the messages, the oldest first, that the summary replaces, at least one message: 0.3 is three tenths.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "share"))]
    pub span_share: f64,
    /// In what `span_share` counts.
    pub span_unit: SpanUnit,
    /// Of the span, the messages that the user typed stay in front of the summary, the newest ones of together at most this size by
    /// the policy's `meter`. Without it none stays.
    #[schemars(extend("x-unit" = "by meter"))]
    pub keep_users: Option<Size>,
    /// Of the newest typed message that does not fit in `keep_users`, its beginning and its end stay, as much of both as fits, with this
    /// text between them; `{n}`: what was cut, by the meter. Without it all of the message goes.
    pub users_marker: Option<Box<str>>,
    /// `true`: the first context, which is what the harness wrote before the first response, is put again in front of the newest
    /// message that `keep_users` keeps.
    pub first_context: bool,
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
    /// Minimum messages in the span. 0: if all messages stay, a summary is still inserted in front of them.
    #[schemars(extend("x-unit" = "messages"))]
    pub min_span: usize,
    /// Size of the context, by the policy's `meter`, above which a summary takes effect that was made before, when the layer was due: it is
    /// made in the background. Without it a summary takes effect at once.
    #[schemars(extend("x-unit" = "by meter"))]
    pub apply_at: Option<Size>,
    /// `true`: the summarizer also reads the messages that stay.
    pub input_whole: bool,
    /// Maximum length of the span that the summarizer reads, in the form `input_form`, or else in `json-ascii`. Without it there is no
    /// limit.
    #[schemars(extend("x-unit" = "characters"))]
    pub input_chars: Option<u64>,
    /// Which end of the span the summarizer reads if it is longer than `input_chars`.
    pub input_side: Side,
    /// How many of `input_chars` are from the beginning (only with `input_side = "both"`).
    #[schemars(extend("x-unit" = "characters"))]
    pub input_head_chars: u64,
    /// Form in which the harness sends the messages to the summarizer. In the JSON units and `py-repr` their keys and escapes are input,
    /// too. Without it, the input is `json-ascii` if `input_chars` limits it, and else what the model reads.
    #[schemars(with = "SizeUnit")]
    pub input_form: Option<SizeUnit>,
    /// Maximum tokens of the newest messages of the span, by the policy's `meter`, that the summarizer reads. Without it there is no
    /// limit.
    #[schemars(extend("x-unit" = "by meter"))]
    pub input_tokens: Option<u64>,
    /// Where the part within `input_tokens` may begin.
    pub input_start: InputStart,
    /// Text in place of a summary, without a call, if `input_tokens` leaves nothing to read. Without it that is a failure.
    pub unread: Option<String>,
    /// `true`: the summarizer call begins as the conversation does and reads the provider's cache. It changes the cost, not the
    /// summary.
    pub rides_prefix: bool,
    /// `false`: that call has no tools, or others. A provider's prefix begins with the tools, so the call reads nothing of its cache.
    pub same_tools: bool,
    /// Maximum tokens of the summary.
    #[schemars(extend("x-unit" = "tokens"))]
    pub max_tokens: u64,
    /// What happens to a summary that does not fit `max_tokens`.
    pub on_cap: OnCap,
    /// Message that replaces the span: `{summary}`, `{summary_json}`, `{request}`, `{path}`, `{focus}`.
    pub template: String,
    /// Who says it.
    pub role: Role,
    /// Text that replaces an empty summary. Without it an empty summary is a failure.
    pub empty: Option<String>,
    /// User message in front of the summary, such as a question that it answers. Without it there is no message.
    pub question: Option<Box<str>>,
    /// Assistant message behind the summary. Without it there is no message.
    pub ack: Option<Box<str>>,
    /// User message behind the messages that stay; `{request}` is the newest request. Without it there is no message.
    pub go_on: Option<Box<str>>,
    /// `true`: pass the `focus` of the compact tool to the summarizer.
    pub focus: bool,
    /// Prompt of a model that summarises: the name of a built-in prompt, or a table with instructions of your own.
    pub prompt: Instructions,
    /// Number of further attempts after a failure; for an overflow layer, maximum runs per request.
    #[schemars(range(max = 100), extend("x-unit" = "attempts"))]
    pub max_retries: usize,
    /// Share of its messages, the oldest first, that the input loses before each retry: 0.2 is a fifth.
    #[schemars(extend("x-unit" = "share"))]
    pub shrink: f64,
    /// Number of consecutive failures after which the layer stops for good; 0: never.
    #[schemars(extend("x-unit" = "failures"))]
    pub breaker: usize,
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
            span_share: 1.0,
            span_unit: SpanUnit::Messages,
            keep_users: None,
            users_marker: None,
            first_context: false,
            protect_turns: 0,
            keep_first: 0,
            cut: CutRule::Batch,
            snap: Snap::Back,
            min_span: 1,
            apply_at: None,
            input_whole: false,
            input_chars: None,
            input_side: Side::Head,
            input_head_chars: 0,
            input_form: None,
            input_tokens: None,
            input_start: InputStart::Anywhere,
            unread: None,
            rides_prefix: false,
            same_tools: true,
            max_tokens: 2_000,
            on_cap: OnCap::Fail,
            template: "[Compacted]\n\n{summary}".to_owned(),
            role: Role::User,
            empty: None,
            question: None,
            ack: None,
            go_on: None,
            focus: false,
            prompt: Instructions::default(),
            max_retries: 0,
            shrink: 0.2,
            breaker: 0,
            min_gain: 0.0,
        }
    }
}
