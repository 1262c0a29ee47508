//! `self_summary`: a summary is made of nothing but an earlier summary.
//!
//! What it means: a layer that summarises replaced earlier summaries, and no other message with them. Why it
//! hurts: the call of the summarizer is paid, the prompt cache is written again behind it, and the request is as large as
//! before, but each copy of a copy says less. It happens where the rules for the span leave only the summary in it: a tail
//! that grows with every call (`keep_recent_messages`, `cut`), or a limit of the input that stops at the first message that
//! does not fit. What to change: a smaller tail, a `threshold` that the rest of the request stays under, or a smallest span
//! (`span.min`).
//!
//! One finding covers all such summaries of a layer. The rule reads recorded summaries, too: a session that was continued
//! begins with one. Evidence: Microsoft's agent-framework 1.23.0, of whose 98 summaries 97 were of its own summary in one
//! recording.
//!
//! Precision: there are two findings in our recordings, both of a session that begins with the summary of an earlier one and is
//! over the threshold with it: both are right.

use crate::engine::context::{Cause, ChangeKind};
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::transcript::conversation::{BlockId, Origin};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    (0..replay.policy.layers.len()).filter_map(|layer| of_layer(replay, layer)).collect()
}

fn of_layer(replay: &ReplayView, layer: usize) -> Option<Detection> {
    let traits = replay.traits(layer);
    if traits.summarizer.is_none() && !traits.repeats_record {
        return None;
    }
    let changes = replay.journal.requests.iter().flat_map(|request| request.changes.iter().map(|change| (request.call, change)));
    let folds = changes.filter(|(_, change)| change.kind == ChangeKind::Replace && change.cause == Cause::Layer(layer));
    let is_summary = |id: &BlockId| replay.block(*id).origin == Origin::Compaction;
    let (mut all, mut own) = (0, Vec::new());
    for (call, change) in folds {
        all += 1;
        if !change.removed.is_empty() && change.removed.iter().all(is_summary) {
            own.push(call);
        }
    }
    let first = *own.first()?;
    // The calls are in order.
    let asked =
        replay.journal.summaries.iter().filter(|summary| summary.layer == layer && own.binary_search(&summary.call).is_ok());
    let paid: u64 = asked.map(|summary| summary.attempt.tokens_in + summary.attempt.prompt).sum();
    let who = replay.who(layer);
    let message = format!("{who} summarises an earlier summary and nothing else, {} of {all} times", own.len());
    let detection = Detection::at_call(replay, Level::Warning, first, message).with("layer", replay.layer(layer));
    Some(detection.with("folds", own.len()).with("of", all).with("tokens_in", paid))
}
