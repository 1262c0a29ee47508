//! Limits how much of a span the summarizer sees, in characters of the messages as the harness serialises them.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::InputBlock;
use crate::engine::context::{Context, ContextMessage};
use crate::tokens::meter::media::is_estimated;
use crate::tokens::meter::{Meter, SizeUnit};
use crate::transcript::conversation::{Block, BlockId, BlockKind, PairId};
use crate::util::text;

/// Which end of a too long input is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The beginning: the summarizer never sees the newest work.
    #[default]
    Head,
    /// The end: the summarizer never sees the task.
    Tail,
    /// Both ends: the summarizer never sees the middle.
    Both,
}

/// The part of the summarised messages that the summarizer does not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenInput {
    /// Hidden characters of the serialised messages.
    pub chars: u64,
    /// All characters of the serialised messages.
    pub total_chars: u64,
    /// The first message of the span that the user typed is hidden, fully or partly.
    pub task: bool,
    /// The newest message of the span is hidden, fully or partly.
    pub newest: bool,
}

/// The limit of a summarizer's input.
#[derive(Debug, Clone, Copy)]
pub struct InputWindow {
    /// Maximum characters of the list of messages, serialised in `form`; `None`: no limit.
    pub chars: Option<u64>,
    pub side: Side,
    /// How many of `chars` are at the beginning (only with [`Side::Both`]).
    pub head: u64,
    pub form: SizeUnit,
}

impl InputWindow {
    /// Returns the visible blocks of these messages. A block at the edge is cut in proportion: its visible share of the serialised
    /// form is its visible share of the text.
    pub fn visible_blocks<'a>(&self, context: &'a Context<'a>, counter: Meter, span: Range<usize>) -> Vec<InputBlock<'a>> {
        let messages = &context.messages()[span];
        let total = self.total_chars(context, messages);
        let visible = self.visible_ranges(total);
        let separator = self.form.list(2, 0).saturating_sub(self.form.list(1, 0));
        let mut at = self.form.list(0, 0) / 2;
        let mut visible_blocks = Vec::new();
        for message in messages {
            let size = context.message_size(message, self.form);
            let block_sizes: u64 = message.blocks.iter().map(|id| context.block_size(*id, self.form)).sum();
            // Approximation: the frame of the blocks (role, brackets) is completely before them.
            let mut start = at + size.saturating_sub(block_sizes);
            for id in &message.blocks {
                let end = start + context.block_size(*id, self.form);
                visible_blocks.extend(visible_parts(context, counter, *id, start..end, &visible));
                start = end;
            }
            at += size + separator;
        }
        visible_blocks
    }

    /// Returns the tokens of the input that has these visible blocks. A serialised form is longer than the text by its keys, brackets and
    /// escapes, and has as many more tokens. Images and documents count as they do in the conversation.
    pub fn tokens(&self, context: &Context, counter: Meter, span: Range<usize>, blocks: &[InputBlock]) -> u64 {
        if !self.form.is_serialized() {
            return blocks.iter().map(|block| block.tokens).sum();
        }
        let messages = &context.messages()[span];
        let (mut chars, mut text, mut media, mut form) = (0, 0, 0, self.total_chars(context, messages));
        let visible = form.min(self.chars.unwrap_or(u64::MAX)) as f64 / form as f64;
        for id in messages.iter().flat_map(|message| &message.blocks) {
            let size = context.block_size(*id, counter.unit);
            if is_estimated(context.block(*id)) {
                media += size;
                form -= context.block_size(*id, self.form);
            } else {
                text += size;
                chars += context.block_size(*id, SizeUnit::Chars);
            }
        }
        let serialized = if chars == 0 { text as f64 } else { text as f64 * form as f64 / chars as f64 };
        counter.apply(((media as f64 + serialized) * visible).round() as u64)
    }

    /// Returns what is hidden of these messages; `None` if all of them fit.
    pub fn hidden(&self, context: &Context, span: Range<usize>) -> Option<HiddenInput> {
        let limit = self.chars?;
        let messages = &context.messages()[span];
        let total = self.total_chars(context, messages);
        let chars = total.checked_sub(limit).filter(|chars| *chars > 0)?;
        let visible = self.visible_ranges(total);
        let size = |messages: &[ContextMessage]| messages.iter().map(|m| context.message_size(m, self.form)).sum();
        // The start and the end of a message are exact, including separators.
        let is_shown = |index: usize| {
            let [start, end] = [index, index + 1].map(|count| self.form.list(count, size(&messages[..count])));
            visible.iter().any(|range| range.start <= start && end <= range.end)
        };
        let task = messages.iter().position(|message| message.typed).is_some_and(|index| !is_shown(index));
        Some(HiddenInput { chars, total_chars: total, task, newest: !is_shown(messages.len().checked_sub(1)?) })
    }

    /// Returns the characters of these messages, serialised.
    fn total_chars(&self, context: &Context, messages: &[ContextMessage]) -> u64 {
        self.form.list(messages.len(), messages.iter().map(|m| context.message_size(m, self.form)).sum())
    }

    /// Returns the visible ranges of the serialised form: at the beginning, and at the end.
    fn visible_ranges(&self, total: u64) -> [Range<u64>; 2] {
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

/// Returns the visible parts of a block; `place` is its range in the serialised form.
fn visible_parts<'a>(
    context: &'a Context<'a>,
    counter: Meter,
    id: BlockId,
    place: Range<u64>,
    visible: &[Range<u64>; 2],
) -> Vec<InputBlock<'a>> {
    let block = context.block(id);
    let size = (place.end - place.start).max(1);
    let tokens = counter.apply(context.block_size(id, counter.unit));
    let (tool, call) = match block.kind {
        // Two calls may have the same id, and the pair knows only the first.
        BlockKind::ToolUse(pair) if !context.is_synthetic(id) => (context.tool_name(pair), Some(block)),
        BlockKind::ToolUse(pair) | BlockKind::ToolResult(pair) => (context.tool_name(pair), tool_use_of(context, pair)),
        _ => ("", None),
    };
    let part_in = |range: &Range<u64>| {
        let (from, to) = (range.start.max(place.start), range.end.min(place.end));
        if from >= to {
            return None;
        }
        let (whole, text, tokens) = if to - from == size {
            (Some(id).filter(|id| !context.is_synthetic(*id)), OnceCell::new(), tokens)
        } else {
            let text = block.text();
            let chars = SizeUnit::Chars.text(&text);
            let share = |n: u64| (u128::from(n) * u128::from(chars) / u128::from(size)) as usize;
            let head = text::head(&text, share(to - place.start));
            let part = text::tail(head, share(to - place.start) - share(from - place.start));
            let tokens = (u128::from(tokens) * u128::from(to - from) / u128::from(size)) as u64;
            (None, OnceCell::from(Cow::Owned(part.to_owned())), tokens)
        };
        let (kind, origin, is_error) = (block.kind, block.origin, block.is_error());
        Some(InputBlock { kind, origin, tool, is_error, whole, tokens, block, call, text })
    };
    visible.iter().filter_map(part_in).collect()
}

fn tool_use_of<'a>(context: &Context<'a>, pair: PairId) -> Option<&'a Block> {
    let conversation = context.conversation();
    Some(conversation.block(conversation.pair(pair).tool_use?))
}
