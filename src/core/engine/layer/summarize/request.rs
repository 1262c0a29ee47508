//! Asks for a summary, and judges the answer.

use std::ops::Range;

use super::{OnCap, Summarize};
use crate::engine::layer::{Attempt, LayerInput, Proposal};
use crate::engine::summarizer::{AnswerCost, InputWindow, NameCounts, SummaryError, SummaryRequest};
use crate::util::text;

impl Summarize {
    /// Asks the summarizer; after a failure, asks again with less input.
    pub(super) fn request_summary(
        &self,
        input: &LayerInput,
        read_span: Range<usize>,
        proposal: &mut Proposal,
    ) -> Result<String, String> {
        // For an overflow layer, each retry is a further run of the layer, not a further attempt of one run.
        let attempts = if input.overflows { 1 } else { self.retry.max + 1 };
        let mut from = read_span.start;
        let mut reason = String::new();
        for _ in 0..attempts {
            let window = InputWindow {
                chars: self.input.chars,
                side: self.input.side,
                head: self.input.head_chars,
                form: self.input.unit(),
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
            from += ((rest as f64 * self.retry.shrink).ceil() as usize).min(rest.saturating_sub(1));
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
