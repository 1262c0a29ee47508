//! Runs the study of one suite.

use std::path::Path;

use recompact::analysis::gate::{Measured, Problem, Suite, measure};
use recompact::analysis::spec::{Loaded, SpecError};
use recompact::analysis::study::TranscriptResult;
use recompact::engine::policy::Policy;
use recompact::results::saved::Coverage;
use recompact::transcript::format::Reading;

use super::Check;
use crate::cli::args::models::ModelArgs;
use crate::cli::error::Failure;
use crate::cli::input::{Analysed, Source, Transcripts};
use crate::cli::progress::calls_of;
use crate::cli::resources::CommandResources;

/// What the replays of one suite gave.
#[derive(Default)]
pub(super) struct SuiteResult {
    /// The values of each policy.
    pub measured: Vec<Measured>,
    pub coverage: Coverage,
    /// What prevented an analysis.
    pub problems: Vec<Problem>,
}

impl Check {
    /// Replays the transcripts of a suite through its policies.
    ///
    /// Only fails if the user stopped the program: a part of a suite is not checked.
    pub(super) fn suite(&self, suite: &Suite, base: &Path, baseline: &Path) -> Result<SuiteResult, Failure> {
        let (mut result, end) = match self.replay(suite, base, baseline) {
            Ok(result) => result,
            Err(failure) => (SuiteResult::default(), Err(failure)),
        };
        let at_transcripts = |what| suite.problem("transcripts", None, what);
        match end {
            Err(failure @ Failure::Stopped { .. }) => return Err(failure),
            Err(Failure::Input(problems)) => result.problems = problems.into_iter().map(at_transcripts).collect(),
            Err(Failure::Spec(SpecError { field, item, error })) => {
                result.problems.push(suite.problem(field, item, error.to_string()));
            }
            Err(failure) => result.problems.push(at_transcripts(failure.to_string())),
            Ok(()) if result.measured.iter().all(|measured| measured.calls == 0) => {
                let what = "nothing was replayed: no conversation holds a model call";
                result.problems.push(at_transcripts(what.to_owned()));
            }
            Ok(()) => {}
        }
        Ok(result)
    }

    fn replay(&self, suite: &Suite, base: &Path, baseline: &Path) -> Result<(SuiteResult, Result<(), Failure>), Failure> {
        let table = &suite.table;
        let cassette = table.cassette.as_ref().map(|folder| ModelArgs::replaying(base.join(folder)));
        let models = cassette.as_ref().map(ModelArgs::factory);
        let resources = CommandResources { base: base.to_owned(), models, ..CommandResources::default() };
        let Loaded { study, policies, .. } = table.study.load(&resources)?;
        let transcripts = Transcripts::of_suite(&table.transcripts, base, &table.study.read, (self.quiet, self.jobs))?;
        let replay = |source: Source, reading: &Reading| {
            let result = study.transcript(source.name, reading, None);
            source.progress.replayed(calls_of(reading) * study.policies.len() as u64);
            result
        };
        let written = [self.output.out(), Some(baseline).filter(|_| self.update)];
        let written: Vec<_> = written.into_iter().chain(self.also.iter().map(|(_, file)| Some(file.as_path()))).collect();
        let done = transcripts.for_each(&written, false, replay, replay, |_| None)?;
        let done = done.without(TranscriptResult::unanswered);
        let Analysed { results: transcript_results, coverage, end } = done.analysed()?;
        let results = transcripts.install(|| study.results(transcript_results))?;
        let policies: Vec<&Policy> = policies.iter().collect();
        let measured = measure(&results, &policies, &suite.columns());
        let coverage = results.coverage.of_all_found(coverage);
        Ok((SuiteResult { measured, coverage, problems: Vec::new() }, end))
    }
}
