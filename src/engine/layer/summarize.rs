//! `summarize`: a span of messages becomes one summary.
//!
//! Known as auto-compaction, full compaction, reactive compaction, the compact tool. It frees the most and loses the most: what
//! the summary does not say is gone, and what the summarizer was never shown (`input_chars`) cannot be in it. The prompt
//! starts anew, so the provider writes all of it into its cache.
//!
//! The summarizer is paid for, too. With `rides_prefix` its call is the conversation itself with a last instruction, so the
//! provider reads the input from its cache; without, it is a request of its own and pays for its input in full. A retry that
//! left out the oldest messages begins otherwise than the cached prefix and pays in full as well.
//!
//! ```toml
//! [[layer]]
//! id = "auto"
//! do = "summarize"
//! meter = "py-repr/4"
//! threshold = 50_000
//! input_chars = 80_000       # of the span's JSON, the summarizer reads this much …
//! input_side = "tail"        # … from this end
//! max_tokens = 2000
//! prompt = "lcc-s06"         # what a model is told, where one summarises
//! template = "[Compacted]\n\n{summary}"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drop::Cut;
use super::{Attempt, LayerInput, LayerState, Proposal};
use crate::engine::context::{Edit, NewMessage};
use crate::engine::summarizer::{AnswerCost, InputWindow, NameCounts, Side, SummaryError, SummaryRequest};
use crate::llm::prompt::Instructions;
use crate::tokens::meter::{SizeUnit, python_text};
use crate::transcript::conversation::Role;
use crate::util::template::{asks_for, fill};
use crate::util::text;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Summarize {
    /// What stays behind the summary.
    pub keep: Keep,
    /// The newest messages, so many of them, stay (`keep = "recent"`).
    pub keep_recent: usize,
    /// Where the span may end.
    pub cut: Cut,
    /// With fewer messages in the span the layer rests. 0: where all of them stay, a summary is put in front all the same.
    pub min_span: usize,
    /// The summarizer reads what stays, too.
    pub input_whole: bool,
    /// Most characters of the span's messages, written in `input_form`, that the summarizer reads.
    pub input_chars: Option<u64>,
    /// Which end of them.
    pub input_side: Side,
    /// How many of `input_chars` are taken from the beginning (`input_side = "both"`).
    pub input_head_chars: u64,
    /// How the span's messages are written down to be cut at `input_chars`.
    pub input_form: SizeUnit,
    /// The summarizer's call begins as the conversation does, and so reads the provider's cache. What it costs depends on it,
    /// not what it says.
    pub rides_prefix: bool,
    /// Most tokens of the summary.
    pub max_tokens: u64,
    /// What a summary that reaches `max_tokens` is: a failure, unless the harness takes what there is.
    pub on_cap: OnCap,
    /// The user message that stands in place of the span: `{summary}`, `{summary_json}`, `{request}`, `{path}`, `{focus}`.
    pub template: String,
    /// What the summary is where the summarizer's is empty; none: an empty summary is a failure.
    pub empty: Option<String>,
    /// An assistant message behind the summary.
    pub ack: Option<String>,
    /// Whether the compact tool's `focus` reaches the summarizer.
    pub focus: bool,
    /// What a model is told that summarises: the name of a built-in prompt, or one of your own.
    pub prompt: Instructions,
    /// How often a failed attempt is tried again; for an overflow layer, how often it may run for one request.
    pub max_retries: usize,
    /// Share of its oldest messages that the input loses before each retry.
    pub shrink: f64,
    /// After so many failures in a row the layer rests for good; 0: never.
    pub breaker: usize,
    /// A summary that frees less than this share of the tokens is refused.
    pub min_gain: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The newest `keep_recent` messages.
    Recent,
    /// What entered since the last response.
    Entered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnCap {
    /// Cut off there, as providers do.
    Clip,
    /// A failure.
    Fail,
}

impl Default for Summarize {
    fn default() -> Self {
        Self {
            keep: Keep::Recent,
            keep_recent: 0,
            cut: Cut::Batch,
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

impl Summarize {
    pub fn propose(&self, now: &LayerInput, memory: &mut LayerState) -> Proposal {
        let span = 0..self.span_end(now);
        let mut proposal = Proposal::default();
        if span.len() < self.min_span || (self.breaker > 0 && memory.failures >= self.breaker) {
            return proposal;
        }
        let input = if self.input_whole { 0..now.context.len() } else { span.clone() };
        match self.summary(now, input, &mut proposal).and_then(|summary| self.fold(now, span, &summary)) {
            Ok(edit) => {
                memory.failures = 0;
                proposal.edits.push(edit);
            }
            Err(why) => {
                memory.failures += 1;
                let rests = if memory.failures == self.breaker { "; the circuit breaker is open from here on" } else { "" };
                proposal.failed = Some(why + rests);
            }
        }
        proposal
    }

    fn span_end(&self, now: &LayerInput) -> usize {
        match self.keep {
            Keep::Entered => now.entered,
            Keep::Recent => self.cut.tail(now.context, now.context.len().saturating_sub(self.keep_recent)),
        }
    }

    /// Asks the summarizer, again with less where it failed.
    fn summary(&self, now: &LayerInput, input: std::ops::Range<usize>, proposal: &mut Proposal) -> Result<String, String> {
        // After a refused request, retries are further runs of the layer, not further attempts of one run.
        let attempts = if now.overflows { 1 } else { self.max_retries + 1 };
        let mut from = input.start;
        let mut why = String::new();
        for _ in 0..attempts {
            let reach = InputWindow {
                chars: self.input_chars,
                side: self.input_side,
                head: self.input_head_chars,
                form: self.input_form,
            };
            let ask = SummaryRequest {
                pieces: reach.pieces(now.context, now.counter, from..input.end),
                prompt: self.prompt.prompt(),
                focus: now.focus.filter(|_| self.focus),
                max_tokens: self.max_tokens,
                call: now.call,
                digests: &now.shared.digests,
                tokens: &|text| now.tokens(text),
            };
            let tokens_in = ask.pieces.iter().map(|piece| piece.tokens).sum();
            let (answer, paid) = self.answer(now, &ask, tokens_in);
            let attempt = Attempt {
                tokens_in,
                prompt: now.tokens(&ask.prompt.system) + now.tokens(&ask.prompt.user),
                unshown: reach.unshown(now.context, from..input.end),
                tokens_out: 0,
                max_tokens: self.max_tokens,
                failed: true,
                names: NameCounts::default(),
                paid,
            };
            match answer {
                Ok((summary, tokens_out)) => {
                    let names = ask.names(now.context.conversation(), &now.shared.names, &summary);
                    proposal.asked.push(Attempt { tokens_out, failed: false, names, ..attempt });
                    return Ok(summary);
                }
                Err(failure) => {
                    proposal.asked.push(attempt);
                    why = failure.to_string();
                    if let SummaryError::Unanswered(_) = failure {
                        proposal.unanswered.get_or_insert(why.clone());
                        break;
                    }
                }
            }
            let rest = input.end - from;
            from += ((rest as f64 * self.shrink).ceil() as usize).min(rest.saturating_sub(1));
        }
        Err(why)
    }

    /// The summary and its tokens, and what it took.
    fn answer(
        &self,
        now: &LayerInput,
        ask: &SummaryRequest,
        tokens_in: u64,
    ) -> (Result<(String, u64), SummaryError>, Option<AnswerCost>) {
        if tokens_in + self.max_tokens > now.limits.window {
            let (tokens, window) = (tokens_in + self.max_tokens, now.limits.window);
            return (Err(SummaryError::TooLong { tokens, window }), None);
        }
        let reply = now.summarizer.summarize(ask);
        (self.taken(now, ask, reply.text), reply.paid)
    }

    /// What the layer makes of what the summarizer said.
    fn taken(
        &self,
        now: &LayerInput,
        ask: &SummaryRequest,
        said: Result<String, SummaryError>,
    ) -> Result<(String, u64), SummaryError> {
        let summary = match (said, &self.empty) {
            (Ok(summary), _) if !summary.is_empty() => summary,
            (Ok(_) | Err(SummaryError::Empty), Some(instead)) => instead.clone(),
            (Ok(_) | Err(SummaryError::Empty), None) => return Err(SummaryError::Empty),
            (Err(SummaryError::OverCap { text, .. }), _) if self.on_cap == OnCap::Clip => text,
            (Err(failure), _) => return Err(failure),
        };
        let tokens = now.tokens(&summary);
        match self.on_cap {
            _ if tokens <= self.max_tokens => Ok((summary, tokens)),
            OnCap::Fail => Err(SummaryError::OverCap { max_tokens: self.max_tokens, text: summary }),
            OnCap::Clip => {
                let clipped = clip(&summary, self.max_tokens, &ask.tokens);
                Ok((clipped.to_owned(), now.tokens(clipped)))
            }
        }
    }

    fn fold(&self, now: &LayerInput, span: std::ops::Range<usize>, summary: &str) -> Result<Edit, String> {
        let json =
            if asks_for(&self.template, "summary_json") { python_text::dumps(&summary.into(), false) } else { String::new() };
        let values = [
            ("summary", summary),
            ("summary_json", &*json),
            ("request", now.request),
            ("path", now.archive.unwrap_or_default()),
            ("focus", now.focus.unwrap_or_default()),
        ];
        let text = fill(&self.template, &values);
        if self.min_gain > 0.0 && !self.frees_enough(now, span.clone(), &text) {
            return Err(format!("it would free less than {:.0} % of the context", self.min_gain * 100.0));
        }
        let mut into = vec![NewMessage::plain(Role::User, text)];
        into.extend(self.ack.as_deref().map(|ack| NewMessage::plain(Role::Assistant, ack)));
        Ok(Edit::Replace { messages: span, into })
    }

    fn frees_enough(&self, now: &LayerInput, span: std::ops::Range<usize>, text: &str) -> bool {
        let (context, counter) = (now.context, now.counter.measure);
        let gone: u64 = context.messages()[span].iter().map(|sent| context.message_size(sent, counter)).sum();
        let put = counter.text(text) + self.ack.as_deref().map_or(0, |ack| counter.text(ack));
        gone as f64 - put as f64 >= self.min_gain * context.sum(counter) as f64
    }
}

/// The longest beginning of a text that has at most so many tokens.
pub fn clip<'a>(summary: &'a str, max_tokens: u64, tokens: &dyn Fn(&str) -> u64) -> &'a str {
    if tokens(summary) <= max_tokens {
        return summary;
    }
    let (mut fits, mut over) = (0, summary.chars().count() + 1);
    while over - fits > 1 {
        let middle = fits + (over - fits) / 2;
        if tokens(text::head(summary, middle)) <= max_tokens { fits = middle } else { over = middle }
    }
    text::head(summary, fits)
}
