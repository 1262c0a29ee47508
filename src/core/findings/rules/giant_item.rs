//! `giant_item`: one block is larger than the whole context is meant to be.
//!
//! What it means: a single result, tool call or text alone exceeds the threshold of a layer that summarises, a quarter
//! of the window, or the window itself. The last is an error: nothing can be sent while the block is there. Why it
//! hurts: a context with such a block is summarised at once, often before the model has read the block, and again after
//! the agent has fetched it again. What to change: limit what enters (`persist` with `max_bytes` or `truncate` with
//! `max_length`, `when = "entry"`, `of = "result"`). A budget for a whole batch lets a single large result pass.
//!
//! Each block is reported once, when it enters, at the size that the layers leave it with at that point. The rule
//! compares it with a threshold by the layer's own meter. The recorded session has no known threshold: there the rule
//! uses the window alone.
//!
//! Evidence: Roo #5775, agent-afk PR #671, learn-claude-code's s08, where a result of 50,000 characters is under both
//! of its budgets and over its threshold.
//!
//! Precision: 14 findings about seven results, in 31 recordings under learn-claude-code's two s08 policies; we opened
//! all, and all are right. One result has 47,514 characters and exceeds 50,000 only by the layer's meter, which counts
//! escapes.

use std::collections::HashMap;

use crate::engine::context::ChangeKind;
use crate::engine::journal::Request;
use crate::engine::layer::Layer;
use crate::findings::Level;
use crate::findings::timeline::trigger::trigger;
use crate::findings::timeline::{Detection, ReplayView};
use crate::tokens::meter::Meter;
use crate::transcript::conversation::{BlockId, BlockKind};

/// A block that is larger than the window divided by this is reported.
const WINDOW_PARTS: u64 = 4;

/// A block is measured with a layer's meter only if its tokens exceed the layer's threshold divided by this. The threshold in tokens
/// is an estimate over the whole conversation, so a single block can differ from it.
const THRESHOLD_PARTS: u64 = 2;

/// Threshold of a layer that summarises.
struct Budget<'a> {
    id: &'a str,
    meter: Meter,
    /// Threshold by the layer's own meter.
    limit: u64,
    /// Threshold in tokens of messages.
    tokens: u64,
}

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let budgets: Vec<Budget> =
        replay.policy.layers.iter().enumerate().filter_map(|(at, layer)| budget(replay, at, layer)).collect();
    let mut detections = Vec::new();
    for request in &replay.journal.requests {
        let rewrites = rewrites(request);
        for block in new_blocks(replay, request) {
            let mut current = *block;
            while let Some(new) = rewrites.get(&current) {
                current = *new;
            }
            detections.extend(detection(replay, request.call, (*block, current), &budgets));
        }
    }
    detections
}

fn budget<'a>(replay: &ReplayView<'a>, at: usize, layer: &'a Layer) -> Option<Budget<'a>> {
    layer.spec.traits().summarizer?;
    let meter = layer.meter.or(replay.policy.meter).filter(|meter| meter.unit.adds_up())?;
    let limit = replay.journal.threshold_checks.iter().rfind(|check| check.layer == at)?.limit;
    let overhead = replay.journal.overhead;
    // System prompt and tools are not part of any block.
    let limit = if meter.recorded { limit.saturating_sub(overhead) } else { limit };
    let tokens = trigger(replay.policy, replay.journal, at)?.saturating_sub(overhead);
    (limit > 0 && tokens > 0).then_some(Budget { id: &layer.id, meter, limit, tokens })
}

/// The blocks that are new since the previous request: those of its response, and those that entered after it.
fn new_blocks<'a>(replay: &ReplayView<'a>, request: &Request) -> impl Iterator<Item = &'a BlockId> {
    let conversation = replay.conversation;
    let since = request.call.checked_sub(1).map_or(0, |last| conversation.calls[last].response);
    conversation.messages[since..conversation.calls[request.call].response].iter().flat_map(|message| &message.blocks)
}

/// Reports a block that is too large. `current` is what the layers that ran when it entered made of `block`.
fn detection(replay: &ReplayView, call: usize, (block, current): (BlockId, BlockId), budgets: &[Budget]) -> Option<Detection> {
    let (tokens, window) = ((replay.tokens)(current), replay.window);
    let exceeded = budgets.iter().filter(|budget| tokens > budget.tokens / THRESHOLD_PARTS).find_map(|budget| {
        let size = budget.meter.apply(budget.meter.unit.block(replay.block(current), false));
        (size > budget.limit).then_some((budget, size))
    });
    let quarter = window / WINDOW_PARTS;
    let (level, comparison) = match exceeded {
        _ if tokens > window => (Level::Error, format!("more than the window of {window}")),
        Some((Budget { id, limit, .. }, size)) => {
            (Level::Warning, format!("which alone exceeds the threshold of {id} ({size} of {limit} by its meter)"))
        }
        None if tokens > quarter => (Level::Warning, format!("more than a quarter of the window of {window}")),
        None => return None,
    };
    let tool = |pair| replay.conversation.pair(pair).name.as_str();
    let what = match replay.block(block).kind {
        BlockKind::ToolUse(pair) => format!("a call of {}", tool(pair)),
        BlockKind::ToolResult(pair) => format!("a result of {}", tool(pair)),
        BlockKind::Thinking => "a thinking block".to_owned(),
        _ => "a text".to_owned(),
    };
    let detection = Detection::at_call(replay, level, call, format!("{what} has {tokens} tokens, {comparison}"))
        .at_line(replay.line_of_block(block));
    let detection = detection.with("what", what).with("tokens", tokens).with("window", window);
    let Some((Budget { id, limit, .. }, size)) = exceeded else { return Some(detection) };
    Some(detection.with("layer", *id).with("size", size).with("limit", *limit))
}

/// The blocks that layers rewrote before a request, with their replacements.
fn rewrites(request: &Request) -> HashMap<BlockId, BlockId> {
    let changes = request.edits().filter(|change| change.kind == ChangeKind::Rewrite);
    changes.filter_map(|change| Some((*change.removed.first()?, *change.added.first()?))).collect()
}
