//! `summarize`: replaces a span of messages with one summary.
//!
//! Other names: auto-compaction, full compaction, reactive compaction, the compact tool. It frees the most and loses the most:
//! what the summary does not say is lost, and what the summarizer did not see (`input_chars`) cannot be in the summary. The
//! prompt starts anew, so the provider writes all of it into its cache.
//!
//! The summarizer call costs money, too. With `rides_prefix` this call is the conversation itself plus a last instruction, so the
//! provider reads the input from its cache. Without it, the call is a separate request and pays for its input in full. A retry
//! without the oldest messages does not begin with the cached prefix and pays in full as well.
//!
//! Some summarizers read little: LangChain's reads the newest 4,000 tokens of the span (`input_tokens`), from a typed message on
//! (`input_start`). Where an agent works long on one message, there is none, and a fixed text (`unread`) replaces the history.
//!
//! ```toml
//! [[layer]]
//! id = "auto"
//! do = "summarize"
//! meter = "py-repr/4"
//! threshold = 50_000              # in the unit of the meter
//! keep_recent_messages = 4        # stay behind the summary
//! input_chars = 80_000            # the summarizer reads only so much of the span
//! input_side = "tail"
//! max_tokens = 2000
//! prompt = "lcc-s06"
//! template = "[Compacted]\n\n{summary}"
//! ack = "Understood."
//! ```

mod choices;
mod replacement;
mod span;

use std::ops::Range;

pub use choices::{InputStart, KeptTail, OnCap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::cut::{CutRule, Snap};
use super::{Action, Attempt, LayerInput, LayerTraits, Proposal, Stability, SummarizerUse, Timing, WrongSetting};
use crate::engine::summarizer::{AnswerCost, InputWindow, NameCounts, Side, SummaryError, SummaryRequest};
use crate::llm::prompt::{Instructions, PROMPTS};
use crate::tokens::meter::SizeUnit;
use crate::util::text;

/// Settings of `summarize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Summarize {
    /// Which messages stay behind the summary.
    pub keep: KeptTail,
    /// Number of newest messages to keep (only with `keep = "recent"`).
    #[schemars(extend("x-unit" = "messages"))]
    pub keep_recent_messages: usize,
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
    /// `true`: the summarizer also reads the messages that stay.
    pub input_whole: bool,
    /// Maximum length of the span, in the form `input_form`, that the summarizer reads. Without it there is no limit.
    #[schemars(extend("x-unit" = "characters"))]
    pub input_chars: Option<u64>,
    /// Which end of the span the summarizer reads if it is longer than `input_chars`.
    pub input_side: Side,
    /// How many of `input_chars` are from the beginning (only with `input_side = "both"`).
    #[schemars(extend("x-unit" = "characters"))]
    pub input_head_chars: u64,
    /// Form of the messages in which `input_chars` counts.
    pub input_form: SizeUnit,
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
    /// Maximum tokens of the summary.
    #[schemars(extend("x-unit" = "tokens"))]
    pub max_tokens: u64,
    /// What happens to a summary that does not fit `max_tokens`.
    pub on_cap: OnCap,
    /// User message that replaces the span: `{summary}`, `{summary_json}`, `{request}`, `{path}`, `{focus}`.
    pub template: String,
    /// Text that replaces an empty summary. Without it an empty summary is a failure.
    pub empty: Option<String>,
    /// Assistant message behind the summary. Without it there is no message.
    pub ack: Option<String>,
    /// `true`: pass the `focus` of the compact tool to the summarizer.
    pub focus: bool,
    /// Prompt of a model that summarises: the name of a built-in prompt, or a table with instructions of your own.
    pub prompt: Instructions,
    /// Number of further attempts after a failure; for an overflow layer, maximum runs per request.
    #[schemars(extend("x-unit" = "attempts"))]
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
            keep_first: 0,
            cut: CutRule::Batch,
            snap: Snap::Back,
            min_span: 1,
            input_whole: false,
            input_chars: None,
            input_side: Side::Head,
            input_head_chars: 0,
            input_form: SizeUnit::JsonAscii,
            input_tokens: None,
            input_start: InputStart::Anywhere,
            unread: None,
            rides_prefix: false,
            max_tokens: 2_000,
            on_cap: OnCap::Fail,
            template: "[Compacted]\n\n{summary}".to_owned(),
            empty: None,
            ack: None,
            focus: false,
            prompt: Instructions::default(),
            max_retries: 0,
            shrink: 0.2,
            breaker: 0,
            min_gain: 0.0,
        }
    }
}

impl Action for Summarize {
    /// Number of consecutive failures.
    type State = usize;

