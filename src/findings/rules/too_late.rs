//! `too_late`: the context jumps over trigger and window in one round.
//!
//! What it means: a request was over the window, and the layers that watch the size had not acted, because at the call before it was
//! still under their trigger. What one round brought is larger than the room between trigger and window. Why it hurts: the API
//! refuses the request, and what is left is an emergency: a layer for overflows (`when = "overflow"`), or the end of the session.
//! What to change: a lower `threshold`, or a cap on what a single round can bring (a `persist` or `truncate` layer with
//! `when = "entry"`), so that the largest round fits into the room that is left.
//!
//! Told at the first request of a row. A layer whose trigger is beyond the window is `never_fired`'s. Of the record: a call that was
//! billed more than the window, or a compaction that was made above it.
//!
//! Evidence: claude-code #34179, #75335, codex #24779, Roo #10968.
//!
//! Precision: none in 31 recordings with the windows they name. Held against a window of 60,000 the record has 66; 12 were opened, and
//! 12 are right.

use crate::engine::journal::{EventKind, Request};
use crate::engine::layer::When;
use crate::findings::Level;
use crate::findings::timeline::trigger::trigger;
use crate::findings::timeline::{Detection, ReplayView};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() {
        return of_the_record(replay);
    }
    let requests = &replay.journal.requests;
    let in_a_row = |at: usize| at > 0 && requests[at - 1].overflowed;
    let first = (1..requests.len()).filter(|at| requests[*at].overflowed && !in_a_row(*at));
    first.filter_map(|at| jumped(replay, &requests[at - 1], &requests[at])).collect()
}

fn jumped(replay: &ReplayView, last: &Request, request: &Request) -> Option<Detection> {
    let watched = |layer: &usize| replay.policy.layers[*layer].enabled && replay.policy.layers[*layer].threshold.is_some();
    let mut watching = (0..replay.policy.layers.len()).filter(watched).peekable();
    watching.peek()?;
    if replay.journal.events_at(request.call).iter().any(|event| watched(&event.layer)) {
        return None;
    }
    let (layer, trigger) =
        watching.filter_map(|layer| Some((layer, trigger(replay, layer)?))).min_by_key(|(_, trigger)| *trigger)?;
    let tokens = refused(replay, request);
    let (growth, room) = (tokens.saturating_sub(last.tokens), replay.window.checked_sub(trigger)?);
    if growth <= room || last.tokens > trigger {
        return None;
    }
    let id = replay.layer(layer);
    let message = format!(
        "the request grows by {growth} tokens in one round to {tokens}, over the window of {}; {id}, which acts at about {trigger}, \
         leaves room for {room}",
        replay.window
    );
    let found =
        Detection::at_call(replay, Level::Warning, request.call, message).with("layer", id).with("trigger_tokens", trigger);
    Some(found.with("growth", growth).with("room", room).with("tokens", tokens).with("window", replay.window))
}

/// Tokens of a request before the layers for overflows mended it.
fn refused(replay: &ReplayView, request: &Request) -> u64 {
    let mends = |layer: usize| replay.policy.layers[layer].when == When::Overflow;
    let mended = replay.journal.events_at(request.call).iter().find_map(|event| match event.what {
        EventKind::Fired { before, .. } if mends(event.layer) => Some(before),
        _ => None,
    });
    mended.map_or(request.tokens, |before| before + replay.journal.overhead)
}

fn of_the_record(replay: &ReplayView) -> Vec<Detection> {
    let (conversation, window) = (replay.conversation, replay.window);
    let billed: Vec<(usize, u64)> =
        conversation.calls.iter().enumerate().filter_map(|(call, of)| Some((call, of.billed()?.request()))).collect();
    let over = billed.windows(2).filter(|two| two[1].1 > window && two[0].1 <= window).map(|two| {
        let ((_, before), (call, tokens)) = (two[0], two[1]);
        let growth = tokens - before;
        let message =
            format!("the recorded request grows by {growth} tokens in one round to {tokens}, over the window of {window}");
        let found = Detection::at_call(replay, Level::Warning, call, message).with("growth", growth);
        found.with("tokens", tokens).with("window", window)
    });
    let late = conversation.compactions.iter().filter_map(|compaction| {
        let tokens = compaction.tokens_before.filter(|tokens| *tokens > window)?;
        let call = conversation.calls.iter().position(|call| call.response >= compaction.at)?;
        let message = format!("the record was compacted at {tokens} tokens, over the window of {window}");
        let found = Detection::at_call(replay, Level::Warning, call, message).at_line(Some(compaction.line));
        Some(found.with("tokens", tokens).with("window", window))
    });
    over.chain(late).collect()
}
