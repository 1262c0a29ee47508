//! Runs the study of one suite, through the same arguments as the command line.

use std::path::Path;

use clap::Parser;
use recompact::analysis::gate::{Measured, Suite, measure};
use recompact::analysis::study::{Study, TranscriptResult};
use recompact::engine::policy::{Policy, Setting, preset};
use recompact::results::saved::Coverage;
use recompact::transcript::format::Reading;

use super::Check;
use crate::cli::args::study::StudyArgs;
use crate::cli::error::Failure;
use crate::cli::input::{Analysed, Source, Transcripts};
use crate::cli::progress::calls_of;
use crate::cli::source::display_path;

/// The arguments of a study, with their defaults, so that a suite accepts the same values as the command line.
#[derive(Parser)]
#[command(name = "suite", no_binary_name = true)]
struct SuiteArgs {
    #[command(flatten)]
    transcripts: Transcripts,
    #[command(flatten)]
    study_args: StudyArgs,
    #[arg(long = "set")]
    settings: Vec<Setting>,
}

/// What the replays of one suite gave.
#[derive(Default)]
pub(super) struct SuiteResult {
    /// The values of each policy.
    pub measured: Vec<Measured>,
    pub coverage: Coverage,
    /// What prevented an analysis.
    pub problems: Vec<String>,
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
        match end {
            Err(failure @ Failure::Stopped { .. }) => return Err(failure),
            Err(Failure::Input(problems)) => result.problems = problems,
            Err(failure) => result.problems.push(failure.to_string()),
            Ok(()) if result.measured.iter().all(|measured| measured.calls == 0) => {
                result.problems.push("nothing was replayed: no conversation holds a model call".to_owned());
            }
            Ok(()) => {}
        }
        Ok(result)
    }

    fn replay(&self, suite: &Suite, base: &Path, baseline: &Path) -> Result<(SuiteResult, Result<(), Failure>), Failure> {
        let SuiteArgs { transcripts, study_args, settings } =
            SuiteArgs::try_parse_from(self.arguments(suite, base)).map_err(|error| {
                let message = error.to_string();
                Failure::Usage(message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned())
            })?;
        let (transcripts, study_args) = (transcripts.within(base), study_args.without_comparison());
        let policies = study_args.policies(&settings)?;
        let study = Study { findings: true, ..study_args.study(policies.clone(), None)? };
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

    /// Converts the suite to arguments. Paths are relative to the suite file; those other than transcripts are made
    /// relative to the current folder.
    fn arguments(&self, suite: &Suite, base: &Path) -> Vec<String> {
        let study = &suite.table;
        let file = |path: &String| display_path(&base.join(path));
        let policy = |name: &String| if preset(name).is_some() { name.clone() } else { file(name) };
        let prices = |name: &String| if base.join(name).is_file() { file(name) } else { name.clone() };
        let mut arguments: Vec<String> = study.policies.iter().map(|name| format!("--policy={}", policy(name))).collect();
        arguments.extend(study.set.iter().map(|setting| format!("--set={setting}")));
        let options = [
            ("summarizer", study.summarizer.clone()),
            ("cassette", study.cassette.as_ref().map(file)),
            ("cassette-mode", study.cassette.as_ref().map(|_| "replay".to_owned())),
            ("window", study.window.map(|tokens| tokens.to_string())),
            ("overhead", study.overhead.map(|tokens| tokens.to_string())),
            ("tokenizer", study.tokenizer.clone()),
            ("prices", study.prices.as_ref().map(prices)),
            ("jobs", self.jobs.map(|jobs| jobs.to_string())),
        ];
        arguments.extend(options.into_iter().filter_map(|(option, value)| Some(format!("--{option}={}", value?))));
        arguments.extend(self.quiet.then(|| "--quiet".to_owned()));
        arguments.push("--".to_owned());
        arguments.extend(study.transcripts.iter().cloned());
        arguments
    }
}
