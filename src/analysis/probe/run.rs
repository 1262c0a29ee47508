//! The part of a probe that needs no model: chooses the questions and reads their requests.

use std::collections::HashSet;

use super::{Plan, SampledQuestions, Shown, Spot, choose, show};
use crate::analysis::corpus::{self, Corpus, Monitor, RunError, Source};
use crate::analysis::study::Study;
use crate::engine::policy::Policy;

/// The questions of a probe, with the text of their requests.
pub struct Questions {
    pub shown: Vec<Shown>,
    /// Requests that were left out because they are too long.
    pub too_long: usize,
}

impl Questions {
    /// Chooses from the samples of all transcripts, and reads the transcripts of the chosen ones again.
    ///
    /// # Errors
    ///
    /// Fails if there is nothing to ask, if a transcript cannot be read any more, or if the run was stopped.
    pub fn choose(
        (study, policies): (&Study, &[&Policy]),
        plan: &Plan,
        samples: Vec<SampledQuestions>,
        corpus: &dyn Corpus,
        monitor: &dyn Monitor,
    ) -> Result<Self, RunError> {
        let too_long = samples.iter().map(|sample| sample.too_long).sum();
        let spots = choose(samples.into_iter().flat_map(|sample| sample.spots).collect(), plan);
        if spots.is_empty() {
            return Err(nothing_to_ask(too_long, plan.max_context));
        }
        let wanted: HashSet<&str> = spots.iter().map(|spot| spot.transcript.as_str()).collect();
        let show = |source: Source, reading: &mut _| {
            let in_transcript: Vec<Spot> = spots.iter().filter(|spot| spot.transcript == source.name).cloned().collect();
            show(study, policies, plan, &in_transcript, reading)
        };
        let (shown, left) = corpus::read_again(corpus, monitor, |name| wanted.contains(name), |_| None, show)?;
        match left {
            0 => Ok(Self { shown: shown.into_iter().flatten().collect(), too_long }),
            left => Err(RunError::Stopped { done: wanted.len() - left, transcripts: wanted.len() }),
        }
    }

    /// Returns the number of questions.
    pub fn count(&self) -> usize {
        self.shown.iter().map(|shown| shown.spot.questions.len()).sum()
    }
}

fn nothing_to_ask(too_long: usize, max_context: u64) -> RunError {
    let why = match too_long {
        0 => "no call uses a fact last seen two or more calls before".to_owned(),
        some => format!(
            "{some} requests in which a fact was used again are over {max_context} tokens; --max-context allows longer ones"
        ),
    };
    RunError::Nothing(format!("no question could be drawn: {why}"))
}
