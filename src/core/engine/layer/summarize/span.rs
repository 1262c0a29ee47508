//! Which messages a summary replaces, and which of them the summarizer reads.

use std::ops::Range;

use super::{InputStart, KeptTail, SpanUnit, Summarize};
use crate::engine::context::ContextMessage;
use crate::engine::layer::LayerInput;
use crate::engine::layer::cut::{CutRule, KnownRun};
use crate::engine::layer::tail::{groups_start, last_start_of, tokens_start, turns_start};

impl Summarize {
    /// Returns the messages that the summary replaces.
    pub(super) fn span(&self, input: &LayerInput, run: &mut KnownRun) -> Range<usize> {
        let context = input.context;
        let protected = self.protected_from(input);
        if self.cut.latest(self.snap, context).min(protected) < self.keep_first + self.span.min {
            return 0..0;
        }
        let (head, tail) = match self.keep {
            KeptTail::Entered => (self.keep_first, input.first_new.min(protected)),
            KeptTail::Recent => {
                let tail = self.tail(input).min(self.share_end(input).max(1)).min(protected);
                let head = self.keep_first.min(tail);
                // Without a head there is no cut at its end.
                let head = if head > 0 { self.cut.adjust_head(context, head..tail) } else { 0 };
                let adjusted = match self.keep_at_least {
                    true => self.cut.adjust_last_tail(self.snap, context, tail, run),
                    false => self.cut.adjust_tail_near(self.snap, context, tail, run),
                };
                (head, adjusted)
            }
        };
        head.min(tail)..tail
    }

    /// Returns where the turns begin that stay whole; the end of the context if there are none, or if nothing is in front of them.
    fn protected_from(&self, input: &LayerInput) -> usize {
        match turns_start(input.context, self.protect_turns) {
            0 => input.context.len(),
            start => start,
        }
    }

    /// Returns where the messages that stay would begin if a cut could be anywhere.
    fn tail(&self, input: &LayerInput) -> usize {
        let context = input.context;
        if let Some(groups) = self.keep_recent_groups {
            return groups_start(context, groups).unwrap_or(0);
        }
        match &self.keep_recent_tokens {
            Some(tokens) => {
                let tokens = tokens.resolve(input.limits);
                if self.keep_at_least {
                    return last_start_of(context, input.meter, tokens);
                }
                let least = usize::from(self.cut != CutRule::Typed);
                tokens_start(context, input.meter, tokens, 0, least)
            }
            None => context.len().saturating_sub(self.keep_recent_messages),
        }
    }

    /// Returns where the share of the oldest messages that may be replaced ends: behind the first message with which the share is
    /// reached if it counts in size.
    fn share_end(&self, input: &LayerInput) -> usize {
        let (context, unit) = (input.context, input.meter.unit);
        match self.span.unit {
            SpanUnit::Messages => (context.len() as f64 * self.span.share) as usize,
            SpanUnit::Size => {
                let share = context.sum(unit) as f64 * self.span.share;
                let mut size = 0;
                let reaches_share = |message: &ContextMessage| {
                    size += context.message_size(message, unit);
                    size as f64 >= share
                };
                context.messages().iter().position(reaches_share).map_or(context.len(), |last| last + 1)
            }
        }
    }

    /// Returns the part of a span that `input.tokens` lets the summarizer read: its newest messages.
    ///
    /// LangChain, which has such a limit, also reads the last lines that fit of the message before them. What it reads of that message
    /// is not modelled, but that it is a typed beginning is: often it is the only one.
    pub(super) fn read_span(&self, input: &LayerInput, span: Range<usize>) -> Range<usize> {
        let Some(max_tokens) = self.input.tokens else { return span };
        let (context, meter) = (input.context, input.meter);
        let (mut size, mut from) = (0, span.end);
        while from > span.start {
            let with_next = size + context.message_size(&context.messages()[from - 1], meter.unit);
            if meter.apply(with_next) > max_tokens {
                break;
            }
            (size, from) = (with_next, from - 1);
        }
        if self.input.start == InputStart::Typed {
            let ends_fitting = |at: usize| {
                let message = &context.messages()[at];
                let text: String = message.blocks.iter().map(|id| context.block(*id).text()).collect();
                let last_line = text.rsplit('\n').next().unwrap_or_default();
                let line_size = meter.unit.message(message.role, message.is_string_content, 1, meter.unit.text(last_line));
                !text.is_empty() && meter.apply(size + line_size) <= max_tokens
            };
            let first = if from > span.start && ends_fitting(from - 1) { from - 1 } else { from };
            let behind = context.typed().partition_point(|at| *at < first);
            from = context.typed().get(behind).map_or(span.end, |at| (*at).min(span.end));
        }
        from..span.end
    }
}
