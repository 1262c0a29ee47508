//! Runs a study from its description: the shortest way from transcripts to results.

use super::Error;
use super::corpus::{self, Corpus, Monitor, NoMonitor, Source};
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
        let Loaded { study, record, .. } = self;
        let replay = |source: Source, reading: &Reading| {
            let result = study.transcript(source.name, reading, None);
            source.replayed(reading, study.policies.len());
            result
        };
        let processed = corpus::for_each(corpus, monitor, |_| None, replay).without(TranscriptResult::unanswered);
        let is_stopped = processed.left > 0;
        let analysed = processed.analysed()?;
        if is_stopped {
            analysed.end?;
        }
        let results = study.results(analysed.results);
        let coverage = results.coverage.of_all_found(analysed.coverage);
        Ok(Results { study: Some(record), coverage, ..results })
    }
}
