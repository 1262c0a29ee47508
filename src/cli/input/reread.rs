//! Further looks at transcripts that were read before. What is wrong with them was said at the first look.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use recompact::llm::client::Limits;
use recompact::transcript::format::Reading;

use super::{Outcome, Source, Transcripts};
use crate::cli::error::Failure;
use crate::cli::progress::Progress;
use crate::cli::source::{self, Input};

impl Transcripts {
    /// Sees to it that everything can be read more than once.
    pub fn must_be_files(&self) -> Result<(), Failure> {
        match self.paths.iter().any(|path| path == Path::new("-")) {
            true => {
                let what = "standard input can be read only once, and this reads transcripts several times: name a file";
                Err(Failure::Usage(what.to_owned()))
            }
            false => Ok(()),
        }
    }

    /// Reads those of the transcripts again that are wanted, by name, and does some work on them, unless it was finished before:
    /// several at a time, in the order of the paths. The second number is how many were left when somebody stopped the program.
    pub fn again<T: Send>(
        &self,
        progress: &Progress,
        is_wanted: impl Fn(&str) -> bool,
        finished: impl Fn(Source) -> Option<T> + Sync,
        work: impl Fn(Source, &mut Reading) -> T + Sync,
    ) -> Result<(Vec<T>, usize), Failure> {
        let (mut inputs, _) = source::find(&self.base, &self.paths);
        inputs.retain(|input| is_wanted(&input.name));
        let one = |input: &Input| match self.step(input, progress, &mut |source, reading| work(source, reading), &finished) {
            (Outcome::Unreadable(why) | Outcome::PassedOver(why), _) => {
                Err(Failure::Input(vec![format!("{why} (it was read before)")]))
            }
            (Outcome::Read(_) | Outcome::Finished | Outcome::Left, worked) => Ok(worked),
        };
        let done: Vec<Option<T>> = self.install(|| inputs.par_iter().map(one).collect::<Result<_, Failure>>())??;
        let left = done.iter().filter(|worked| worked.is_none()).count();
        Ok((done.into_iter().flatten().collect(), left))
    }

    /// Does some work with as many threads as were asked for.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        Ok(self.pool()?.install(work))
    }

    /// How far so many questions are.
    pub fn asking(&self, questions: u64, asked: Arc<Limits>) -> Progress {
        Progress::of_questions(questions, !self.quiet, asked)
    }

    /// How far so many recorded calls times policies are.
    pub fn replaying(&self, policy_calls: u64) -> Progress {
        Progress::of_calls(policy_calls, !self.quiet)
    }
}
