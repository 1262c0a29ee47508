//! What became of the transcripts of a run.

use recompact::results::saved::{Coverage, LeftOut};
use recompact::transcript::format::Reading;

use crate::cli::error::Failure;
use crate::cli::interrupt;
use crate::cli::source::SourceError;

/// The result of processing all transcripts.
pub struct Processed<T> {
    /// Results of the transcripts that were processed, in the order of their names.
    pub results: Vec<T>,
    /// Which transcripts have a result, and why the others have none.
    pub coverage: Coverage,
    /// Transcripts not started when the user stopped the program.
    pub left: usize,
    /// Those left out because of an error. The others are no transcripts at all.
    errors: Vec<LeftOut>,
}

/// Results of at least one transcript.
pub struct Analysed<T> {
    pub results: Vec<T>,
    /// Which transcripts have a result, and why the others have none.
    pub coverage: Coverage,
    /// The errors of other transcripts, for the end of the run.
    pub end: Result<(), Failure>,
}

/// The result of reading one transcript.
pub(super) enum ReadOutcome {
    Read(Reading),
    /// Its result was saved by an earlier run.
    Saved,
    /// Not started, because the user stopped the program.
    Left,
    /// It could not be read, or the user named it and it is no transcript.
    Unreadable(String),
    /// Found in a folder, and no transcript.
    Skipped(String),
}

impl<T> Processed<T> {
    /// Begins with the number of transcripts found, and the paths at which nothing could be found.
    pub(super) fn new(found: usize, errors: &[SourceError]) -> Self {
        let coverage = Coverage { found, left_out: Vec::new() };
        let mut processed = Self { results: Vec::new(), coverage, left: 0, errors: Vec::new() };
        for error in errors {
            processed.coverage.found += 1;
            processed.fail(error.path(), error.reason());
        }
        processed
    }

    /// Leaves out a transcript because of an error.
    pub(super) fn fail(&mut self, path: &str, why: String) {
        self.errors.push(LeftOut { path: path.to_owned(), why: why.clone() });
        self.coverage.leave_out(path, why);
    }

    /// Returns all errors and another one, for a run that ends without results.
    pub(super) fn failed(&self, why: String) -> Failure {
        Failure::Input(self.errors.iter().map(ToString::to_string).chain([why]).collect())
    }

    /// Removes results without content. `reason` returns the path of their transcript and the reason. If the user stopped the program,
    /// that is the reason.
    pub fn without(mut self, reason: impl Fn(&T) -> Option<(&str, &str)>) -> Self {
        let (empty, results): (Vec<T>, Vec<T>) = self.results.into_iter().partition(|result| reason(result).is_some());
        self.results = Vec::new();
        if interrupt::requested() {
            self.left += empty.len();
        } else {
            empty.iter().filter_map(reason).for_each(|(path, why)| self.fail(path, why.to_owned()));
        }
        Self { results, ..self }
    }

    /// Returns the results, or why there are none.
    pub fn analysed(self) -> Result<Analysed<T>, Failure> {
        let end = match (self.left, self.errors.is_empty()) {
            (0, true) => Ok(()),
            (0, false) => Err(Failure::Input(self.errors.iter().map(ToString::to_string).collect())),
            (left, _) => {
                let found = self.coverage.found;
                Err(Failure::Stopped { done: found - left, transcripts: found, can_resume: false })
            }
        };
        match (self.results.is_empty(), end) {
            (true, Err(failure)) => Err(failure),
            (true, Ok(())) => Err(Failure::Usage("nothing could be analysed: no conversation was found".to_owned())),
            (false, end) => Ok(Analysed { results: self.results, coverage: self.coverage, end }),
        }
    }
}

impl ReadOutcome {
    /// Runs the work on a reading and drops its conversations; only its notes are needed afterwards.
    pub fn process<T>(self, work: impl FnOnce(&mut Reading) -> T) -> (Self, Option<T>) {
        match self {
            ReadOutcome::Read(mut reading) => {
                let result = work(&mut reading);
                (ReadOutcome::Read(Reading { conversations: Vec::new(), ..reading }), Some(result))
            }
            other => (other, None),
        }
    }
}
