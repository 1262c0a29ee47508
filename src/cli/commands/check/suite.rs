//! One suite → a study of it, asked as the command line would ask for it.

use std::path::Path;

use clap::Parser;
use recompact::analysis::gate::{Measured, Suite, measure};
use recompact::analysis::study::{Study, TranscriptResult};
use recompact::engine::policy::{Policy, Setting, preset};
use recompact::transcript::format::Reading;

use super::Check;
use crate::cli::args::study::StudyArgs;
use crate::cli::error::Failure;
use crate::cli::input::{Source, Transcripts};
use crate::cli::progress::calls_of;
use crate::cli::source::shown;

/// The arguments of a study, with their defaults: a suite is no second way to ask for one.
#[derive(Parser)]
#[command(name = "suite", no_binary_name = true)]
struct Asked {
    #[command(flatten)]
    transcripts: Transcripts,
    #[command(flatten)]
    studied: StudyArgs,
    #[arg(long = "set")]
    settings: Vec<Setting>,
}

impl Check {
    /// What the policies of a suite reached, and what could not be analysed.
    ///
    /// # Errors
    ///
    /// Only that somebody stopped the program: a part of a suite is not judged.
    pub(super) fn suite(&self, suite: &Suite, base: &Path, baseline: &Path) -> Result<(Vec<Measured>, Vec<String>), Failure> {
        let (reached, end) = match self.replayed(suite, base, baseline) {
            Ok((reached, end)) => (reached, end),
            Err(failure) => (Vec::new(), Err(failure)),
        };
        match end {
            Err(failure @ Failure::Stopped { .. }) => Err(failure),
            Err(Failure::Input(problems)) => Ok((reached, problems)),
            Err(failure) => Ok((reached, vec![failure.to_string()])),
            Ok(()) if reached.iter().all(|reached| reached.calls == 0) => {
                Ok((reached, vec!["nothing was replayed: no conversation holds a model call".to_owned()]))
            }
            Ok(()) => Ok((reached, Vec::new())),
        }
    }

    fn replayed(&self, suite: &Suite, base: &Path, baseline: &Path) -> Result<(Vec<Measured>, Result<(), Failure>), Failure> {
        let Asked { transcripts, studied, settings } = Asked::try_parse_from(self.words(suite, base)).map_err(|error| {
            let said = error.to_string();
            Failure::Usage(said.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned())
        })?;
        let (transcripts, studied) = (transcripts.within(base), studied.with_one_writer());
        let asked = studied.asked(&settings)?;
        let study = Study { findings: true, ..studied.study(asked.clone(), None)? };
        let replay = |source: Source, reading: &Reading| {
            let part = study.transcript(source.name, reading, None);
            source.progress.replayed(calls_of(reading) * study.policies.len() as u64);
            part
        };
        let written = [self.present.out(), Some(baseline).filter(|_| self.update)];
        let written: Vec<_> = written.into_iter().chain(self.also.iter().map(|(_, file)| Some(file.as_path()))).collect();
        let done = transcripts.for_each(&written, false, replay, replay, |_| None)?;
        let (parts, end) = done.without(TranscriptResult::unanswered).analysed()?;
        let results = transcripts.install(|| study.results(parts))?;
        let policies: Vec<&Policy> = asked.iter().collect();
        Ok((measure(&results, &policies, &suite.columns()), end))
    }

    /// The suite as arguments; paths of files other than transcripts start from the current folder.
    fn words(&self, suite: &Suite, base: &Path) -> Vec<String> {
        let asked = &suite.asked;
        let file = |path: &String| shown(&base.join(path));
        let policy = |name: &String| if preset(name).is_some() { name.clone() } else { file(name) };
        let prices = |name: &String| if base.join(name).is_file() { file(name) } else { name.clone() };
        let mut words: Vec<String> = asked.policies.iter().map(|name| format!("--policy={}", policy(name))).collect();
        words.extend(asked.set.iter().map(|setting| format!("--set={setting}")));
        let options = [
            ("summarizer", asked.summarizer.clone()),
            ("cassette", asked.cassette.as_ref().map(file)),
            ("cassette-mode", asked.cassette.as_ref().map(|_| "replay".to_owned())),
            ("window", asked.window.map(|tokens| tokens.to_string())),
            ("overhead", asked.overhead.map(|tokens| tokens.to_string())),
            ("tokenizer", asked.tokenizer.clone()),
            ("prices", asked.prices.as_ref().map(prices)),
            ("jobs", self.jobs.map(|jobs| jobs.to_string())),
        ];
        words.extend(options.into_iter().filter_map(|(option, value)| Some(format!("--{option}={}", value?))));
        words.extend(self.quiet.then(|| "--quiet".to_owned()));
        words.push("--".to_owned());
        words.extend(asked.transcripts.iter().cloned());
        words
    }
}