    fn traits(&self) -> LayerTraits<'_> {
        let Self { input_form, max_retries, rides_prefix, .. } = *self;
        LayerTraits {
            timing: Timing::Requests,
            remains: None,
            rewrites_in_place: false,
            keeps_parts: true,
            stability: Stability::Unstable,
            max_messages: None,
            writes_markers: false,
            restores: false,
            repeats_record: false,
            filter: None,
            selects_by_age: false,
            summarizer: Some(SummarizerUse { input_unit: input_form, max_retries, reuses_prefix_cache: rides_prefix }),
            archive_path: None,
            program: None,
        }
    }

    fn propose(&self, input: &LayerInput, failures: &mut usize) -> Proposal {
        let span = self.span(input);
        let mut proposal = Proposal::default();
        if span.len() < self.min_span || (self.breaker > 0 && *failures >= self.breaker) {
            return proposal;
        }
        let read_span = if self.input_whole { 0..input.context.len() } else { self.read_span(input, span.clone()) };
        let summary = match &self.unread {
            Some(text) if read_span.is_empty() => Ok(text.clone()),
            _ => self.request_summary(input, read_span, &mut proposal),
        };
        match summary.and_then(|summary| self.replace_span(input, span, &summary)) {
            Ok(edit) => {
                *failures = 0;
                proposal.edits.push(edit);
            }
            Err(reason) => {
                *failures += 1;
                let stops = if *failures == self.breaker { "; the circuit breaker is open from here on" } else { "" };
                proposal.failed = Some(reason + stops);
            }
        }
        proposal
    }

    fn check(&self) -> Result<(), WrongSetting> {
        if self.rides_prefix && self.input_chars.is_some() {
            let why = "a summarizer that reads the cached prefix (`rides_prefix`) reads all of it: remove `input_chars`";
            return Err(WrongSetting::new("input_chars", why));
        }
        self.prompt.check().map_err(|why| WrongSetting::new("prompt", why))
    }

    fn restrict_schema(schema: &mut Value) {
        let forms = schema["properties"]["prompt"]["anyOf"].as_array_mut().into_iter().flatten();
        for name in forms.filter(|form| form["type"] == "string") {
            name["enum"] = PROMPTS.iter().map(|prompt| prompt.name).collect();
        }
        schema["not"] =
            json!({ "properties": { "rides_prefix": { "const": true } }, "required": ["rides_prefix", "input_chars"] });
        schema["if"] = json!({ "properties": { "when": { "const": "overflow" } }, "required": ["when"] });
        schema["then"] = json!({ "properties": { "max_retries": { "minimum": 1 } }, "required": ["max_retries"] });
    }
}

impl Summarize {
    /// Asks the summarizer; after a failure, asks again with less input.
    fn request_summary(&self, input: &LayerInput, read_span: Range<usize>, proposal: &mut Proposal) -> Result<String, String> {
        // For an overflow layer, each retry is a further run of the layer, not a further attempt of one run.
        let attempts = if input.overflows { 1 } else { self.max_retries + 1 };
        let mut from = read_span.start;
        let mut reason = String::new();
        for _ in 0..attempts {
            let window = InputWindow {
                chars: self.input_chars,
                side: self.input_side,
                head: self.input_head_chars,
                form: self.input_form,
            };
            let request = SummaryRequest {
                blocks: window.visible_blocks(input.context, input.counter, from..read_span.end),
                prompt: self.prompt.prompt(),
                focus: input.focus.filter(|_| self.focus),
                max_tokens: self.max_tokens,
                call: input.call,
                digests: &input.shared.digests,
                tokens: &|text| input.tokens(text),
            };
            let tokens_in = request.blocks.iter().map(|block| block.tokens).sum();
            let (answer, paid) = self.ask_summarizer(input, &request, tokens_in);
            let attempt = Attempt {
                tokens_in,
                prompt: input.tokens(&request.prompt.system) + input.tokens(&request.prompt.user),
                hidden_input: window.hidden(input.context, from..read_span.end),
                tokens_out: 0,
                max_tokens: self.max_tokens,
                failed: true,
                names: NameCounts::default(),
                cost: paid,
            };
            match answer {
                Ok((summary, tokens_out)) => {
                    let names = request.count_names(input.context.conversation(), &input.shared.names, &summary);
                    proposal.attempts.push(Attempt { tokens_out, failed: false, names, ..attempt });
                    return Ok(summary);
                }
                Err(failure) => {
                    proposal.attempts.push(attempt);
                    reason = failure.to_string();
                    if let SummaryError::Unanswered(_) = failure {
                        proposal.unanswered.get_or_insert(reason.clone());
                        break;
                    }
                }
            }
            let rest = read_span.end - from;
            from += ((rest as f64 * self.shrink).ceil() as usize).min(rest.saturating_sub(1));
        }
        Err(reason)
    }

    /// Returns the summary with its tokens, and what the answer cost.
    fn ask_summarizer(
        &self,
        input: &LayerInput,
        request: &SummaryRequest,
        tokens_in: u64,
    ) -> (Result<(String, u64), SummaryError>, Option<AnswerCost>) {
        if tokens_in + self.max_tokens > input.limits.window {
            let (tokens, window) = (tokens_in + self.max_tokens, input.limits.window);
            return (Err(SummaryError::TooLong { tokens, window }), None);
        }
        let reply = input.summarizer.summarize(request);
        (self.accept_answer(input, request, reply.text), reply.cost)
    }

    /// Applies the rules for empty and too long summaries to the answer.
    fn accept_answer(
        &self,
        input: &LayerInput,
        request: &SummaryRequest,
        answer: Result<String, SummaryError>,
    ) -> Result<(String, u64), SummaryError> {
        let summary = match (answer, &self.empty) {
            (Ok(summary), _) if !summary.is_empty() => summary,
            (Ok(_) | Err(SummaryError::Empty), Some(replacement)) => replacement.clone(),
            (Ok(_) | Err(SummaryError::Empty), None) => return Err(SummaryError::Empty),
            (Err(SummaryError::OverCap { text, .. }), _) if self.on_cap == OnCap::Clip => text,
            (Err(failure), _) => return Err(failure),
        };
        let tokens = input.tokens(&summary);
        match self.on_cap {
            _ if tokens <= self.max_tokens => Ok((summary, tokens)),
            OnCap::Fail => Err(SummaryError::OverCap { max_tokens: self.max_tokens, text: summary }),
            OnCap::Clip => {
                let clipped = text::clip(&summary, self.max_tokens, &request.tokens);
                Ok((clipped.to_owned(), input.tokens(clipped)))
            }
        }
    }
}
