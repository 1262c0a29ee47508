//! `tools_left_out`: a list of tools leaves out most of what the tools returned.
//!
//! What it means: a layer edits the results of some tools only (`tools`), and these have less than half of the tokens
//! of all results in the session. Why it hurts: the layer seems to work, and most of the context is never touched.
//! Lists of tools are written for the built-in tools of one harness; the tools of servers (`mcp__database__query`) have
//! other names, and so have those of another harness. What to change: add the tools of the message to `tools`, or give
//! no list. A pattern such as `mcp__*` names all tools of servers.
//!
//! The rule leaves out sessions with fewer than 10,000 tokens of results. Tools that a layer spares by name
//! (`preserve_tools`) were meant, so a layer with that list only is never reported. There is one finding for each
//! layer. Evidence: openclaude PR #348 (results of servers were never cleared: a fixed list).
//!
//! Precision: the share is a sum over the recorded results; whether the list was meant so, the rule cannot know.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::transcript::conversation::BlockKind;

/// Fewest tokens of results. We chose the number.
const LEAST_TOKENS: u64 = 10_000;
/// A list is reported if it covers less than this share. We chose the number.
const SHARE: f64 = 0.5;
/// Most tools that the message names.
const NAMED: usize = 3;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let selects_tools = |layer: &usize| {
        let filter = replay.traits(*layer).filter;
        replay.policy.layers[*layer].enabled && filter.is_some_and(|filter| !filter.tools.is_empty())
    };
    let mut layers = (0..replay.policy.layers.len()).filter(selects_tools).peekable();
    if layers.peek().is_none() {
        return Vec::new();
    }
    let by_tool = tokens_by_tool(replay);
    layers.filter_map(|layer| of_layer(replay, layer, &by_tool)).collect()
}

fn tokens_by_tool<'a>(replay: &ReplayView<'a>) -> BTreeMap<&'a str, u64> {
    let mut by_tool = BTreeMap::new();
    for id in replay.conversation.messages.iter().flat_map(|message| &message.blocks) {
        if let BlockKind::ToolResult(pair) = replay.conversation.block(*id).kind {
            *by_tool.entry(replay.conversation.pair(pair).name.as_str()).or_default() += (replay.tokens)(*id);
        }
    }
    by_tool
}

fn of_layer(replay: &ReplayView, layer: usize, by_tool: &BTreeMap<&str, u64>) -> Option<Detection> {
    let filter = replay.traits(layer).filter?;
    let all: u64 = by_tool.values().sum();
    let mut left_out: Vec<_> = by_tool.iter().filter(|(tool, _)| !filter.selects_tool(tool)).collect();
    let covered = all - left_out.iter().map(|(_, tokens)| **tokens).sum::<u64>();
    let share = covered as f64 / all.max(1) as f64;
    if all < LEAST_TOKENS || share >= SHARE {
        return None;
    }
    left_out.sort_by_key(|(_, tokens)| Reverse(**tokens));
    let largest = left_out.iter().take(NAMED).map(|(tool, tokens)| format!("{tool} ({tokens})")).collect::<Vec<_>>().join(", ");
    let (id, more) = (replay.layer(layer), left_out.len().saturating_sub(NAMED));
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!(
        "{id}'s list of tools covers {:.0} % of {all} tokens of tool results; it leaves out {largest}{more}",
        share * 100.0
    );
    let detection = Detection::of_all(Level::Warning, message).with("layer", id).with("tokens", all);
    Some(detection.with("covered", covered).with("share", (share * 1000.0).round() / 1000.0))
}
