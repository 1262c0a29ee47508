//! `uncounted_overhead`: a threshold does not see the system prompt and the tools, which are in every request.
//!
//! What it means: the layer's `meter` counts messages only, but each request also holds system prompt and tools. With
//! them the context was over the threshold, without them under it, so the layer did not act, and the request was over
//! the window. It is a note if no request was, but system prompt and tools take a quarter of the window or more. Why it
//! hurts: the real threshold is higher than the policy says, by a number that changes with each tool server, and the
//! API refuses requests that the policy holds for small. What to change: `meter = "recorded+ceil(chars/4)"`, which
//! knows the whole request, or a `threshold` that is lower by the tokens of the message. Their size is the usage of
//! the first recorded request minus its text, so the rule needs recorded usage.
//!
//! One finding covers all such calls of a layer. Evidence: langchain #34664.
//!
//! Precision: the preset `deepagents` has 8 such warnings in our recordings of Claude Code. In each the request was over the
//! window, and the layer's size under its threshold by less than what it leaves out. This follows from the rule; whether
//! the policy was meant so, it cannot know.

use crate::engine::journal::ThresholdCheck;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};

/// Share of the window that system prompt and tools may take unsaid. We chose the number.
const LARGE_SHARE: f64 = 0.25;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() || replay.journal.overhead == 0 {
        return Vec::new();
    }
    (0..replay.policy.layers.len()).filter_map(|layer| of_layer(replay, layer)).collect()
}

fn of_layer(replay: &ReplayView, layer: usize) -> Option<Detection> {
    let (settings, overhead) = (&replay.policy.layers[layer], replay.journal.overhead);
    let meter = settings.meter.or(replay.policy.meter).filter(|meter| !meter.recorded && meter.counts_tokens())?;
    let checks = || replay.journal.threshold_checks.iter().filter(|check| check.layer == layer && check.due);
    // A threshold beyond the window has a finding of its own.
    let limit = checks().next().map(|check| check.limit).filter(|limit| *limit < replay.window)?;
    let is_unseen = |check: &&ThresholdCheck| check.size <= check.limit && check.size + overhead > check.limit;
    let is_over = |check: &&ThresholdCheck| replay.journal.request(check.call).is_some_and(|request| request.overflowed);
    let (mut calls, mut largest, mut first) = (0, 0, None);
    for check in checks().filter(is_unseen).filter(is_over) {
        (calls, largest) = (calls + 1, largest.max(check.size));
        first.get_or_insert(check.call);
    }
    let (id, window, all) = (replay.layer(layer), replay.window, replay.journal.requests.len());
    let share = overhead as f64 / window.max(1) as f64;
    let what = format!(
        "{id}'s threshold of {limit} does not see {overhead} tokens of system prompt and tools, which {meter} leaves out of every \
         request"
    );
    let detection = match first {
        Some(call) => {
            let message = format!(
                "{what}: at {calls} of {all} calls the request was over the window of {window}, where the layer saw at most {largest}"
            );
            Detection::at_call(replay, Level::Warning, call, message)
        }
        None if share >= LARGE_SHARE => {
            Detection::of_all(Level::Note, format!("{what}: they are {:.0} % of the window of {window}", share * 100.0))
        }
        None => return None,
    };
    let detection = detection.with("layer", id).with("meter", meter.to_string()).with("overhead", overhead);
    Some(detection.with("limit", limit).with("calls", calls).with("window", window))
}
