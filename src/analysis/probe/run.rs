//! The part of a probe that needs no model: chooses the uses and writes what the model is shown.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Case, Plan, SampledUse, SampledUses, Scorer, choose, show};
use crate::analysis::corpus::{self, Corpus, Monitor, RunError, Source};
use crate::analysis::study::Study;
use crate::engine::policy::Policy;
use crate::facts::references::Placebo;
use crate::results::saved::{Families, Recording, move_to};

/// What a model is asked about.
pub struct Cases<S: Scorer> {
    pub cases: Vec<Case<S>>,
    /// What [`Memory::left_out`](super::Memory::left_out) counted in all transcripts.
    pub left_out: usize,
}

impl<S: Scorer> Cases<S> {
    /// Chooses from the samples of all transcripts, and reads the transcripts of the chosen uses again.
    ///
    /// # Errors
    ///
    /// Fails if there is nothing to ask, if a transcript cannot be read any more, or if the run was stopped.
    pub fn choose(
        (study, policies): (&Study, &[&Policy]),
        plan: &Plan,
        samples: Vec<SampledUses<S::Hint>>,
        corpus: &dyn Corpus,
        monitor: &dyn Monitor,
    ) -> Result<Self, RunError> {
        let left_out = samples.iter().map(|sample| sample.left_out).sum();
        let families = Families::new(samples.iter().flat_map(|sample| &sample.kin));
        let (mut drawn, mut facts) = (Vec::new(), Vec::new());
        for sample in samples {
            drawn.extend(sample.uses);
            facts.extend(sample.facts);
        }
        drawn.iter_mut().for_each(|used: &mut SampledUse<S::Hint>| move_to(&mut used.recording, &families));
        facts.iter_mut().for_each(|(recording, _)| move_to(recording, &families));
        let mut uses = choose::<S>(drawn, plan);
        uses.iter_mut().for_each(|used| used.shared = shared(used, &facts));
        if uses.is_empty() {
            return Err(RunError::Nothing(S::nothing_to_ask(left_out, plan)));
        }
        let wanted: HashSet<&str> = uses.iter().map(|used| used.transcript.as_str()).collect();
        let show = |source: Source, reading: &mut _| {
            let here: Vec<&SampledUse<S::Hint>> = uses.iter().filter(|used| used.transcript == source.name).collect();
            show::<S>(study, policies, plan, &here, reading)
        };
        let (cases, left) = corpus::read_again(corpus, monitor, |name| wanted.contains(name), |_| None, show)?;
        match left {
            0 => Ok(Self { cases: cases.into_iter().flatten().collect(), left_out }),
            left => Err(RunError::Stopped { done: wanted.len() - left, transcripts: wanted.len() }),
        }
    }
}

/// Returns the share of the other sessions of the repository that have a fact; `None` if none is known.
fn shared<H>(used: &SampledUse<H>, facts: &[(Arc<Recording>, Placebo)]) -> Option<f64> {
    used.recording.project.as_ref()?;
    let others =
        facts.iter().filter(|(other, _)| other.project == used.recording.project && other.session != used.recording.session);
    let found: Vec<bool> = others.filter_map(|(_, facts)| facts.contains(&used.fact)).collect();
    (!found.is_empty()).then(|| found.iter().filter(|found| **found).count() as f64 / found.len() as f64)
}
