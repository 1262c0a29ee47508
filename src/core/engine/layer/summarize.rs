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
//! Cline's replaces nothing of the newest turn (`protect_turns`), so that in a long turn nothing more can go once the turns before it
//! are a summary.
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
mod settings;
mod span;
mod users;

use std::ops::Range;

pub use choices::{InputStart, KeptTail, OnCap, SpanUnit};
use serde_json::{Value, json};
pub use settings::Summarize;

use super::cut::KnownRun;
use super::{Action, Attempt, LayerInput, LayerTraits, Proposal, SummarizerUse, WrongSetting};
use crate::engine::summarizer::{AnswerCost, InputWindow, NameCounts, SummaryError, SummaryRequest};
use crate::llm::prompt::PROMPTS;
use crate::tokens::meter::SizeUnit;
use crate::util::text;

/// What a `summarize` layer remembers between requests.
#[derive(Debug, Default)]
pub struct SummarizeState {
    /// Number of consecutive failures.
    failures: usize,
    /// The last run of tool calls that it did not cut.
    run: KnownRun,
}

/// Largest `max_retries`: each failed attempt is kept, and a harness would have ended long before. We chose the number.
const MOST_RETRIES: usize = 100;

impl Action for Summarize {
    type State = SummarizeState;

    fn traits(&self) -> LayerTraits<'_> {
        let Self { max_retries, rides_prefix, same_tools, .. } = *self;
        LayerTraits {
            keeps_parts: true,
            summarizer: Some(SummarizerUse {
                input_unit: self.input_form(),
                max_retries,
                reuses_prefix_cache: rides_prefix && same_tools,
                changes_tools: rides_prefix && !same_tools,
            }),
            ..LayerTraits::PLAIN
        }
    }

    fn propose(&self, input: &LayerInput, SummarizeState { failures, run }: &mut SummarizeState) -> Proposal {
        let span = self.span(input, run);
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
            Ok(edits) => {
                *failures = 0;
                proposal.edits.extend(edits);
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
        WrongSetting::unless_one_says_what_stays([
            ("keep_recent_messages", self.keep_recent_messages > 0),
            ("keep_recent_groups", self.keep_recent_groups.is_some()),
            ("keep_recent_tokens", self.keep_recent_tokens.is_some()),
        ])?;
        if self.keep_at_least && self.keep_recent_tokens.is_none() {
            return Err(WrongSetting::new("keep_at_least", "`keep_at_least` needs `keep_recent_tokens`"));
        }
        if !(self.span_share > 0.0 && self.span_share <= 1.0) {
            return Err(WrongSetting::new("span_share", "`span_share` must be above 0, and at most 1"));
        }
        if self.max_retries > MOST_RETRIES {
            return Err(WrongSetting::new("max_retries", "`max_retries` must be at most 100"));
        }
        if self.rides_prefix && self.input_chars.is_some() {
            let why = "a summarizer that reads the cached prefix (`rides_prefix`) reads all of it: remove `input_chars`";
            return Err(WrongSetting::new("input_chars", why));
        }
        if self.rides_prefix && self.input_form.is_some() {
            let why =
                "a summarizer that reads the cached prefix (`rides_prefix`) reads the conversation itself: remove `input_form`";
            return Err(WrongSetting::new("input_form", why));
        }
        self.prompt.check().map_err(|why| WrongSetting::new("prompt", why))
    }

    fn restrict_schema(schema: &mut Value) {
        let forms = schema["properties"]["prompt"]["anyOf"].as_array_mut().into_iter().flatten();
        for name in forms.filter(|form| form["type"] == "string") {
            name["enum"] = PROMPTS.iter().map(|prompt| prompt.name).collect();
        }
        schema["allOf"] = json!([{
            "if": { "properties": { "keep_at_least": { "const": true } }, "required": ["keep_at_least"] },
            "then": { "required": ["keep_recent_tokens"] },
        }]);
        let rides =
            |setting: &str| json!({ "properties": { "rides_prefix": { "const": true } }, "required": ["rides_prefix", setting] });
        schema["not"] = json!({ "anyOf": [rides("input_chars"), rides("input_form")] });
        schema["if"] = json!({ "properties": { "when": { "const": "overflow" } }, "required": ["when"] });
        schema["then"] = json!({ "properties": { "max_retries": { "minimum": 1 } }, "required": ["max_retries"] });
    }
}

impl Summarize {
    /// Returns the form in which the summarizer gets the messages.
    fn input_form(&self) -> SizeUnit {
        let of_limit = if self.input_chars.is_some() { SizeUnit::JsonAscii } else { SizeUnit::Chars };
        self.input_form.unwrap_or(of_limit)
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
                form: self.input_form(),
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
            let tokens_in = window.tokens(input.context, input.counter, from..read_span.end, &request.blocks);
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
