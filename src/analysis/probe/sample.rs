//! Replays one transcript under each policy, and draws uses of facts.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Outcome, Plan, SampledUse, Scorer};
use crate::analysis::study::{Prepared, Study, unanswered_message};
use crate::engine::journal::Journal;
use crate::engine::policy::Policy;
use crate::engine::replay::NoObserver;
use crate::facts::references::Placebo;
use crate::results::saved::{Kinship, Recording};
use crate::transcript::format::Reading;

/// The uses drawn from one transcript.
#[derive(Debug, Clone)]
pub struct SampledUses<H> {
    pub transcript: String,
    pub uses: Vec<SampledUse<H>>,
    /// What [`Memory::left_out`] counted in all conversations.
    pub left_out: usize,
    /// What its conversations are of other sessions.
    pub(super) kin: Vec<Kinship>,
    /// The facts of conversations, with what the record says about each.
    pub(super) facts: Vec<(Arc<Recording>, Placebo)>,
    /// Why a summarizer had no answer. Then there are no uses of this transcript.
    unanswered: Option<String>,
}

impl<H> SampledUses<H> {
    fn new(transcript: &str) -> Self {
        Self {
            transcript: transcript.to_owned(),
            uses: Vec::new(),
            left_out: 0,
            kin: Vec::new(),
            facts: Vec::new(),
            unanswered: None,
        }
    }

    /// Returns the transcript and why there are no uses of it.
    pub fn unanswered(&self) -> Option<(&str, &str)> {
        Some((self.transcript.as_str(), self.unanswered.as_deref()?))
    }
}

/// A conversation and its replay under one policy.
pub struct Evaluated<'a> {
    pub plan: &'a Plan,
    pub policy: &'a str,
    pub prepared: &'a Prepared<'a>,
    pub journal: &'a Journal,
    /// Outcomes of `References::uses`.
    pub outcomes: &'a [Outcome],
}

/// What a scorer remembers of a conversation from policy to policy.
#[derive(Default)]
pub struct Memory {
    /// Number of uses or of requests that cannot be asked about.
    pub left_out: usize,
    is_askable: HashMap<u32, bool>,
    facts: Option<Placebo>,
}

impl Memory {
    /// Whether a use can be asked about, which is checked once. Counts a use that cannot as left out.
    pub fn is_askable(&mut self, index: u32, check: impl FnOnce() -> bool) -> bool {
        *self.is_askable.entry(index).or_insert_with(|| {
            let is_askable = check();
            self.left_out += usize::from(!is_askable);
            is_askable
        })
    }

    /// Keeps the facts of the conversation, so that [`SampledUse::shared`] is known of the uses of other conversations.
    pub fn keep_facts(&mut self, prepared: &Prepared) {
        self.facts.get_or_insert_with(|| prepared.references.placebo.clone());
    }
}

/// Draws uses from one transcript under each of the policies.
pub fn sample<S: Scorer>(
    study: &Study,
    policies: &[&Policy],
    plan: &Plan,
    transcript: &str,
    reading: &Reading,
) -> SampledUses<S::Hint> {
    let mut sampled = SampledUses::new(transcript);
    for conversation in &reading.conversations {
        let prepared = study.prepare(conversation);
        let recording = Arc::new(Recording::new(transcript, conversation));
        sampled.kin.push(Kinship::new(transcript, conversation));
        let mut memory = Memory::default();
        for policy in policies {
            let (journal, retention) = study.evaluate(&prepared, policy, &mut NoObserver);
            if let Some(missing) = &journal.unanswered {
                let unanswered = Some(unanswered_message(&conversation.name, policy, missing));
                return SampledUses { unanswered, ..SampledUses::new(transcript) };
            }
            let outcomes: Vec<Outcome> = retention.outcomes.iter().map(|outcome| Outcome::from(*outcome)).collect();
            let (journal, outcomes) = (&journal, outcomes.as_slice());
            let drawn = S::draw(&Evaluated { plan, policy: &policy.name, prepared: &prepared, journal, outcomes }, &mut memory);
            sampled.uses.extend(drawn.into_iter().map(|(index, hint)| {
                let used = &prepared.references.uses[index as usize];
                SampledUse {
                    policy: policy.name.clone(),
                    transcript: transcript.to_owned(),
                    conversation: conversation.name.clone(),
                    recording: recording.clone(),
                    call: used.call,
                    index,
                    fact: prepared.references.facts[used.fact as usize].clone(),
                    gap: used.gap,
                    provenance: used.provenance,
                    outcome: outcomes[index as usize],
                    shared: None,
                    hint,
                }
            }));
        }
        sampled.left_out += memory.left_out;
        sampled.facts.extend(memory.facts.map(|facts| (recording, facts)));
    }
    sampled
}
