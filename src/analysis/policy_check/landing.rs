//! Where layers with `down_to` bring the context.

use super::layers::enabled;
use super::{LANDS, Landing, LayerUse, Remark};
use crate::engine::layer::Layer;
use crate::engine::policy::Policy;
use crate::findings::Level;

/// Returns, of each layer that brought the context down to a size, from where to where, and how often it came there. It is a warning
/// if it never did: its other limits keep too much.
pub fn lands(policy: &Policy, seen: &[LayerUse]) -> Vec<Remark> {
    let remark = |(index, layer): (usize, &Layer)| {
        let landings = &seen.get(index)?.landings;
        let target = layer.spec.traits().down_to?;
        let [before, after] = [median(landings, |at| at.before)?, median(landings, |at| at.after)?];
        let reached = landings.iter().filter(|at| at.after <= at.target).count();
        let (level, why) = match reached {
            0 => (Level::Warning, "; its other limits keep too much"),
            _ => (Level::Note, ""),
        };
        let of = landings.len();
        let message = format!(
            "brings the context from {before} to {after} (medians); it reaches `down_to = {target}` {reached} of {of} times{why}"
        );
        Some(Remark::new(level, LANDS, &layer.id, message))
    };
    enabled(policy).filter_map(remark).collect()
}

/// Returns the median; of an even number of sizes the smaller one in the middle. `None` without any.
fn median(landings: &[Landing], size: impl Fn(&Landing) -> u64) -> Option<u64> {
    let mut sizes: Vec<u64> = landings.iter().map(size).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len().checked_sub(1)? / 2).copied()
}
