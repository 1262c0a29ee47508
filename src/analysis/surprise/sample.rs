//! Draws uses of facts from one transcript: for each policy and outcome up to [`EACH`].

use std::collections::HashMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::excerpt::find;
use super::prompts::{holders, response_until};
use super::{Outcome, Plan, SampledUse};
use crate::analysis::study::{Prepared, Study, unanswered_message};
use crate::engine::policy::Policy;
use crate::engine::replay::NoObserver;
use crate::facts::references::{Placebo, Use};
use crate::results::saved::Recording;
use crate::transcript::format::Reading;

/// Maximum number of uses that are drawn of one conversation for a policy and an outcome.
const EACH: usize = 24;
/// Maximum bytes of a fact that is asked about. A server writes or reads every token of it, and long facts are repeated lines.
const MAX_FACT_BYTES: usize = 160;

/// The uses drawn from one transcript.
#[derive(Debug, Clone, Default)]
pub struct SampledUses {
    pub transcript: String,
    pub uses: Vec<SampledUse>,
    /// The facts of each conversation, with what the record says about it.
    pub(super) facts: Vec<(Arc<Recording>, Placebo)>,
    /// Number of uses that cannot be asked about: the response or the block does not have the fact literally, or it is too long.
    pub unaskable: usize,
    /// Why a summarizer had no answer. Then there are no uses of this transcript.
    unanswered: Option<String>,
}

impl SampledUses {
    /// Returns the transcript and why there are no uses of it.
    pub fn unanswered(&self) -> Option<(&str, &str)> {
        Some((self.transcript.as_str(), self.unanswered.as_deref()?))
    }
}

/// Draws uses from one transcript under each of the policies.
pub fn sample(study: &Study, policies: &[&Policy], plan: &Plan, transcript: &str, reading: &Reading) -> SampledUses {
    let mut sampled = SampledUses { transcript: transcript.to_owned(), ..SampledUses::default() };
    for conversation in &reading.conversations {
        let prepared = study.prepare(conversation);
        let uses = &prepared.references.uses;
        // All policies see the uses in the same order, so that they often get the same ones: the full request is then asked once.
        let mut order: Vec<u32> = (0..uses.len() as u32).collect();
        order.sort_by_cached_key(|index| rank(&conversation.name, *index, plan));
        let mut askable: HashMap<u32, bool> = HashMap::new();
        let recording = Arc::new(Recording::new(transcript, conversation));
        for policy in policies {
            let (journal, retention) = study.evaluate(&prepared, policy, &mut NoObserver);
            if let Some(missing) = &journal.unanswered {
                let unanswered = Some(unanswered_message(&conversation.name, policy, missing));
                return SampledUses { unanswered, transcript: sampled.transcript, ..SampledUses::default() };
            }
            let mut drawn = [0; Outcome::ALL.len()];
            for index in &order {
                let (used, outcome) = (&uses[*index as usize], Outcome::from(retention.outcomes[*index as usize]));
                if drawn[outcome as usize] >= EACH || journal.request(used.call as usize).is_none() {
                    continue;
                }
                if !*askable.entry(*index).or_insert_with(|| is_askable(&prepared, used)) {
                    continue;
                }
                drawn[outcome as usize] += 1;
                let fact = &prepared.references.facts[used.fact as usize];
                sampled.uses.push(SampledUse {
                    policy: policy.name.clone(),
                    transcript: transcript.to_owned(),
                    conversation: conversation.name.clone(),
                    recording: recording.clone(),
                    call: used.call,
                    index: *index,
                    fact: fact.clone(),
                    gap: used.gap,
                    provenance: used.provenance,
                    outcome,
                    shared: None,
                });
            }
        }
        sampled.facts.push((recording, prepared.references.placebo.clone()));
        sampled.unaskable += askable.values().filter(|askable| !**askable).count();
    }
    sampled
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
