//! The part that needs no model: chooses the uses and writes their prompts.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Plan, Prompts, SampledUse, SampledUses, choose, trim};
use crate::analysis::corpus::{self, Corpus, Monitor, RunError, Source};
use crate::analysis::study::Study;
use crate::engine::policy::Policy;
use crate::facts::references::Placebo;
use crate::results::saved::Recording;

/// The uses that a model is asked about, with their prompts.
pub struct Uses {
    pub prompts: Vec<Prompts>,
    /// Number of uses that cannot be asked about: see [`SampledUses::unaskable`].
    pub unaskable: usize,
}

impl Uses {
    /// Chooses from the samples of all transcripts, and reads the transcripts of the chosen ones again.
    ///
    /// # Errors
    ///
    /// Fails if there is nothing to ask, if a transcript cannot be read any more, or if the run was stopped.
    pub fn choose(
        (study, policies): (&Study, &[&Policy]),
        plan: &Plan,
        samples: Vec<SampledUses>,
        corpus: &dyn Corpus,
        monitor: &dyn Monitor,
    ) -> Result<Self, RunError> {
        let unaskable = samples.iter().map(|sample| sample.unaskable).sum();
        let (mut drawn, mut facts) = (Vec::new(), Vec::new());
        for sample in samples {
            drawn.extend(sample.uses);
            facts.extend(sample.facts);
        }
        let mut uses = choose(drawn, plan);
        uses.iter_mut().for_each(|used| used.shared = shared(used, &facts));
        if uses.is_empty() {
            return Err(RunError::Nothing(
                "no use could be drawn: no call names a fact last seen two or more calls before as the record has it".to_owned(),
            ));
        }
        let wanted: HashSet<&str> = uses.iter().map(|used| used.transcript.as_str()).collect();
        let write = |source: Source, reading: &mut _| {
            let here: Vec<&SampledUse> = uses.iter().filter(|used| used.transcript == source.name).collect();
            trim(study, policies, plan, &here, reading)
        };
        let (prompts, left) = corpus::read_again(corpus, monitor, |name| wanted.contains(name), |_| None, write)?;
        match left {
            0 => Ok(Self { prompts: prompts.into_iter().flatten().collect(), unaskable }),
            left => Err(RunError::Stopped { done: wanted.len() - left, transcripts: wanted.len() }),
        }
    }
}

/// Returns the share of the other sessions of the repository that have a fact; `None` if none is known.
fn shared(used: &SampledUse, facts: &[(Arc<Recording>, Placebo)]) -> Option<f64> {
    used.recording.project.as_ref()?;
    let others =
        facts.iter().filter(|(other, _)| other.project == used.recording.project && other.session != used.recording.session);
    let found: Vec<bool> = others.filter_map(|(_, facts)| facts.contains(&used.fact)).collect();
    (!found.is_empty()).then(|| found.iter().filter(|found| **found).count() as f64 / found.len() as f64)
}
