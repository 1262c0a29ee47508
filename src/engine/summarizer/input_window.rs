//! How much of a span the summarizer is shown: limits in characters of the messages as a harness writes them down.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::InputBlock;
use crate::engine::context::{Context, ContextMessage};
use crate::tokens::meter::{Meter, SizeUnit};
use crate::transcript::conversation::{Block, BlockId, Kind, PairId};
use crate::util::text;

/// Which end of an input that is too long is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The summarizer never sees the newest work.
    #[default]
    Head,
    /// The summarizer never sees the task.
    Tail,
    /// The middle goes.
    Both,
}

/// What a summarizer is not shown of the messages it summarises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenInput {
    /// Characters of the written form that are out of reach, and of how many.
    pub chars: u64,
    pub of: u64,
    /// The first message of the span that a person typed is not wholly shown.
    pub task: bool,
    /// The newest message of the span is not wholly shown.
    pub newest: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct InputWindow {
    /// Characters of the list of messages, written in `form`; all, where there is no limit.
    pub chars: Option<u64>,
    pub side: Side,
    /// Of `chars`, those at the beginning ([`Side::Both`]).
    pub head: u64,
    pub form: SizeUnit,
}

impl InputWindow {
    /// What of these messages is within reach, block by block. A block on the edge is cut in proportion: its share of the
    /// written form is its share of the text.
    pub fn pieces<'a>(&self, context: &'a Context<'a>, counter: Meter, span: Range<usize>) -> Vec<InputBlock<'a>> {
        let messages = &context.messages()[span];
        let total = self.total(context, messages);
        let seen = self.seen(total);
        let separator = self.form.list(2, 0).saturating_sub(self.form.list(1, 0));
        let mut at = self.form.list(0, 0) / 2;
        let mut pieces = Vec::new();
        for message in messages {
            let size = context.message_size(message, self.form);
            let blocks: u64 = message.blocks.iter().map(|id| context.block_size(*id, self.form)).sum();
            // What frames the blocks (role, brackets) stands before them, near enough.
            let mut start = at + size.saturating_sub(blocks);
            for id in &message.blocks {
                let end = start + context.block_size(*id, self.form);
                pieces.extend(cut(context, counter, *id, start..end, &seen));
                start = end;
            }
            at += size + separator;
        }
        pieces
    }

    /// What of these messages is out of reach; `None` where there is room for all.
    pub fn unshown(&self, context: &Context, span: Range<usize>) -> Option<HiddenInput> {
        let limit = self.chars?;
        let messages = &context.messages()[span];
        let total = self.total(context, messages);
        let chars = total.checked_sub(limit).filter(|chars| *chars > 0)?;
        let seen = self.seen(total);
        let size = |messages: &[ContextMessage]| messages.iter().map(|sent| context.message_size(sent, self.form)).sum();
        // Where a message begins and ends is known to the comma.
        let is_shown = |index: usize| {
            let [start, end] = [index, index + 1].map(|count| self.form.list(count, size(&messages[..count])));
            seen.iter().any(|stretch| stretch.start <= start && end <= stretch.end)
        };
        let task = messages.iter().position(|sent| sent.typed).is_some_and(|index| !is_shown(index));
        Some(HiddenInput { chars, of: total, task, newest: !is_shown(messages.len().checked_sub(1)?) })
    }

    /// Characters of these messages as they are written.
    fn total(&self, context: &Context, messages: &[ContextMessage]) -> u64 {
        self.form.list(messages.len(), messages.iter().map(|m| context.message_size(m, self.form)).sum())
    }

    /// The stretches of the written form that are kept: at the beginning, and at the end.
    fn seen(&self, total: u64) -> [Range<u64>; 2] {
        let chars = self.chars.unwrap_or(u64::MAX);
        let head = match self.side {
            _ if total <= chars => total,
            Side::Head => chars,
            Side::Tail => 0,
            Side::Both => self.head.min(chars),
        };
        [0..head, total - chars.saturating_sub(head).min(total - head)..total]
    }
}

/// The parts of one block that are seen, its place in the written form given.
fn cut<'a>(
    context: &'a Context<'a>,
    counter: Meter,
    id: BlockId,
    place: Range<u64>,
    seen: &[Range<u64>; 2],
) -> Vec<InputBlock<'a>> {
    let block = context.block(id);
    let size = (place.end - place.start).max(1);
    let tokens = counter.apply(context.block_size(id, counter.measure));
    let (tool, call) = match block.kind {
        Kind::ToolUse(pair) | Kind::ToolResult(pair) => (context.tool_name(pair), call_of(context, pair)),
        _ => ("", None),
    };
    let of_stretch = |stretch: &Range<u64>| {
        let (from, to) = (stretch.start.max(place.start), stretch.end.min(place.end));
        let (whole, part, tokens) = match from < to {
            false => return None,
            true if to - from == size => (Some(id).filter(|id| !context.is_made(*id)), OnceCell::new(), tokens),
            true => {
                let text = block.text();
                let chars = SizeUnit::Chars.text(&text);
                let share = |n: u64| (u128::from(n) * u128::from(chars) / u128::from(size)) as usize;
                let whole = text::head(&text, share(to - place.start));
                let part = text::tail(whole, share(to - place.start) - share(from - place.start));
                let tokens = (u128::from(tokens) * u128::from(to - from) / u128::from(size)) as u64;
                (None, OnceCell::from(Cow::Owned(part.to_owned())), tokens)
            }
        };
        let (kind, origin, is_error) = (block.kind, block.origin, block.is_error());
        Some(InputBlock { kind, origin, tool, is_error, whole, tokens, block, call, text: part })
    };
    seen.iter().filter_map(of_stretch).collect()
}

fn call_of<'a>(context: &Context<'a>, pair: PairId) -> Option<&'a Block> {
    let conversation = context.conversation();
    Some(conversation.block(conversation.pair(pair).used?))
}
