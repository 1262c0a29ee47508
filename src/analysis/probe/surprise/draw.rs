//! Draws uses of one conversation under one policy: for each outcome up to [`EACH`].

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::excerpt::find;
use super::prompts::{holders, response_until};
use crate::analysis::probe::{Evaluated, Memory, Outcome, Plan};
use crate::analysis::study::Prepared;
use crate::facts::references::Use;

/// Maximum number of uses that are drawn of one conversation for a policy and an outcome.
const EACH: usize = 24;
/// Maximum bytes of a fact that is asked about. A server writes or reads every token of it, and long facts are repeated lines.
const MAX_FACT_BYTES: usize = 160;

/// Draws uses. Counts those that were looked at and cannot be asked about as left out: the response or the block does not have the fact
/// literally, or it is too long.
pub(super) fn draw(from: &Evaluated, memory: &mut Memory) -> Vec<(u32, ())> {
    let Evaluated { plan, prepared, journal, outcomes, .. } = *from;
    memory.keep_facts(prepared);
    let uses = &prepared.references.uses;
    // All policies see the uses in the same order, so that they often get the same ones: the full request is then asked once.
    let mut order: Vec<u32> = (0..uses.len() as u32).collect();
    order.sort_by_cached_key(|index| rank(&prepared.conversation.name, *index, plan));
    let mut drawn = [0; Outcome::ALL.len()];
    order.retain(|index| {
        let used = &uses[*index as usize];
        let of_outcome = &mut drawn[outcomes[*index as usize] as usize];
        // A call that only fetches a fact again does not write it.
        let is_drawn = *of_outcome < EACH
            && used.refetch.is_none()
            && journal.request(used.call as usize).is_some()
            && memory.is_askable(*index, || is_askable(prepared, used));
        *of_outcome += usize::from(is_drawn);
        is_drawn
    });
    order.into_iter().map(|index| (index, ())).collect()
}

/// Returns the place of a use in the random order of its conversation.
pub(super) fn rank(conversation: &str, index: u32, plan: &Plan) -> u64 {
    xxh3_64_with_seed(format!("{conversation}\n{index}").as_bytes(), plan.seed)
}

/// Whether the response and an earlier block have the fact literally.
fn is_askable(prepared: &Prepared, used: &Use) -> bool {
    let (conversation, references) = (prepared.conversation, &prepared.references);
    let fact = references.facts[used.fact as usize].text.as_str();
    fact.len() <= MAX_FACT_BYTES
        && response_until(conversation, used.call, fact).is_some()
        && holders(references, used).any(|block| find(&conversation.block(block).text(), fact).is_some())
}
