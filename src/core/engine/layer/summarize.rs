//! `summarize`: replaces a span of messages with one summary.
//!
//! Other names: auto-compaction, full compaction, reactive compaction, the compact tool. It frees the most and loses the most:
//! what the summary does not say is lost, and what the summarizer did not see (`input.chars`) cannot be in the summary. The
//! prompt starts anew, so the provider writes all of it into its cache.
//!
//! The summarizer call costs money, too. With `input.rides_prefix` this call is the conversation itself plus a last instruction, so the
//! provider reads the input from its cache. Without it, the call is a separate request and pays for its input in full. A retry
//! without the oldest messages does not begin with the cached prefix and pays in full as well.
//!
//! Some summarizers read little: LangChain's reads the newest 4,000 tokens of the span (`input.tokens`), from a typed message on
//! (`input.start`). Where an agent works long on one message, there is none, and a fixed text (`input.unread`) replaces the history.
//!
//! A summary that is made in the background takes effect later (`apply_at`): the agent need not wait for it, and what comes meanwhile
//! stays behind it.
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
//! input.chars = 80_000            # the summarizer reads only so much of the span
//! input.side = "tail"
//! max_tokens = 2000
//! prompt = "lcc-s06"
//! messages.template = "[Compacted]\n\n{summary}"
//! messages.ack = "Understood."
//! ```

mod choices;
mod parts;
mod replacement;
mod request;
mod settings;
mod span;
mod users;

use std::ops::Range;

pub use choices::{InputStart, KeptTail, OnCap, SpanUnit};
pub use parts::{Input, Messages, Retry, Span, Typed};
use serde_json::{Value, json};
pub use settings::Summarize;

use super::cut::KnownRun;
use super::{Action, LayerInput, LayerTraits, Proposal, SummarizerUse, WrongSetting};
use crate::llm::prompt::PROMPTS;

/// What a `summarize` layer remembers between requests.
#[derive(Debug, Default)]
pub struct SummarizeState {
    /// Number of consecutive failures.
    failures: usize,
    /// The last run of tool calls that it did not cut.
    run: KnownRun,
    /// A summary that has not taken effect yet.
    ready: Option<ReadySummary>,
}

/// A summary that was made in the background.
#[derive(Debug)]
struct ReadySummary {
    text: String,
    span: Range<usize>,
    /// The moves of the context at that time: if messages moved since, the summary is of no use.
    moves: u32,
}

/// Largest `retry.max`: each failed attempt is kept, and a harness would have ended long before. We chose the number.
const MOST_RETRIES: usize = 100;

impl Action for Summarize {
    type State = SummarizeState;

    fn traits(&self) -> LayerTraits<'_> {
        let Input { rides_prefix, same_tools, .. } = self.input;
        LayerTraits {
            keeps_parts: true,
            summarizer: Some(SummarizerUse {
                input_unit: self.input.unit(),
                max_retries: self.retry.max,
                reuses_prefix_cache: rides_prefix && same_tools,
                changes_tools: rides_prefix && !same_tools,
            }),
            ..LayerTraits::PLAIN
        }
    }

    fn propose(&self, input: &LayerInput, state: &mut SummarizeState) -> Proposal {
        let mut proposal = Proposal::default();
        let ready = state.ready.take_if(|ready| ready.moves != input.context.moves() || self.takes_effect(input));
        if let Some(ReadySummary { text, span, .. }) = ready.filter(|ready| ready.moves == input.context.moves()) {
            self.put(input, span, Ok(text), state, &mut proposal);
            return proposal;
        }
        let span = self.span(input, &mut state.run);
        let is_open = self.retry.breaker > 0 && state.failures >= self.retry.breaker;
        if state.ready.is_some() || span.len() < self.span.min || is_open {
            return proposal;
        }
        let read_span = if self.input.whole { 0..input.context.len() } else { self.read_span(input, span.clone()) };
        let summary = match &self.input.unread {
            Some(text) if read_span.is_empty() => Ok(text.clone()),
            _ => self.request_summary(input, read_span, &mut proposal),
        };
        match summary {
            Ok(text) if !self.takes_effect(input) => {
                state.ready = Some(ReadySummary { text, span, moves: input.context.moves() });
            }
            summary => self.put(input, span, summary, state, &mut proposal),
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
        if !(self.span.share > 0.0 && self.span.share <= 1.0) {
            return Err(WrongSetting::new("span.share", "`span.share` must be above 0, and at most 1"));
        }
        if self.retry.max > MOST_RETRIES {
            return Err(WrongSetting::new("retry.max", "`retry.max` must be at most 100"));
        }
        if self.input.rides_prefix && self.input.chars.is_some() {
            let why = "a summarizer that reads the cached prefix (`input.rides_prefix`) reads all of it: remove `input.chars`";
            return Err(WrongSetting::new("input.chars", why));
        }
        if self.input.rides_prefix && self.input.form.is_some() {
            let why = "a summarizer that reads the cached prefix (`input.rides_prefix`) reads the conversation itself: remove `input.form`";
            return Err(WrongSetting::new("input.form", why));
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
        let of_part = |part: &str, settings: Value| json!({ "properties": { part: settings }, "required": [part] });
        let rides = |setting: &str| {
            let both = json!({ "properties": { "rides_prefix": { "const": true } }, "required": ["rides_prefix", setting] });
            of_part("input", both)
        };
        schema["not"] = json!({ "anyOf": [rides("chars"), rides("form")] });
        schema["if"] = json!({ "properties": { "when": { "const": "overflow" } }, "required": ["when"] });
        let retries = |name: &str| json!({ "properties": { name: { "minimum": 1 } }, "required": [name] });
        schema["then"] = json!({ "anyOf": [of_part("retry", retries("max")), retries("max_retries")] });
    }
}

impl Summarize {
    /// Returns whether a summary takes effect now.
    fn takes_effect(&self, input: &LayerInput) -> bool {
        input.overflows || self.apply_at.as_ref().is_none_or(|size| input.estimate > size.resolve(input.limits))
    }

    /// Puts a summary in place of its span, or says why there is none.
    fn put(
        &self,
        input: &LayerInput,
        span: Range<usize>,
        summary: Result<String, String>,
        state: &mut SummarizeState,
        proposal: &mut Proposal,
    ) {
        match summary.and_then(|summary| self.replace_span(input, span, &summary)) {
            Ok(edits) => {
                state.failures = 0;
                proposal.edits.extend(edits);
            }
            Err(reason) => {
                state.failures += 1;
                let stops = if state.failures == self.retry.breaker { "; the circuit breaker is open from here on" } else { "" };
                proposal.failed = Some(reason + stops);
            }
        }
    }
}
