//! Where a span of messages may begin and end. `drop`, `keep` and `summarize` share these rules, so that "never between a call and
//! its result" means the same in all of them.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::context::{Context, ContextMessage, MessageUnit};
use crate::transcript::conversation::BlockKind;

/// Where a span of messages may begin and end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutRule {
    /// Anywhere, even between a tool_use and its tool_result.
    Anywhere,
    /// The head keeps the results of its last calls; a tail that begins with results takes in one more message.
    PullBack,
    /// Never between a response and the results that answer it.
    #[default]
    Batch,
    /// Never inside a run of tool calls and results: before its first call, however long it is (Semantic Kernel).
    Run,
    /// Only before a message that the user typed.
    Turn,
    /// Like `turn`, but a tail that moves forward and finds no typed message is empty: a summary replaces all messages, and where
    /// nothing replaces them, only the newest message stays (LlamaIndex).
    Typed,
}

/// Which way the start of the tail moves from a position where a cut may not be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Snap {
    /// To older messages: more stay than the count says.
    #[default]
    Back,
    /// To newer messages: fewer stay. A summary may then cover the newest batch, too; where nothing replaces it, it stays. With
    /// `cut = "turn"` and no typed message behind the position, to the next response with its results; if there is none either,
    /// there is no cut.
    Forward,
    /// To newer messages, or if none of them may begin a tail, to older ones: with `cut = "turn"` to the next typed message, or else to
    /// the one before (Gemini CLI). Some message stays.
    Either,
}

impl CutRule {
    /// Moves the start of a span to remove to a position that this rule allows, or else to its end.
    pub fn adjust_head(self, context: &Context, span: Range<usize>) -> usize {
        let (mut head, tail) = (span.start, span.end);
        let keeps_batch = !context.unit().is_whole() || head > 0 && uses_tools(context, &context.messages()[head - 1]);
        while self != CutRule::Anywhere && keeps_batch && head > 0 && head < tail && continues_batch(context, head) {
            head += 1;
        }
        head
    }

    /// Moves the start of the tail that stays to a position that this rule allows; 0 if there is none. A move forward may end behind
    /// the last message.
    pub fn adjust_tail(self, snap: Snap, context: &Context, tail: usize) -> usize {
        self.adjust_tail_near(snap, context, tail, &mut KnownRun::default())
    }

    /// Like [`CutRule::adjust_tail`], for a layer that remembers the run of tool calls that it found last.
    pub fn adjust_tail_near(self, snap: Snap, context: &Context, tail: usize, known: &mut KnownRun) -> usize {
        match snap {
            Snap::Back => self.move_back(context, tail, known),
            Snap::Forward => self.move_forward(context, tail),
            Snap::Either => {
                let forward = if self == Self::Turn { Self::Typed } else { self };
                let adjusted = forward.move_forward(context, tail);
                let newest = context.len().saturating_sub(1);
                if adjusted < context.len() { adjusted } else { self.move_back(context, tail.min(newest), known) }
            }
        }
    }

    /// Like [`CutRule::adjust_tail_near`], but some message stays: if only the rest of a batch is behind the position, the cut moves back;
    /// with [`CutRule::Typed`] and no typed message behind it, the newest message stays.
    pub fn adjust_last_tail(self, snap: Snap, context: &Context, tail: usize, known: &mut KnownRun) -> usize {
        let adjusted = self.adjust_tail_near(snap, context, tail, known);
        match self {
            _ if adjusted < context.len() => adjusted,
            Self::Typed => tail.max(context.len().saturating_sub(1)),
            _ => self.adjust_tail(Snap::Back, context, tail),
        }
    }

    /// Returns a position that no tail begins behind, wherever the search for it starts. It is known at once, so a layer that can do
    /// nothing in a long turn need not look through it again at each call.
    pub fn latest(self, snap: Snap, context: &Context) -> usize {
        match (self, snap) {
            (Self::Turn | Self::Typed, Snap::Either) => context.newest_typed().unwrap_or(0),
            _ => context.len(),
        }
    }

    /// Returns whether a tail that moves forward may begin at a message, by the message before it. By [`CutRule::Turn`], it may begin at
    /// others, too, if there is none.
    pub(super) fn may_begin(self, context: &Context, message: &ContextMessage, before: Option<&ContextMessage>) -> bool {
        match self {
            CutRule::Anywhere => true,
            CutRule::PullBack | CutRule::Batch | CutRule::Run => before.is_none() || !is_of_batch(context, message, before),
            CutRule::Turn | CutRule::Typed => message.typed && !message.has_results,
        }
    }

