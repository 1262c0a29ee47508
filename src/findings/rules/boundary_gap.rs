//! `boundary_gap`: a layer that waits for the user's next turn is over its threshold, and waits.
//!
//! What it means: the layer asks for the size only when a person types (`when = "user-turn"` or `when = { turns = … }`), and in the
//! middle of a turn the context passed its threshold. Why it hurts: an agent's turn is dozens of calls long; the threshold says
//! nothing about how large the context gets in it, and an overflow in mid-turn finds the layer asleep. What to change: look before
//! every request (leave `when` out), or add a layer that does with a higher `threshold`.
//!
//! Told once a wait, at its first call. Silent for the record, which does not tell what its harness waited for.
//!
//! Evidence: goose #11049, #11072 (turn boundary only), learn-claude-code's Java port, which looks at the size before each line that
//! the user types.
//!
//! Precision: of 26 findings in 31 recordings under learn-claude-code's Java port 13 were opened, and 13 are right. Where another
//! layer edits what is sent (`scope = "request"`), the request itself can be smaller than what the layer weighs, as in one of them.

use crate::engine::journal::ThresholdCheck;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::util::text::plural;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let layers = 0..replay.policy.layers.len();
    layers.flat_map(|layer| waits(replay, layer)).collect()
}

/// The waits of one layer.
fn waits(replay: &ReplayView, layer: usize) -> Vec<Detection> {
    let strict = replay.policy.layers[layer].strict;
    let of_layer: Vec<&ThresholdCheck> =
        replay.journal.threshold_checks.iter().filter(|weighed| weighed.layer == layer).collect();
    let is_waiting =
        |weighed: &ThresholdCheck| !weighed.due && (weighed.size > weighed.limit || (!strict && weighed.size == weighed.limit));
    let runs = of_layer.chunk_by(|one, other| is_waiting(one) == is_waiting(other));
    runs.filter(|run| is_waiting(run[0])).filter_map(|run| tell(replay, layer, run)).collect()
}

fn tell(replay: &ReplayView, layer: usize, run: &[&ThresholdCheck]) -> Option<Detection> {
    let (first, largest) = (run.first()?, run.iter().max_by_key(|weighed| weighed.size)?);
    let ThresholdCheck { size, limit, .. } = **largest;
    let (id, calls) = (replay.layer(layer), run.len());
    let percent = size as f64 / limit.max(1) as f64 * 100.0;
    let for_calls = plural(calls, "call");
    let message = format!("{id} waits for the next turn through {for_calls}, up to {size} of {limit} ({percent:.0} %)");
    let found = Detection::at_call(replay, Level::Warning, first.call, message).with("layer", id).with("calls", calls);
    Some(found.with("size", size).with("limit", limit))
}
