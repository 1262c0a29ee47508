//! Thresholds, which layers weigh by meters of their own, in the tokens of the report.

use crate::engine::journal::{EventKind, ThresholdCheck};
use crate::findings::timeline::ReplayView;

/// The threshold of a layer in tokens of a whole request, system prompt and tools included: by how many tokens there were to what
/// its meter said, over all calls. None for a layer that was never weighed.
pub(in crate::findings) fn trigger(replay: &ReplayView, layer: usize) -> Option<u64> {
    let weighed = || replay.journal.threshold_checks.iter().filter(move |weighed| weighed.layer == layer && weighed.size > 0);
    let limit = weighed().next_back()?.limit;
    // Recorded usage counts system prompt and tools; all other meters see the messages alone.
    let fixed = if uses_recorded_usage(replay, layer) { 0 } else { replay.journal.overhead };
    let (mut tokens, mut size) = (0.0, 0.0);
    for one in weighed() {
        let Some(whole) = tokens_at(replay, one) else { continue };
        tokens += whole.saturating_sub(fixed) as f64;
        size += one.size as f64;
    }
    (size > 0.0).then(|| (limit as f64 * tokens / size).round() as u64 + fixed)
}

/// Tokens of the request as it was when the layer was weighed: before it acted, where it did.
fn tokens_at(replay: &ReplayView, weighed: &ThresholdCheck) -> Option<u64> {
    let acted = replay.journal.events_at(weighed.call).iter().find_map(|event| match event.what {
        EventKind::Fired { before, .. } if event.layer == weighed.layer => Some(before),
        _ => None,
    });
    let sent = || replay.journal.request(weighed.call).map(|request| request.tokens);
    acted.filter(|_| weighed.after.is_some()).map(|before| before + replay.journal.overhead).or_else(sent)
}

/// Whether a layer weighs by the usage that the provider reported, which counts system prompt and tools.
fn uses_recorded_usage(replay: &ReplayView, layer: usize) -> bool {
    replay.policy.layers[layer].meter.or(replay.policy.meter).is_some_and(|meter| meter.recorded)
}
