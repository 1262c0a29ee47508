//! `prefix_changed_tools`: the call for a summary repeats the conversation with other tools, and reads nothing of the prompt cache.
//!
//! What it means: a layer that summarises continues the conversation (`input.rides_prefix`), but without the tools of the requests before
//! it (`input.same_tools = false`). Why it hurts: what a provider caches begins with the tools, so a request with other tools has nothing
//! in common with it. All of the conversation, just before a summary is due, is paid in full. What to change: send the same tools
//! with the call, and forbid their use (`tool_choice`), or send the conversation as a text that is shorter.
//!
//! One finding covers all such calls of a layer. Evidence: Codex 0.169.0, whose compaction repeats the conversation with no tools,
//! after requests with nine.
//!
//! Precision: there are 25 findings in our recordings, all of the preset `codex-cli`, and all are right: the rule reads two
//! settings of the policy and counts calls.

use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::util::text::plural;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    (0..replay.policy.layers.len()).filter_map(|layer| of_layer(replay, layer)).collect()
}

fn of_layer(replay: &ReplayView, layer: usize) -> Option<Detection> {
    replay.traits(layer).summarizer.filter(|summarizer| summarizer.changes_tools)?;
    let calls: Vec<_> = replay.journal.summaries.iter().filter(|summary| summary.layer == layer).collect();
    let first = calls.first()?.call;
    let tokens_in: u64 = calls.iter().map(|summary| summary.attempt.tokens_in).sum();
    let message = format!(
        "{} repeats the conversation with other tools: {} with {tokens_in} tokens of input read nothing of the prompt cache",
        replay.who(layer),
        plural(calls.len(), "call"),
    );
    let detection = Detection::at_call(replay, Level::Warning, first, message).with("layer", replay.layer(layer));
    Some(detection.with("calls", calls.len()).with("tokens_in", tokens_in))
}
