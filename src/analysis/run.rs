//! Runs a study from its description: the shortest way from transcripts to results.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Error;
use super::corpus::{self, Analysed, Corpus, Done, Monitor, NoMonitor, Outcomes, Processed, RunError, Source};
use super::resume::{Checkpoint, EarlierResults, ONE_ROUND, unfinished};
use super::spec::{Files, Loaded, StudySpec};
use super::study::{NamedSummarizer, Observers, TranscriptResult};
use crate::engine::policy::Policy;
use crate::llm::client::Address;
use crate::results::saved::{Families, Results};
use crate::transcript::format::Reading;
use crate::util::spill::Spill;

/// What a replay takes over, and what watches it.
#[derive(Default)]
pub struct ReplayHooks<'a> {
    /// What an earlier run has: a run that was stopped, or the last one of a study that [is repeatable](Loaded::is_repeatable).
    pub earlier: Option<&'a dyn EarlierResults>,
    /// Watch every request. The transcripts are then replayed one after another, and none is taken over.
    pub observers: Option<&'a mut (dyn Observers + Send)>,
}

/// What became of the transcripts of a replay.
pub type Replayed = Processed<Checkpoint<TranscriptResult>>;

/// What became of each transcript of a replay.
pub type ReplayOutcomes = Outcomes<Checkpoint<TranscriptResult>>;

impl StudySpec {
    /// Replays a corpus. Policies and prices are read from the current folder, and no model is asked; [`StudySpec::load`] and
    /// [`Loaded::run`] take other resources.
    ///
    /// # Errors
    ///
    /// Fails if the description is wrong, or if no transcript can be analysed.
    pub fn run(&self, corpus: &dyn Corpus) -> Result<Results, Error> {
        self.load(&Files::default())?.run(corpus, &NoMonitor)
    }
}

impl Loaded {
    /// Replays a corpus on the current thread pool of rayon. [`Results::coverage`] names the transcripts that could not be read.
    ///
    /// # Errors
    ///
    /// Fails if no transcript can be analysed, or if the monitor stopped the run.
    pub fn run(self, corpus: &dyn Corpus, monitor: &dyn Monitor) -> Result<Results, Error> {
        let (results, end) = self.results(self.replay(corpus, monitor, ReplayHooks::default()))?;
        if results.unfinished.is_some() {
            end?;
        }
        Ok(results)
    }

    /// Replays a corpus as [`Loaded::run`], and returns what became of each transcript.
    pub fn replay(&self, corpus: &dyn Corpus, monitor: &dyn Monitor, hooks: ReplayHooks) -> Replayed {
        let Some(observers) = hooks.observers else {
            let outcomes = self.outcomes(corpus, monitor, hooks.earlier);
            return Processed::new(match hooks.earlier {
                Some(earlier) => earlier.keep(outcomes, monitor),
                None => outcomes,
            });
        };
        corpus::for_each_in_order(corpus, monitor, |source, reading| {
            let done = self.checkpoint(source, reading, Some(&mut *observers));
            observers.transcript_done(&done.result);
            done
        })
    }

    /// Whether the same transcripts always give the same results: neither a model nor a program answers.
    pub fn is_repeatable(&self) -> bool {
        let runs_programs =
            |policy: &Policy| policy.layers.iter().any(|layer| layer.enabled && layer.spec.traits().program.is_some());
        let asks_models = |summarizer: &NamedSummarizer| Address::parse(&summarizer.name).is_some();
        !self.study.replayed().any(runs_programs) && !self.study.summarizers.iter().any(asks_models)
    }

    /// Replays a corpus, for [`Loaded::part`]. Takes over what an earlier run has.
    pub fn outcomes(&self, corpus: &dyn Corpus, monitor: &dyn Monitor, earlier: Option<&dyn EarlierResults>) -> ReplayOutcomes {
        let (spill, is_full) = (Spill::default(), AtomicBool::new(false));
        let held = |mut done: Checkpoint<TranscriptResult>| {
            if let Err(error) = done.result.spill(&spill)
                && !is_full.swap(true, Ordering::Relaxed)
            {
                monitor.note(&format!("results stay in memory, because the temporary file for them cannot be written: {error}"));
            }
            done
        };
        let saved = |source: Source| {
            let Done { result, skipped_lines } = earlier?.take(source)?;
            Some(Done { result: held(result), skipped_lines })
        };
        corpus::outcomes(corpus, monitor, saved, |source, reading| held(self.checkpoint(source, reading, None)))
    }

    fn checkpoint(
        &self,
        source: Source,
        reading: &Reading,
        observers: Option<&mut dyn Observers>,
    ) -> Checkpoint<TranscriptResult> {
        let result = self.study.transcript(source.name, reading, observers);
        source.replayed(reading, self.study.policies.len());
        Checkpoint::new(source, ONE_ROUND, result)
    }

    /// Returns the results of the replayed transcripts, and the errors of the others. If the run was stopped, the results hold what a
    /// later one can take over.
    ///
    /// # Errors
    ///
    /// Fails if no transcript could be analysed.
    pub fn results(&self, replayed: Replayed) -> Result<(Results, Result<(), RunError>), RunError> {
        let replayed = of_whole_sessions(replayed).without(|checkpoint| checkpoint.result.unanswered());
        let is_stopped = replayed.left > 0;
        let Analysed { results: checkpoints, coverage, end } = replayed.analysed()?;
        let unfinished = is_stopped.then(|| unfinished(&checkpoints, coverage.found));
        let results = self.study.results(checkpoints.into_iter().map(|checkpoint| checkpoint.result).collect());
        let coverage = results.coverage.of_all_found(coverage);
        Ok((Results { study: Some(self.record.clone()), unfinished, coverage, ..results }, end))
    }
}

/// Leaves out the other transcripts of sessions in which a policy or a summarizer gave no answer: a session without its sub-agents, or
/// these without it, would be another one.
fn of_whole_sessions(mut replayed: Replayed) -> Replayed {
    let results = || replayed.results.iter().map(|checkpoint| &checkpoint.result);
    let mut unanswered = results().filter_map(|result| Some((result, result.unanswered()?.0))).peekable();
    if unanswered.peek().is_none() {
        return replayed;
    }
    let families = Families::new(results().flat_map(TranscriptResult::kin));
    let sessions = |result: &TranscriptResult| -> Vec<String> {
        result.kin().iter().map(|kin| families.head(kin.session()).to_owned()).collect()
    };
    let mut broken: HashMap<String, String> = HashMap::new();
    for (result, transcript) in unanswered {
        for session in sessions(result) {
            broken.entry(session).or_insert_with(|| transcript.to_owned());
        }
    }
    for checkpoint in &mut replayed.results {
        let result = &mut checkpoint.result;
        if result.unanswered().is_none()
            && let Some(other) = sessions(result).iter().find_map(|session| broken.get(session))
        {
            result.leave_out(format!("{other} is of the same session and has no answer"));
        }
    }
    replayed
}
