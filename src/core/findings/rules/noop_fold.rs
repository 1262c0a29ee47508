//! `noop_fold`: a layer is over its limit call after call, and removes nothing.
//!
//! What it means: the context is over the `threshold` of a layer that drops or summarises, or over its `max_messages`, and at
//! ten calls or more the layer had nothing that it was allowed to remove. Why it hurts: the limit is not one. The context
//! grows as if there were no policy, and a harness that believes in its own reduction pays for it: in one that summarises,
//! each of these calls may cost a summary that changes nothing. What to change: where a cut may be (`cut`, `keep_first`). A
//! single long run of tool calls has no place for a cut under `cut = "run"` or `cut = "turn"`; `cut = "batch"` finds one behind
//! every batch. A head (`keep_first`) and a tail that together hold more than the limit have the same effect.
//!
//! One finding covers all such calls of a layer. A layer that failed is left out from there on, since its breaker may have
//! opened (`thrash`). Evidence: Semantic Kernel's reducers, which removed nothing in 153 of 167 reductions in two recordings.
//!
//! Precision: of 56 findings of the preset `semantic-kernel-truncation` we looked at the requests of 12. In each request over the
//! limit, the cut falls into a run of calls that goes back to the first message: 12 are right.

use std::collections::BTreeSet;

use crate::engine::journal::EventKind;
use crate::engine::layer::When;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};

/// Fewest calls that make a finding: at a few, a batch may be in the way that a later call can remove. We chose the number.
const LEAST_CALLS: usize = 10;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    (0..replay.policy.layers.len()).filter_map(|layer| of_layer(replay, layer)).collect()
}

fn of_layer(replay: &ReplayView, layer: usize) -> Option<Detection> {
    let (settings, traits) = (&replay.policy.layers[layer], replay.traits(layer));
    if !settings.enabled
        || !matches!(settings.when, When::Always | When::AfterResponse)
        || settings.for_request_only()
        || traits.rewrites_in_place
    {
        return None;
    }
    let events = || replay.journal.events.iter().filter(|event| event.layer == layer);
    let failed = events().find(|event| matches!(event.kind, EventKind::Failed { .. })).map_or(usize::MAX, |event| event.call);
    let acted: BTreeSet<usize> = events().map(|event| event.call).collect();
    let idle = |call: &usize| *call < failed && !acted.contains(call);
    let (limit, calls): (String, Vec<usize>) = if let Some(most) = traits.max_messages.filter(|_| settings.threshold.is_none()) {
        let over = replay.journal.requests.iter().filter(|request| request.messages > most).map(|request| request.call);
        (format!("{most} messages"), over.filter(idle).collect())
    } else {
        let checks = replay.journal.threshold_checks.iter().filter(|check| check.layer == layer && check.due);
        let over = checks.filter(|check| settings.is_over(check.size, check.limit));
        let limit = over.clone().next()?.limit;
        (limit.to_string(), over.map(|check| check.call).filter(idle).collect())
    };
    let first = *calls.first().filter(|_| calls.len() >= LEAST_CALLS)?;
    let (who, all) = (replay.who(layer), replay.journal.requests.len());
    let message = format!("{who} is over its limit of {limit} and removes nothing, at {} of {all} calls", calls.len());
    let detection = Detection::at_call(replay, Level::Warning, first, message).with("layer", replay.layer(layer));
    Some(detection.with("calls", calls.len()).with("of", all))
}
