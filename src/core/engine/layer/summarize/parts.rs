//! The parts of the settings of `summarize`: each is a table, `input = { chars = 80_000 }`, or `input.chars = 80_000`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InputStart, SpanUnit};
use crate::engine::size::Size;
use crate::engine::summarizer::Side;
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::Role;

/// How much of the older messages a summary replaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Span {
    /// Maximum share of the messages, the oldest first, that the summary replaces, at least one message: 0.3 is three tenths.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "share"))]
    pub share: f64,
    /// In what `span.share` counts.
    pub unit: SpanUnit,
    /// Minimum messages in the span. 0: if all messages stay, a summary is still inserted in front of them.
    #[schemars(extend("x-unit" = "messages"))]
    pub min: usize,
}

impl Default for Span {
    fn default() -> Self {
        Self { share: 1.0, unit: SpanUnit::Messages, min: 1 }
    }
}

/// What stays of a span beside its summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Typed {
    /// Of the span, the messages that the user typed stay in front of the summary, the newest ones of together at most this size by
    /// the policy's `meter`. Without it none stays.
    #[schemars(extend("x-unit" = "by meter"))]
    pub keep: Option<Size>,
    /// Of the newest typed message that does not fit in `typed.keep`, its beginning and its end stay, as much of both as fits, with this
    /// text between them; `{n}`: what was cut, by the meter. Without it all of the message goes.
    pub marker: Option<Box<str>>,
    /// `true`: the first context, which is what the harness wrote before the first response, is put again in front of the newest
    /// message that `typed.keep` keeps.
    pub first_context: bool,
}

/// What the summarizer reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Input {
    /// `true`: the summarizer also reads the messages that stay.
    pub whole: bool,
    /// Maximum length of the span that the summarizer reads, in the form `input.form`, or else in `json-ascii`. Without it there is no
    /// limit.
    #[schemars(extend("x-unit" = "characters"))]
    pub chars: Option<u64>,
    /// Which end of the span the summarizer reads if it is longer than `input.chars`.
    pub side: Side,
    /// How many of `input.chars` are from the beginning (only with `input.side = "both"`).
    #[schemars(extend("x-unit" = "characters"))]
    pub head_chars: u64,
    /// Form in which the harness sends the messages to the summarizer. In the JSON units and `py-repr` their keys and escapes are input,
    /// too. Without it, the input is `json-ascii` if `input.chars` limits it, and else what the model reads.
    #[schemars(with = "SizeUnit")]
    pub form: Option<SizeUnit>,
    /// Maximum tokens of the newest messages of the span, by the policy's `meter`, that the summarizer reads. Without it there is no
    /// limit.
    #[schemars(extend("x-unit" = "by meter"))]
    pub tokens: Option<u64>,
    /// Where the part within `input.tokens` may begin.
    pub start: InputStart,
    /// Text in place of a summary, without a call, if `input.tokens` leaves nothing to read. Without it that is a failure.
    pub unread: Option<String>,
    /// `true`: the summarizer call begins as the conversation does and reads the provider's cache. It changes the cost, not the
    /// summary.
    pub rides_prefix: bool,
    /// `false`: that call has no tools, or others. A provider's prefix begins with the tools, so the call reads nothing of its cache.
    pub same_tools: bool,
}

impl Default for Input {
    fn default() -> Self {
        Self {
            whole: false,
            chars: None,
            side: Side::Head,
            head_chars: 0,
            form: None,
            tokens: None,
            start: InputStart::Anywhere,
            unread: None,
            rides_prefix: false,
            same_tools: true,
        }
    }
}

impl Input {
    /// Returns the form in which the summarizer gets the messages.
    pub(super) fn unit(&self) -> SizeUnit {
        let of_limit = if self.chars.is_some() { SizeUnit::JsonAscii } else { SizeUnit::Chars };
        self.form.unwrap_or(of_limit)
    }
}

/// The messages that replace a span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Messages {
    /// The message with the summary: `{summary}`, `{summary_json}`, `{request}`, `{path}`, `{focus}`.
    pub template: String,
    /// Who says it.
    pub role: Role,
    /// User message in front of the summary, such as a question that it answers. Without it there is no message.
    pub question: Option<Box<str>>,
    /// Assistant message behind the summary. Without it there is no message.
    pub ack: Option<Box<str>>,
    /// User message behind the messages that stay; `{request}` is the newest request. Without it there is no message.
    pub go_on: Option<Box<str>>,
}

impl Default for Messages {
    fn default() -> Self {
        Self { template: "[Compacted]\n\n{summary}".to_owned(), role: Role::User, question: None, ack: None, go_on: None }
    }
}

/// What happens after a failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Retry {
    /// Number of further attempts after a failure; for an overflow layer, maximum runs per request.
    #[schemars(range(max = 100), extend("x-unit" = "attempts"))]
    pub max: usize,
    /// Share of its messages, the oldest first, that the input loses before each retry: 0.2 is a fifth.
    #[schemars(extend("x-unit" = "share"))]
    pub shrink: f64,
    /// Number of consecutive failures after which the layer stops for good; 0: never.
    #[schemars(extend("x-unit" = "failures"))]
    pub breaker: usize,
}

impl Default for Retry {
    fn default() -> Self {
        Self { max: 0, shrink: 0.2, breaker: 0 }
    }
}
