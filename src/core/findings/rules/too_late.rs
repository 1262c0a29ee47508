//! `too_late`: between two calls the context grows past both threshold and window.
//!
//! What it means: a request was over the window, and the layers that watch the size had not acted, because at the call
//! before the context was still under their threshold. The growth between two calls is larger than the room between
//! threshold and window. Why it hurts: the API refuses the request, and only an emergency remains: a layer for
//! overflows (`when = "overflow"`), or the end of the session. What to change: a lower `threshold`, or a limit on the
//! growth between two calls (a `persist` or `truncate` layer with `when = "entry"`), so that the largest growth fits
//! into the room that is left.
//!
//! The rule reports the first of consecutive requests over the window. A layer whose threshold is beyond the window is
//! reported by `never_fired` instead. For the recorded session: a call that was billed more than the window, or a
//! compaction that was made above it.
//!
//! Evidence: claude-code #34179, #75335, codex #24779, Roo #10968.
//!
//! Precision: none in 31 recordings with the windows they name. With a window of 60,000 the recorded sessions have 66;
//! we opened 12, and 12 are right.

use crate::engine::journal::{EventKind, Request};
use crate::engine::layer::When;
use crate::findings::Level;
use crate::findings::timeline::trigger::trigger;
use crate::findings::timeline::{Detection, ReplayView};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() {
        return detect_in_record(replay);
    }
    let requests = &replay.journal.requests;
    let in_a_row = |at: usize| at > 0 && requests[at - 1].overflowed;
    let first = (1..requests.len()).filter(|at| requests[*at].overflowed && !in_a_row(*at));
    first.filter_map(|at| detection(replay, &requests[at - 1], &requests[at])).collect()
}

fn detection(replay: &ReplayView, last: &Request, request: &Request) -> Option<Detection> {
    let watches = |layer: &usize| replay.policy.layers[*layer].enabled && replay.policy.layers[*layer].threshold.is_some();
    let mut watching = (0..replay.policy.layers.len()).filter(watches).peekable();
    watching.peek()?;
    if replay.journal.events_at(request.call).iter().any(|event| watches(&event.layer)) {
        return None;
    }
    let (layer, trigger) = watching
        .filter_map(|layer| Some((layer, trigger(replay.policy, replay.journal, layer)?)))
        .min_by_key(|(_, trigger)| *trigger)?;
    let tokens = tokens_before_rescue(replay, request);
    let (growth, room) = (tokens.saturating_sub(last.tokens), replay.window.checked_sub(trigger)?);
    if growth <= room || last.tokens > trigger {
        return None;
    }
    let id = replay.layer(layer);
    let message = format!(
        "between two calls the request grows by {growth} tokens to {tokens}, over the window of {}; {id} acts at about {trigger}, \
         which leaves room for {room}",
        replay.window
    );
    let detection =
        Detection::at_call(replay, Level::Warning, request.call, message).with("layer", id).with("trigger_tokens", trigger);
    Some(detection.with("growth", growth).with("room", room).with("tokens", tokens).with("window", replay.window))
}

/// Tokens of a request before the layers for overflows made it smaller.
fn tokens_before_rescue(replay: &ReplayView, request: &Request) -> u64 {
    let handles_overflow = |layer: usize| replay.policy.layers[layer].when == When::Overflow;
    let before_rescue = replay.journal.events_at(request.call).iter().find_map(|event| match event.kind {
        EventKind::Fired { before, .. } if handles_overflow(event.layer) => Some(before),
        _ => None,
    });
    before_rescue.map_or(request.tokens, |before| before + replay.journal.overhead)
}

fn detect_in_record(replay: &ReplayView) -> Vec<Detection> {
    let (conversation, window) = (replay.conversation, replay.window);
    let billed: Vec<(usize, u64)> =
        conversation.calls.iter().enumerate().filter_map(|(index, call)| Some((index, call.billed()?.request()))).collect();
    let over = billed.windows(2).filter(|pair| pair[1].1 > window && pair[0].1 <= window).map(|pair| {
        let ((_, before), (call, tokens)) = (pair[0], pair[1]);
        let growth = tokens - before;
        let message =
            format!("between two calls the recorded request grows by {growth} tokens to {tokens}, over the window of {window}");
        let detection = Detection::at_call(replay, Level::Warning, call, message).with("growth", growth);
        detection.with("tokens", tokens).with("window", window)
    });
    let late = conversation.compactions.iter().filter_map(|compaction| {
        let tokens = compaction.tokens_before.filter(|tokens| *tokens > window)?;
        let call = conversation.calls.iter().position(|call| call.response >= compaction.message_index)?;
        let message = format!("the recorded session was compacted at {tokens} tokens, over the window of {window}");
        let detection = Detection::at_call(replay, Level::Warning, call, message).at_line(Some(compaction.line));
        Some(detection.with("tokens", tokens).with("window", window))
    });
    over.chain(late).collect()
}
