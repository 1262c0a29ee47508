//! `never_fired`: a threshold that a large conversation never reached.
//!
//! What it means: the layer's threshold was not reached at any call. It is a warning where requests were over the window all the
//! same, or where the threshold is beyond the window, so that nothing can ever reach it; a note where the conversation had fifty
//! calls or more, a request of at least 50,000 tokens, and no request came to half of the threshold. Why it hurts: each call sends all that came before, so what is sent grows
//! with the square of the calls; and a threshold that is never tried will not be right when it is needed. What to change:
//! `threshold`, and the `meter` it is counted by; a share of the window ("0.5 * window") is a different number for each model.
//!
//! Silent for a layer that acted or tried to, and in a conversation that other layers had folded, dropped or cleared before: it
//! was not needed then. What the record's harness went by is not recorded: of the record it is a note that it was not compacted
//! though it had fifty calls and a request of 100,000 tokens.
//!
//! Evidence: hermes #106338 (half of a window of a million tokens: never), #14690 (a floor that makes it 100 %), claude-code #34254,
//! cline #9599.
//!
//! Precision: 5 findings in 31 recordings, all opened, all right; their sizes are the report's, within 5 % of what was billed.

use crate::engine::context::{Cause, ChangeKind};
use crate::engine::journal::{EventKind, Request, ThresholdCheck};
use crate::engine::layer::LayerSpec;
use crate::findings::Level;
use crate::findings::timeline::trigger::trigger;
use crate::findings::timeline::{Detection, ReplayView};

/// A conversation of so many calls …
const CALLS: usize = 50;
/// … whose largest request has so many tokens is long enough to be compacted.
const TOKENS: u64 = 50_000;
/// Of the record, whose threshold is not known.
const TOKENS_OF_RECORD: u64 = 100_000;
/// A threshold of which a large conversation does not reach this share is too high for it.
const SHARE: f64 = 0.5;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() {
        return of_the_record(replay).into_iter().collect();
    }
    let layers = (0..replay.policy.layers.len()).filter(|layer| replay.policy.layers[*layer].enabled);
    layers.filter_map(|layer| of_layer(replay, layer)).collect()
}

fn of_layer(replay: &ReplayView, layer: usize) -> Option<Detection> {
    let weighed = || replay.journal.threshold_checks.iter().filter(move |weighed| weighed.layer == layer && weighed.due);
    let acted =
        replay.journal.events.iter().any(|event| event.layer == layer && !matches!(event.what, EventKind::Skipped { .. }));
    let ThresholdCheck { size, limit, .. } = weighed().max_by_key(|weighed| weighed.size)?;
    let over = replay.journal.requests.iter().filter(|request| request.overflowed).count();
    let trigger = trigger(replay, layer)?;
    let beyond = trigger >= replay.window;
    let share = *size as f64 / (*limit).max(1) as f64;
    let is_wanted = is_large(replay, TOKENS) && !was_edited(replay) && (beyond || share < SHARE);
    if acted || (over == 0 && !is_wanted) {
        return None;
    }
    let level = if over > 0 || beyond { Level::Warning } else { Level::Note };
    let (id, peak) = (replay.layer(layer), peak(replay));
    let mut message = format!("{id} never acts: it saw at most {size} of the {limit} it waits for ({:.0} %)", share * 100.0);
    if beyond {
        message += &format!(", which is about {trigger} tokens, and the window is {}", replay.window);
    }
    if over > 0 {
        message += &format!("; {over} of {} requests were over the window", replay.journal.requests.len());
    }
    message += &sent(replay);
    let found = Detection::of_all(level, message).with("layer", id).with("size", *size).with("limit", *limit);
    let found = found.with("share", (share * 1000.0).round() / 1000.0).with("trigger_tokens", trigger).with("peak", peak);
    Some(found.with("overflowed", over).with("sent", sum(replay)))
}

fn of_the_record(replay: &ReplayView) -> Option<Detection> {
    if !is_large(replay, TOKENS_OF_RECORD) || !replay.conversation.compactions.is_empty() {
        return None;
    }
    let (peak, window) = (peak(replay), replay.window);
    let message = format!("nothing was compacted: at most {peak} of a window of {window} tokens{}", sent(replay));
    Some(Detection::of_all(Level::Note, message).with("peak", peak).with("window", window).with("sent", sum(replay)))
}

fn sent(replay: &ReplayView) -> String {
    format!("; {} calls sent {} tokens", replay.journal.requests.len(), sum(replay))
}

fn is_large(replay: &ReplayView, tokens: u64) -> bool {
    replay.journal.requests.len() >= CALLS && peak(replay) >= tokens
}

fn peak(replay: &ReplayView) -> u64 {
    replay.journal.requests.iter().map(|request| request.tokens).max().unwrap_or_default()
}

fn sum(replay: &ReplayView) -> u64 {
    replay.journal.requests.iter().map(|request| request.tokens).sum()
}

/// Whether layers took something out that had been sent before. What they change as it enters does not count.
fn was_edited(replay: &ReplayView) -> bool {
    let changes = replay.journal.requests.iter().flat_map(Request::edits);
    let clears = |layer: usize| matches!(replay.policy.layers[layer].spec, LayerSpec::Clear(_) | LayerSpec::Dedupe(_));
    let mut of_layers = changes.filter_map(|change| match change.cause {
        Cause::Layer(layer) => Some((layer, change.kind)),
        Cause::Record => None,
    });
    of_layers.any(|(layer, kind)| matches!(kind, ChangeKind::Drop | ChangeKind::Replace) || clears(layer))
}
