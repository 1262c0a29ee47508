//! `boundary_gap`: a layer is over its threshold, but waits for the user's next turn.
//!
//! What it means: the layer checks the size only when a person types (`when = "user-turn"` or `when = { turns = … }`),
//! and in the middle of a turn the context passed its threshold. Why it hurts: an agent's turn is dozens of calls long.
//! The threshold does not limit how large the context gets within a turn, and the layer does not act if the window
//! overflows in the middle of one. What to change: check before every request (leave `when` out), or add a layer with a
//! higher `threshold` that does.
//!
//! Each wait is reported once, at its first call. The rule does not run on the recorded session, because the record
//! does not show what its harness waited for.
//!
//! Evidence: goose #11049, #11072 (turn boundary only); learn-claude-code's Java port, which checks the size before
//! each line that the user types.
//!
//! Precision: of 26 findings in 31 recordings under learn-claude-code's Java port we opened 13, and 13 are right. If
//! another layer edits what is sent (`scope = "request"`), the request itself can be smaller than the size that the
//! layer measures; this is so in one of them.

use crate::engine::journal::ThresholdCheck;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::util::text::plural;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let layers = 0..replay.policy.layers.len();
    layers.flat_map(|layer| waits(replay, layer)).collect()
}

/// Reports the waits of one layer.
fn waits(replay: &ReplayView, layer: usize) -> Vec<Detection> {
    let checks: Vec<&ThresholdCheck> = replay.journal.threshold_checks.iter().filter(|check| check.layer == layer).collect();
    let is_waiting = |check: &ThresholdCheck| !check.due && replay.policy.layers[layer].is_over(check.size, check.limit);
    let runs = checks.chunk_by(|check, next| is_waiting(check) == is_waiting(next));
    runs.filter(|run| is_waiting(run[0])).filter_map(|wait| detection(replay, layer, wait)).collect()
}

fn detection(replay: &ReplayView, layer: usize, wait: &[&ThresholdCheck]) -> Option<Detection> {
    let (first, largest) = (wait.first()?, wait.iter().max_by_key(|check| check.size)?);
    let ThresholdCheck { size, limit, .. } = **largest;
    let (id, calls) = (replay.layer(layer), wait.len());
    let percent = size as f64 / limit.max(1) as f64 * 100.0;
    let message = format!(
        "{id} waits {} for the user's next turn; the context reaches {size} of the threshold {limit} ({percent:.0} %)",
        plural(calls, "call")
    );
    let detection = Detection::at_call(replay, Level::Warning, first.call, message).with("layer", id).with("calls", calls);
    Some(detection.with("size", size).with("limit", limit))
}