    fn move_back(self, context: &Context, tail: usize, known: &mut KnownRun) -> usize {
        match self {
            CutRule::Anywhere => tail,
            CutRule::PullBack => tail - usize::from(splits_from_calls(context, tail)),
            CutRule::Batch => start_of_batch(context, tail),
            CutRule::Run => known.start_of_run(context, tail),
            CutRule::Turn | CutRule::Typed => start_of_turn(context, tail),
        }
    }

    fn move_forward(self, context: &Context, tail: usize) -> usize {
        let messages = context.messages();
        let first = |may_begin: &dyn Fn(usize) -> bool| (tail..messages.len()).find(|at| may_begin(*at));
        let next_turn = || {
            let starts = context.turn_starts();
            starts.get(starts.partition_point(|start| *start < tail)).copied()
        };
        let may_begin = |at: usize| self.may_begin(context, &messages[at], at.checked_sub(1).map(|before| &messages[before]));
        match self {
            CutRule::Anywhere => tail,
            CutRule::Typed => next_turn().unwrap_or(messages.len()),
            CutRule::PullBack | CutRule::Batch | CutRule::Run => first(&may_begin).unwrap_or(messages.len()),
            CutRule::Turn => {
                let is_answered =
                    |at: usize| uses_tools(context, &messages[at]) && messages.get(at + 1).is_some_and(|next| next.has_results);
                next_turn().or_else(|| first(&is_answered)).unwrap_or(0)
            }
        }
    }
}

/// A position, and the start of the run of tool calls around it. As long as no message moves, a run only grows at its end, so a later
/// search can stop here.
#[derive(Debug, Default)]
pub struct KnownRun {
    from: usize,
    start: usize,
    moves: u32,
}

impl KnownRun {
    /// Returns the start of the run around a position, and remembers it; the position itself if it is in no run.
    fn start_of_run(&mut self, context: &Context, from: usize) -> usize {
        let mut start = from;
        while start > 0 && holds_tools(context, start) && holds_tools(context, start - 1) {
            start = if self.is_known(context, start) { self.start } else { start - 1 };
        }
        *self = Self { from, start, moves: context.moves() };
        start
    }

    fn is_known(&self, context: &Context, position: usize) -> bool {
        self.moves == context.moves() && self.from == position && self.start < position
    }
}

/// Returns the newest position up to this one at which a turn begins; 0 if there is none. A position behind the last message stays.
fn start_of_turn(context: &Context, at: usize) -> usize {
    if at >= context.len() {
        return at;
    }
    let starts = context.turn_starts();
    let older = starts.partition_point(|start| *start <= at);
    older.checked_sub(1).map_or(0, |newest| starts[newest])
}

/// Returns the position of the response whose batch a position is in, or else the position.
fn start_of_batch(context: &Context, mut at: usize) -> usize {
    while splits_batch(context, at) {
        at -= 1;
    }
    at
}

/// Returns whether a cut at this position separates a batch from its begin.
fn splits_batch(context: &Context, at: usize) -> bool {
    at > 0 && continues_batch(context, at)
}

/// Returns whether a cut at this position separates results from the calls just before them.
fn splits_from_calls(context: &Context, at: usize) -> bool {
    splits_batch(context, at) && uses_tools(context, &context.messages()[at - 1])
}

/// Returns whether a message belongs to the batch before it: it holds results, or a further call of the same response.
pub(super) fn continues_batch(context: &Context, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| context.messages().get(before));
    context.messages().get(at).is_some_and(|message| is_of_batch(context, message, before))
}

/// Returns whether a message belongs to the batch before it, by the message just before it.
fn is_of_batch(context: &Context, message: &ContextMessage, before: Option<&ContextMessage>) -> bool {
    let is_further_call = || {
        context.unit() == MessageUnit::Event && message.is_response() && before.is_some_and(|before| uses_tools(context, before))
    };
    message.has_results || is_further_call()
}

/// Returns whether there is a message at this position that calls tools or holds results.
fn holds_tools(context: &Context, at: usize) -> bool {
    let message = context.messages().get(at);
    message.is_some_and(|message| uses_tools(context, message) || message.has_results)
}

/// Returns whether it is a response that calls tools.
pub(super) fn uses_tools(context: &Context, message: &ContextMessage) -> bool {
    message.is_response() && message.blocks.iter().any(|id| matches!(context.block(*id).kind, BlockKind::ToolUse(_)))
}
