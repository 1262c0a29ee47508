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

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::drop::CutRule;
use super::{Action, Attempt, LayerInput, LayerTraits, Proposal, SummarizerUse, Timing, WrongSetting};
use crate::engine::context::{Edit, NewMessage};
use crate::engine::summarizer::{AnswerCost, InputWindow, NameCounts, Side, SummaryError, SummaryRequest};
use crate::llm::prompt::{Instructions, PROMPTS};
use crate::tokens::meter::{SizeUnit, python_text};
use crate::transcript::conversation::Role;
use crate::util::template::{fill, has_placeholder};
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
    /// Where the span may end.
    pub cut: CutRule,
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

/// Which messages stay behind the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeptTail {
    /// The newest `keep_recent_messages` messages.
    Recent,
    /// The new messages since the last response.
    Entered,
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

impl Default for Summarize {
    fn default() -> Self {
        Self {
            keep: KeptTail::Recent,
            keep_recent_messages: 0,
            cut: CutRule::Batch,
            min_span: 1,
            input_whole: false,
            input_chars: None,
            input_side: Side::Head,
            input_head_chars: 0,
            input_form: SizeUnit::JsonAscii,
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
            is_stable: false,
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
        let span = 0..self.span_end(input);
        let mut proposal = Proposal::default();
        if span.len() < self.min_span || (self.breaker > 0 && *failures >= self.breaker) {
            return proposal;
        }
        let read_span = if self.input_whole { 0..input.context.len() } else { span.clone() };
        let summary = self.request_summary(input, read_span, &mut proposal);
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
    fn span_end(&self, input: &LayerInput) -> usize {
        match self.keep {
            KeptTail::Entered => input.first_new,
            KeptTail::Recent => {
                self.cut.adjust_tail(input.context, input.context.len().saturating_sub(self.keep_recent_messages))
            }
        }
    }

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

    fn replace_span(&self, input: &LayerInput, span: Range<usize>, summary: &str) -> Result<Edit, String> {
        let json = if has_placeholder(&self.template, "summary_json") {
            python_text::dumps(&summary.into(), false)
        } else {
            String::new()
        };
        let values = [
            ("summary", summary),
            ("summary_json", &*json),
            ("request", input.user_request),
            ("path", input.archive_path.unwrap_or_default()),
            ("focus", input.focus.unwrap_or_default()),
        ];
        let text = fill(&self.template, &values);
        if self.min_gain > 0.0 && !self.frees_enough(input, span.clone(), &text) {
            return Err(format!("it would free less than {:.0} % of the context", self.min_gain * 100.0));
        }
        let mut into = vec![NewMessage::text(Role::User, text)];
        into.extend(self.ack.as_deref().map(|ack| NewMessage::text(Role::Assistant, ack)));
        Ok(Edit::Replace { messages: span, into })
    }

    fn frees_enough(&self, input: &LayerInput, span: Range<usize>, text: &str) -> bool {
        let (context, unit) = (input.context, input.counter.unit);
        let removed: u64 = context.messages()[span].iter().map(|message| context.message_size(message, unit)).sum();
        let added = unit.text(text) + self.ack.as_deref().map_or(0, |ack| unit.text(ack));
        removed as f64 - added as f64 >= self.min_gain * context.sum(unit) as f64
    }
}
