//! Converts a layer's threshold, which is in units of its own meter, to tokens of the report.

use crate::engine::journal::{EventKind, Journal, ThresholdCheck};
use crate::engine::policy::Policy;

/// Returns the threshold of a layer in tokens of a whole request, system prompt and tools included. Uses the ratio of tokens to the
/// layer's own sizes over all calls. `None` if the threshold of the layer was never checked.
pub fn trigger(policy: &Policy, journal: &Journal, layer: usize) -> Option<u64> {
    let checks = || journal.threshold_checks.iter().filter(move |check| check.layer == layer && check.size > 0);
    let limit = checks().next_back()?.limit;
    // Recorded usage counts system prompt and tools; all other meters count only the messages.
    let uncounted = if uses_recorded_usage(policy, layer) { 0 } else { journal.overhead };
    let (mut tokens, mut size) = (0.0, 0.0);
    for check in checks() {
        let Some(request_tokens) = tokens_at(journal, check) else { continue };
        tokens += request_tokens.saturating_sub(uncounted) as f64;
        size += check.size as f64;
    }
    (size > 0.0).then(|| (limit as f64 * tokens / size).round() as u64).map(|tokens| tokens.saturating_add(uncounted))
}

/// Returns the tokens of the request at the time of a threshold check: if the layer acted then, those before it acted.
fn tokens_at(journal: &Journal, check: &ThresholdCheck) -> Option<u64> {
    let before_action = journal.events_at(check.call).iter().find_map(|event| match event.kind {
        EventKind::Fired { before, .. } if event.layer == check.layer => Some(before),
        _ => None,
    });
    let sent = || journal.request(check.call).map(|request| request.tokens);
    before_action.filter(|_| check.after.is_some()).map(|before| before + journal.overhead).or_else(sent)
}

/// Whether a layer measures by the usage that the provider reported, which counts system prompt and tools.
fn uses_recorded_usage(policy: &Policy, layer: usize) -> bool {
    policy.layers[layer].meter.or(policy.meter).is_some_and(|meter| meter.recorded)
}
