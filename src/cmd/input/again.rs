//! Further looks at transcripts that were read before. What is wrong with them was said at the first look.

use std::io::IsTerminal;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use recompact::format::Reading;

use super::{Outcome, Transcripts};
use crate::cmd::Failure;
use crate::source;

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
        let one = |input: &source::Input| match self.read(input) {
            Outcome::Read(reading) => Ok(work(&input.name, reading)),
            Outcome::Unreadable(why) | Outcome::PassedOver(why) => {
                Err(Failure::Input(vec![format!("{why} (it was read before)")]))
            }
        };
        self.install(|| inputs.par_iter().map(one).collect())?
    }

    /// Does some work with as many threads as were asked for.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        Ok(self.pool()?.install(work))
    }

    /// A bar of so many of something, with their rate and the time left; hidden where nobody would see it.
    pub fn bar(&self, length: u64, what: &str) -> ProgressBar {
        if self.quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let template = format!("{{bar:30}} {{human_pos}}/{{human_len}} {what}, {{per_sec}}, {{eta}} left");
        let style = ProgressStyle::with_template(&template);
        ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    }
}
