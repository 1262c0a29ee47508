//! Runs a study from its description: the shortest way from transcripts to results.

use super::Error;
use super::corpus::{self, Analysed, Corpus, Monitor, NoMonitor, Processed, RunError, Source};
use super::spec::{Files, Loaded, StudySpec};
use super::study::TranscriptResult;
use crate::results::saved::Results;
use crate::transcript::format::Reading;

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
        let processed = self.replay(corpus, monitor);
        let is_stopped = processed.left > 0;
        let (results, end) = self.results(processed)?;
        if is_stopped {
            end?;
        }
        Ok(results)
    }

    /// Replays a corpus as [`Loaded::run`], and returns what became of each transcript.
    pub fn replay(&self, corpus: &dyn Corpus, monitor: &dyn Monitor) -> Processed<TranscriptResult> {
        let replay = |source: Source, reading: &Reading| {
            let result = self.study.transcript(source.name, reading, None);
            source.replayed(reading, self.study.policies.len());
            result
        };
        corpus::for_each(corpus, monitor, |_| None, replay)
    }

    /// Returns the results of the replayed transcripts, and the errors of the others.
    ///
    /// # Errors
    ///
    /// Fails if no transcript could be analysed.
    pub fn results(&self, processed: Processed<TranscriptResult>) -> Result<(Results, Result<(), RunError>), RunError> {
        let Analysed { results, coverage, end } = processed.without(TranscriptResult::unanswered).analysed()?;
        let results = self.study.results(results);
        let coverage = results.coverage.of_all_found(coverage);
        Ok((Results { study: Some(self.record.clone()), coverage, ..results }, end))
    }
}
