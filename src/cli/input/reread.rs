//! Reads transcripts again that were read before. Problems with them were reported the first time.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use recompact::llm::client::Limits;
use recompact::transcript::format::Reading;

use super::processed::ReadOutcome;
use super::{Source, Transcripts};
use crate::cli::error::Failure;
use crate::cli::progress::Progress;
use crate::cli::source::{self, Input};

impl Transcripts {
    /// Fails if a path can be read only once.
    pub fn must_be_files(&self) -> Result<(), Failure> {
        if self.paths.iter().any(|path| path == Path::new("-")) {
            let message = "standard input can be read only once, but this command reads transcripts several times: name a file";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(())
    }

    /// Reads the wanted transcripts again and runs `work` on them, several at a time, unless they have a saved result.
    /// Returns the results in the order of the paths, and the number of transcripts not started when the user stopped
    /// the program.
    pub fn read_again<T: Send>(
        &self,
        progress: &Progress,
        is_wanted: impl Fn(&str) -> bool,
        saved: impl Fn(Source) -> Option<T> + Sync,
        work: impl Fn(Source, &mut Reading) -> T + Sync,
    ) -> Result<(Vec<T>, usize), Failure> {
        let (mut inputs, _) = source::find(&self.base, &self.paths);
        inputs.retain(|input| is_wanted(&input.name));
        let process = |input: &Input| match self.process(input, progress, &mut |source, reading| work(source, reading), &saved) {
            (ReadOutcome::Unreadable(why) | ReadOutcome::Skipped(why), _) => {
                Err(Failure::Input(vec![format!("{}: {why} (it was read before)", input.name)]))
            }
            (ReadOutcome::Read(_) | ReadOutcome::Saved | ReadOutcome::Left, result) => Ok(result),
        };
        let results: Vec<Option<T>> = self.install(|| inputs.par_iter().map(process).collect::<Result<_, Failure>>())??;
        let left = results.iter().filter(|result| result.is_none()).count();
        Ok((results.into_iter().flatten().collect(), left))
    }

    /// Runs work on the thread pool with the requested number of threads.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        Ok(self.pool()?.install(work))
    }

    /// Returns a progress bar over questions to a model.
    pub fn question_progress(&self, questions: u64, model_limits: Arc<Limits>) -> Progress {
        Progress::of_questions(questions, !self.quiet, model_limits)
    }

    /// Returns a progress bar over recorded calls times policies.
    pub fn replay_progress(&self, policy_calls: u64) -> Progress {
        Progress::of_calls(policy_calls, !self.quiet)
    }
}
