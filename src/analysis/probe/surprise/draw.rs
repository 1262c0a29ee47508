//! Draws uses of one conversation under one policy: for each outcome up to [`EACH`] that a call names, and as many that a call fetches again.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::WritingCall;
use super::excerpt::find;
use super::prompts::{holders, response_until};
use crate::analysis::probe::{Evaluated, Memory, Outcome, Plan};
use crate::analysis::study::Prepared;
use crate::facts::references::Use;

/// Maximum number of uses that are drawn of one conversation for a policy, an outcome and a way to need the fact.
const EACH: usize = 24;
/// Maximum bytes of a fact that is asked about. A server writes or reads every token of it, and long facts are repeated lines.
const MAX_FACT_BYTES: usize = 160;

/// Draws uses. Counts those that were looked at and cannot be asked about as left out: the response or the block does not have the fact
/// literally, or it is too long.
pub(super) fn draw(from: &Evaluated, memory: &mut Memory) -> Vec<(u32, WritingCall)> {
    let Evaluated { plan, prepared, journal, outcomes, .. } = *from;
    memory.keep_facts(prepared);
    let uses = &prepared.references.uses;
    // All policies see the uses in the same order, so that they often get the same ones: the full request is then asked once.
    let mut order: Vec<u32> = (0..uses.len() as u32).collect();
    order.sort_by_cached_key(|index| rank(&prepared.conversation.name, *index, plan));
    let mut drawn = [[0; 2]; Outcome::ALL.len()];
    order.retain(|index| {
        let used = &uses[*index as usize];
        let like_it = &mut drawn[outcomes[*index as usize] as usize][usize::from(used.refetch.is_some())];
        let is_drawn = *like_it < EACH
            && journal.request(used.call as usize).is_some()
            && memory.is_askable(*index, || is_askable(prepared, used));
        *like_it += usize::from(is_drawn);
        is_drawn
    });
    let written = |index: u32| Some((index, written_by(prepared, &uses[index as usize])?));
    order.into_iter().filter_map(written).collect()
}

/// Returns the place of a use in the random order of its conversation.
pub(super) fn rank(conversation: &str, index: u32, plan: &Plan) -> u64 {
    xxh3_64_with_seed(format!("{conversation}\n{index}").as_bytes(), plan.seed)
}

/// Returns the call whose response has the fact literally: the call itself, or the next one that names what it fetches again.
fn written_by(prepared: &Prepared, used: &Use) -> Option<WritingCall> {
    let conversation = prepared.conversation;
    let fact = prepared.references.facts[used.fact as usize].text.as_str();
    let has_fact = |call: &u32| response_until(conversation, *call, fact).is_some();
    match used.refetch {
        None => Some(used.call).filter(has_fact),
        Some(_) => (used.call + 1..conversation.calls.len() as u32).find(has_fact),
    }
}

/// Whether a response and an earlier block have the fact literally.
fn is_askable(prepared: &Prepared, used: &Use) -> bool {
    let references = &prepared.references;
    let fact = references.facts[used.fact as usize].text.as_str();
    fact.len() <= MAX_FACT_BYTES
        && holders(references, used).any(|block| find(&prepared.conversation.block(block).text(), fact).is_some())
        && written_by(prepared, used).is_some()
}
