//! `giant_item`: one block is larger than what the whole context is meant to hold.
//!
//! What it means: a single result, tool call or text is alone over the trigger of a layer that summarises, over a quarter of the
//! window, or over the window itself, which is an error: nothing can be sent as long as it is there. Why it hurts: a context that
//! holds it is folded at once, often before the model has read it, and again when it is fetched again. What to change: cap what
//! enters (`persist` with `max_bytes` or `truncate` with `max_chars`, `when = "entry"`, `of = "result"`): a budget for a whole batch
//! lets a single large result pass.
//!
//! Each block is told once, when it enters, as large as the layers leave it that run on it then. It is held against a trigger by the
//! meter of the layer itself. The record tells no trigger: there it is the window alone.
//!
//! Evidence: Roo #5775, agent-afk PR #671, learn-claude-code's s08, where a result of 50,000 characters is under both of its budgets
//! and over its threshold.
//!
//! Precision: 14 findings, seven results, in 31 recordings under learn-claude-code's two s08 policies; all were opened and are right.
//! One of them has 47,514 characters, and is over 50,000 by the layer's meter alone, which counts escapes.

use std::collections::HashMap;

use crate::engine::context::ChangeKind;
use crate::engine::journal::Request;
use crate::engine::layer::{Layer, LayerSpec};
use crate::findings::Level;
use crate::findings::timeline::trigger::trigger;
use crate::findings::timeline::{Detection, ReplayView};
use crate::tokens::meter::Meter;
use crate::transcript::conversation::{BlockId, Kind};

/// More than one part in so many of the window is much for one block.
const PARTS: u64 = 4;

/// What a layer makes of a block is worth asking where the report has it at this share of the layer's threshold: its rate of
/// tokens to the layer's sizes is the conversation's, not the block's.
const WORTH_ASKING: u64 = 2;

/// A layer that summarises: its threshold, by its own meter and in tokens of messages, and what it is asked with.
struct Budget<'a> {
    id: &'a str,
    meter: Meter,
    limit: u64,
    tokens: u64,
}

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let budgets: Vec<Budget> =
        replay.policy.layers.iter().enumerate().filter_map(|(at, layer)| budget(replay, at, layer)).collect();
    let mut found = Vec::new();
    for request in &replay.journal.requests {
        let rewritten = rewritten(request);
        for block in came_for(replay, request) {
            let mut left = *block;
            while let Some(new) = rewritten.get(&left) {
                left = *new;
            }
            found.extend(tell(replay, request.call, (*block, left), &budgets));
        }
    }
    found
}

fn budget<'a>(replay: &ReplayView<'a>, at: usize, layer: &'a Layer) -> Option<Budget<'a>> {
    let (LayerSpec::Summarize(_), Some(meter)) = (&layer.spec, layer.meter.or(replay.policy.meter)) else { return None };
    let limit = replay.journal.threshold_checks.iter().rfind(|weighed| weighed.layer == at)?.limit;
    let overhead = replay.journal.overhead;
    // What is there without any message is no fault of a block.
    let limit = if meter.recorded { limit.saturating_sub(overhead) } else { limit };
    let tokens = trigger(replay, at)?.saturating_sub(overhead);
    (limit > 0 && tokens > 0).then_some(Budget { id: &layer.id, meter, limit, tokens })
}

/// The blocks that came since the request before: of the response to that, and of what entered.
fn came_for<'a>(replay: &ReplayView<'a>, request: &Request) -> impl Iterator<Item = &'a BlockId> {
    let conversation = replay.conversation;
    let since = request.call.checked_sub(1).map_or(0, |last| conversation.calls[last].response);
    conversation.messages[since..conversation.calls[request.call].response].iter().flat_map(|message| &message.blocks)
}

/// What is too large about a block, as the layers left it that ran when it entered.
fn tell(replay: &ReplayView, call: usize, (block, left): (BlockId, BlockId), budgets: &[Budget]) -> Option<Detection> {
    let (tokens, window) = ((replay.tokens)(left), replay.window);
    let over = budgets.iter().filter(|budget| tokens > budget.tokens / WORTH_ASKING).find_map(|budget| {
        let size = budget.meter.apply(budget.meter.measure.block(replay.block(left), false));
        (size > budget.limit).then_some((budget, size))
    });
    let quarter = window / PARTS;
    let (level, than) = match over {
        _ if tokens > window => (Level::Error, format!("more than the window of {window}")),
        Some((Budget { id, limit, .. }, size)) => {
            (Level::Warning, format!("and is alone over what {id} folds at ({size} of {limit} by its meter)"))
        }
        None if tokens > quarter => (Level::Warning, format!("more than a quarter of the window of {window}")),
        None => return None,
    };
    let of = |pair| replay.conversation.pair(pair).name.as_str();
    let what = match replay.block(block).kind {
        Kind::ToolUse(pair) => format!("a call of {}", of(pair)),
        Kind::ToolResult(pair) => format!("a result of {}", of(pair)),
        Kind::Thinking => "a thinking block".to_owned(),
        _ => "a text".to_owned(),
    };
    let found = Detection::at_call(replay, level, call, format!("{what} has {tokens} tokens, {than}"))
        .at_line(replay.line_of_block(block));
    let found = found.with("what", what).with("tokens", tokens).with("window", window);
    let Some((Budget { id, limit, .. }, size)) = over else { return Some(found) };
    Some(found.with("layer", *id).with("size", size).with("limit", *limit))
}

/// What stands in place of which block after the layers' rewrites before a request.
fn rewritten(request: &Request) -> HashMap<BlockId, BlockId> {
    let changes = request.edits().filter(|change| change.kind == ChangeKind::Rewrite);
    changes.filter_map(|change| Some((*change.removed.first()?, *change.added.first()?))).collect()
}
