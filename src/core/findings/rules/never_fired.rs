//! `never_fired`: the moment of a layer never came, or a large conversation never reached its threshold.
//!
//! What it means: the `when` of the layer never came, or its threshold was not reached at any call. It is a warning if
//! requests were over the window nevertheless, or if the threshold is beyond the window, so that nothing can ever reach
//! it. It is a note if the conversation had fifty calls or more, a request of at least 50,000 tokens, and no request
//! with half of the threshold. Agents work for hours in one turn: a layer that waits for its end does not see them. Why
//! it hurts: each call sends everything before it, so the sent tokens grow with the square of the calls; and a
//! threshold that is never tested may be wrong when it is needed. What to change: `threshold`, and the `meter` that
//! measures it; a share of the window ("0.5 * window") is a different number for each model; or a `when` that comes
//! within a turn (`always`, `after-response`).
//!
//! The rule is silent for a layer that acted or tried to, and in a conversation that other layers had summarised,
//! dropped or cleared before, because the layer was not needed then. The record does not show which threshold its
//! harness used: for the recorded session it is a note if it was not compacted although it had fifty calls and a
//! request of 100,000 tokens.
//!
//! Evidence: hermes #106338 (half of a window of a million tokens: never), #14690 (a floor that makes it 100 %),
//! claude-code #34254, cline #9599, goose #11049 and #11072 (only at the end of a turn).
//!
//! Precision: 5 findings in 31 recordings; we opened all, and all are right. Their sizes are by the report's token
//! count, within 5 % of what was billed.

use crate::engine::context::{Cause, ChangeKind};
use crate::engine::journal::{EventKind, Request, ThresholdCheck};
use crate::findings::Level;
use crate::findings::timeline::trigger::trigger;
use crate::findings::timeline::{Detection, ReplayView};

/// Fewest calls of a large conversation.
const CALLS: usize = 50;
/// Fewest tokens in the largest request of a large conversation.
const TOKENS: u64 = 50_000;
/// The same for the recorded session, whose threshold is unknown.
const TOKENS_OF_RECORD: u64 = 100_000;
/// A threshold is too high if a large conversation stays below this share of it.
const SHARE: f64 = 0.5;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() {
        return detect_in_record(replay).into_iter().collect();
    }
    let layers = (0..replay.policy.layers.len()).filter(|layer| replay.policy.layers[*layer].enabled);
    layers.filter_map(|layer| detection_of_layer(replay, layer)).collect()
}

fn detection_of_layer(replay: &ReplayView, layer: usize) -> Option<Detection> {
    match replay.journal.times_due.get(layer) {
        Some(0) => never_due(replay, layer),
        _ => never_over(replay, layer),
    }
}

/// The `when` of the layer never came.
fn never_due(replay: &ReplayView, layer: usize) -> Option<Detection> {
    let skipped = replay.journal.events.iter().filter(|event| event.layer == layer).find_map(|event| match event.kind {
        EventKind::Skipped { why } => Some(why.to_owned()),
        _ => None,
    });
    let why = skipped.or_else(|| replay.policy.layers[layer].when.why_never())?;
    let overflowed = overflowed(replay);
    if overflowed == 0 && (!is_large(replay, TOKENS) || was_edited(replay)) {
        return None;
    }
    let level = if overflowed > 0 { Level::Warning } else { Level::Note };
    let (id, over, sent) = (replay.layer(layer), describe_overflowed(replay), describe_sent(replay));
    let message = format!("{id} never acts, because its `when` never comes: {why}{over}{sent}");
    let detection = Detection::of_all(level, message).with("layer", id).with("peak", peak(replay));
    Some(detection.with("overflowed", overflowed).with("sent", sent_tokens(replay)))
}

/// The threshold of the layer was never reached.
fn never_over(replay: &ReplayView, layer: usize) -> Option<Detection> {
    let checks = replay.journal.threshold_checks.iter().filter(|check| check.layer == layer && check.due);
    let acted =
        replay.journal.events.iter().any(|event| event.layer == layer && !matches!(event.kind, EventKind::Skipped { .. }));
    let ThresholdCheck { size, limit, .. } = checks.max_by_key(|check| check.size)?;
    let overflowed = overflowed(replay);
    let trigger = trigger(replay.policy, replay.journal, layer)?;
    let beyond = trigger >= replay.window;
    let share = *size as f64 / (*limit).max(1) as f64;
    let should_have_acted = is_large(replay, TOKENS) && !was_edited(replay) && (beyond || share < SHARE);
    if acted || (overflowed == 0 && !should_have_acted) {
        return None;
    }
    let level = if overflowed > 0 || beyond { Level::Warning } else { Level::Note };
    let (id, peak) = (replay.layer(layer), peak(replay));
    let mut message =
        format!("{id} never acts: the context reaches at most {size} of the threshold {limit} ({:.0} %)", share * 100.0);
    if beyond {
        message += &format!(", which is about {trigger} tokens, but the window is {}", replay.window);
    }
    message += &describe_overflowed(replay);
    message += &describe_sent(replay);
    let detection = Detection::of_all(level, message).with("layer", id).with("size", *size).with("limit", *limit);
    let detection = detection.with("share", (share * 1000.0).round() / 1000.0).with("trigger_tokens", trigger);
    Some(detection.with("peak", peak).with("overflowed", overflowed).with("sent", sent_tokens(replay)))
}

fn detect_in_record(replay: &ReplayView) -> Option<Detection> {
    if !is_large(replay, TOKENS_OF_RECORD) || !replay.conversation.compactions.is_empty() {
        return None;
    }
    let (peak, window) = (peak(replay), replay.window);
    let message =
        format!("nothing was compacted: the largest request has {peak} tokens, the window {window}{}", describe_sent(replay));
    Some(Detection::of_all(Level::Note, message).with("peak", peak).with("window", window).with("sent", sent_tokens(replay)))
}

/// Requests that were over the window before anything rescued them.
fn overflowed(replay: &ReplayView) -> usize {
    replay.journal.requests.iter().filter(|request| request.overflowed).count()
}

fn describe_overflowed(replay: &ReplayView) -> String {
    match overflowed(replay) {
        0 => String::new(),
        overflowed => format!("; {overflowed} of {} requests were over the window", replay.journal.requests.len()),
    }
}

fn describe_sent(replay: &ReplayView) -> String {
    format!("; {} calls sent {} tokens", replay.journal.requests.len(), sent_tokens(replay))
}

fn is_large(replay: &ReplayView, tokens: u64) -> bool {
    replay.journal.requests.len() >= CALLS && peak(replay) >= tokens
}

/// Tokens of the largest request.
fn peak(replay: &ReplayView) -> u64 {
    replay.journal.requests.iter().map(|request| request.tokens).max().unwrap_or_default()
}

/// Tokens of all requests together.
fn sent_tokens(replay: &ReplayView) -> u64 {
    replay.journal.requests.iter().map(|request| request.tokens).sum()
}

/// Whether layers removed something that had been sent before. Changes of what enters do not count.
fn was_edited(replay: &ReplayView) -> bool {
    let changes = replay.journal.requests.iter().flat_map(Request::edits);
    let clears = |layer: usize| replay.traits(layer).empties_blocks();
    let mut of_layers = changes.filter_map(|change| match change.cause {
        Cause::Layer(layer) => Some((layer, change.kind)),
        Cause::Record => None,
    });
    of_layers.any(|(layer, kind)| matches!(kind, ChangeKind::Drop | ChangeKind::Replace) || clears(layer))
}
