//! Further looks at transcripts that were read before. What is wrong with them was said at the first look.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use recompact::format::Reading;

use super::{Outcome, Transcripts};
use crate::cmd::progress::Progress;
use crate::cmd::{Failure, stop};
use crate::source::{self, Input};

impl Transcripts {
    /// Sees to it that everything can be read more than once.
    pub fn must_be_files(&self) -> Result<(), Failure> {
        match self.paths.iter().any(|path| path == Path::new("-")) {
            true => {
                let what = "standard input can be read only once, and a sweep reads transcripts several times: name a file";
                Err(Failure::Usage(what.to_owned()))
            }
            false => Ok(()),
        }
    }

    /// Reads those of the transcripts again that are wanted, by name, and does some work on them: several at a time, in the order of
    /// the paths.
    pub fn again<T: Send>(
        &self,
        is_wanted: impl Fn(&str) -> bool,
        work: impl Fn(&str, Reading) -> T + Sync,
    ) -> Result<Vec<T>, Failure> {
        let (mut inputs, _) = source::find(&self.paths);
        inputs.retain(|input| is_wanted(&input.name));
        let done = AtomicUsize::new(0);
        let stopped = || Failure::Stopped { done: done.load(Ordering::Relaxed), transcripts: inputs.len(), can_go_on: false };
        let one = |input: &Input| {
            if stop::requested() {
                return Err(stopped());
            }
            let again = |why: String| Failure::Input(vec![format!("{why} (it was read before)")]);
            let bytes = source::read(input).map_err(|error| again(error.to_string()))?;
            match self.read(input, &bytes) {
                Outcome::Read(reading) => {
                    let worked = work(&input.name, reading);
                    done.fetch_add(1, Ordering::Relaxed);
                    Ok(worked)
                }
                Outcome::Unreadable(why) | Outcome::PassedOver(why) => Err(again(why)),
                Outcome::Finished | Outcome::Left => Err(stopped()),
            }
        };
        self.install(|| inputs.par_iter().map(one).collect())?
    }

    /// Does some work with as many threads as were asked for.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        Ok(self.pool()?.install(work))
    }

    /// How far so many recorded calls times policies are.
    pub fn replaying(&self, policy_calls: u64) -> Progress {
        Progress::of_calls(policy_calls, !self.quiet)
    }
}
