//! `giant_item`: one block is larger than what the whole context is meant to hold.
//!
//! What it means: a single result, tool call or text is alone over the trigger of a layer that summarises, over a quarter of the
//! window, or over the window itself, which is an error: nothing can be sent as long as it is there. Why it hurts: a context that
//! holds it is folded at once, often before the model has read it, and again when it is fetched again. What to change: cap what
//! enters (`persist` with `max_bytes` or `truncate` with `max_chars`, `when = "entry"`, `of = "result"`): a budget for a whole batch
//! lets a single large result pass.
//!
//! Each block is told once, when it enters, as large as the layers leave it that run on it then. The trigger is translated from the
//! layer's own meter into tokens by what both said over the conversation. The record tells no trigger: there it is the window.
//!
//! Evidence: Roo #5775, agent-afk PR #671, learn-claude-code's s08, where a result of 50,000 characters is under both of its budgets
//! and over its threshold.

use std::collections::HashMap;

use super::trigger::trigger;
use super::{Found, Level, Replay};
use crate::context::ChangeKind;
use crate::conversation::{BlockId, Kind};
use crate::journal::Request;
use crate::layer::Act;

/// More than one part in so many of the window is much for one block.
const PARTS: u64 = 4;

pub fn look(replay: &Replay) -> Vec<Found> {
    let summarizes = |layer: &usize| matches!(replay.policy.layers[*layer].act, Act::Summarize(_));
    let layers = (0..replay.policy.layers.len()).filter(summarizes);
    let of_layers = layers.filter_map(|layer| {
        let room = trigger(replay, layer)?.saturating_sub(replay.journal.overhead);
        Some((room, format!("the {room} that {} folds at", replay.layer(layer))))
    });
    let quarter = replay.window / PARTS;
    let quarter = (quarter, format!("a quarter of the window ({quarter})"));
    let Some(budget) = of_layers.chain([quarter]).min_by_key(|(tokens, _)| *tokens) else { return Vec::new() };
    replay.journal.requests.iter().flat_map(|request| giants(replay, request, &budget)).collect()
}

/// The blocks that came since the request before and are too large.
fn giants(replay: &Replay, request: &Request, (budget, name): &(u64, String)) -> Vec<Found> {
    let conversation = replay.conversation;
    let came = request.call.checked_sub(1).map_or(0, |last| conversation.calls[last].response);
    let messages = &conversation.messages[came..conversation.calls[request.call].response];
    let rewritten = rewritten(request);
    let large = messages.iter().flat_map(|message| &message.blocks).filter_map(|block| {
        let mut left = *block;
        while let Some(new) = rewritten.get(&left) {
            left = *new;
        }
        let tokens = (replay.tokens)(left);
        (tokens > *budget).then(|| tell(replay, request.call, *block, tokens, (*budget, name)))
    });
    large.collect()
}

fn tell(replay: &Replay, call: usize, block: BlockId, tokens: u64, (budget, name): (u64, &str)) -> Found {
    let window = replay.window;
    let of = |pair| replay.conversation.pair(pair).name.as_str();
    let what = match replay.block(block).kind {
        Kind::ToolUse(pair) => format!("a call of {}", of(pair)),
        Kind::ToolResult(pair) => format!("a result of {}", of(pair)),
        Kind::Thinking => "a thinking block".to_owned(),
        _ => "a text".to_owned(),
    };
    let (level, than) = match tokens > window {
        true => (Level::Error, format!("the window of {window}")),
        false => (Level::Warning, name.to_owned()),
    };
    let message = format!("{what} has {tokens} tokens, more than {than}");
    let found = Found::at_call(replay, level, call, message).at_line(replay.line_of_block(block));
    found.with("what", what).with("tokens", tokens).with("budget", budget).with("window", window)
}

/// What stands in place of which block after the layers' rewrites before a request.
fn rewritten(request: &Request) -> HashMap<BlockId, BlockId> {
    let changes = request.changes.iter().chain(&request.view).filter(|change| change.kind == ChangeKind::Rewrite);
    changes.filter_map(|change| Some((*change.removed.first()?, *change.added.first()?))).collect()
}
