//! What became of the transcripts of a run.

use std::collections::{HashMap, HashSet};

use super::Unread;
use super::outcome::{Became, Done, Outcomes};
use crate::results::saved::{Coverage, LeftOut};
use crate::util::text::{in_one_line, plural};

/// The result of processing all transcripts.
pub struct Processed<T> {
    /// Results of the transcripts that were processed, in the order of their names.
    pub results: Vec<T>,
    /// Which transcripts have a result, and why the others have none.
    pub coverage: Coverage,
    /// Transcripts not begun when the run was stopped.
    pub left: usize,
    /// Transcripts without a conversation of the wanted days, project, model or format. They do not count as found.
    pub unwanted: usize,
    /// Lines that could not be read, with file, line and reason.
    pub skipped_lines: Vec<String>,
    /// Files found in folders that are no transcripts or cannot be read.
    pub skipped_files: Vec<LeftOut>,
    /// Those left out because of an error. The others are no transcripts at all.
    errors: Vec<LeftOut>,
    is_stopped: bool,
}

/// Results of at least one transcript.
pub struct Analysed<T> {
    pub results: Vec<T>,
    /// Which transcripts have a result, and why the others have none.
    pub coverage: Coverage,
    /// The errors of other transcripts, for the end of the run.
    pub end: Result<(), RunError>,
}

/// Why a run has no results, or not all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Some transcripts could not be read; the rest was analysed.
    #[error("{}", .0.join("\n"))]
    Input(Vec<String>),
    /// Nothing can be analysed.
    #[error("{0}")]
    Nothing(String),
    /// The run was stopped.
    #[error("stopped: {done} of {transcripts} transcripts are done")]
    Stopped { done: usize, transcripts: usize },
}

impl<T> Processed<T> {
    /// Sums up what became of the transcripts.
    pub fn new(outcomes: Outcomes<T>) -> Self {
        let mut processed = Self {
            results: Vec::new(),
            coverage: Coverage { found: outcomes.of.len(), left_out: Vec::new() },
            left: 0,
            unwanted: 0,
            skipped_lines: Vec::new(),
            skipped_files: Vec::new(),
            errors: Vec::new(),
            is_stopped: outcomes.is_stopped,
        };
        for outcome in outcomes.of {
            let name = outcome.transcript.as_str();
            let why = match outcome.became {
                Became::Done(Done { result, skipped_lines }) => {
                    processed.results.push(result);
                    processed.skipped_lines.extend(skipped_lines);
                    continue;
                }
                Became::LeftOut(why) => why,
            };
            match why {
                Unread::Stopped => processed.left += 1,
                Unread::Unwanted => {
                    processed.coverage.found -= 1;
                    processed.unwanted += 1;
                }
                Unread::Joined(_) => processed.coverage.found -= 1,
                Unread::Failed(why) | Unread::NotFound(why) => processed.fail(name, why),
                Unread::Skipped(why) => {
                    processed.coverage.leave_out(name, why);
                    processed.skipped_files.extend(processed.coverage.left_out.last().cloned());
                }
                Unread::Foreign(why) => {
                    processed.coverage.leave_out_foreign(name, why);
                    processed.skipped_files.extend(processed.coverage.left_out.last().cloned());
                }
            }
        }
        processed
    }

    /// Makes something else of each result.
    pub fn map<U>(self, work: impl FnMut(T) -> U) -> Processed<U> {
        let Self { results, coverage, left, unwanted, skipped_lines, skipped_files, errors, is_stopped } = self;
        let results = results.into_iter().map(work).collect();
        Processed { results, coverage, left, unwanted, skipped_lines, skipped_files, errors, is_stopped }
    }

    /// Leaves out a transcript because of an error. The message may show several lines that a program wrote; tables have one.
    fn fail(&mut self, path: &str, why: String) {
        self.coverage.leave_out(path, in_one_line(&why));
        self.errors.push(LeftOut { path: path.to_owned(), why, unanswered: false, foreign: false });
    }

    /// What went wrong with each transcript. Further lines, which a program wrote, are shown once.
    fn error_lines(&self) -> impl Iterator<Item = String> {
        let mut shown = HashSet::new();
        self.errors.iter().map(move |error| {
            let message = error.to_string();
            match message.split_once('\n') {
                Some((first, lines)) if !shown.insert(lines.to_owned()) => format!("{first} as above"),
                _ => message,
            }
        })
    }

    /// Describes the files that were skipped: one line for each reason, with their number and the first of them.
    pub fn skipped_file_lines(&self) -> impl Iterator<Item = String> {
        let mut by_reason: Vec<(&LeftOut, usize)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for file in &self.skipped_files {
            let at = *known.entry(&file.why).or_insert(by_reason.len());
            match by_reason.get_mut(at) {
                Some((_, count)) => *count += 1,
                None => by_reason.push((file, 1)),
            }
        }
        by_reason.into_iter().map(|(first, count)| match count {
            1 => first.to_string(),
            _ => format!("{count} files such as {first}"),
        })
    }

    /// Fails if a line or a file was skipped, for a strict run.
    ///
    /// # Errors
    ///
    /// Fails with all errors, and the number of skipped lines and files.
    pub fn strict(self) -> Result<Self, RunError> {
        if self.skipped_lines.is_empty() && self.skipped_files.is_empty() {
            return Ok(self);
        }
        let skipped = [(self.skipped_lines.len(), "line"), (self.skipped_files.len(), "file")].into_iter();
        let skipped: Vec<String> = skipped.filter(|(count, _)| *count > 0).map(|(count, of)| plural(count, of)).collect();
        let why = format!("--strict: {} could not be read", skipped.join(" and "));
        Err(RunError::Input(self.error_lines().chain([why]).collect()))
    }

    /// Removes results without content, because a policy or a summarizer gave no answer. `reason` returns the path of their transcript and
    /// the reason. If the run was stopped, that is the reason.
    pub fn without(mut self, reason: impl Fn(&T) -> Option<(&str, &str)>) -> Self {
        let (empty, results): (Vec<T>, Vec<T>) = self.results.into_iter().partition(|result| reason(result).is_some());
        self.results = Vec::new();
        if self.is_stopped {
            self.left += empty.len();
        } else {
            let begin = self.coverage.left_out.len();
            empty.iter().filter_map(reason).for_each(|(path, why)| self.fail(path, why.to_owned()));
            self.coverage.left_out[begin..].iter_mut().for_each(|left_out| left_out.unanswered = true);
        }
        Self { results, ..self }
    }

    /// Returns the results, or why there are none.
    ///
    /// # Errors
    ///
    /// Fails if no transcript has a result.
    pub fn analysed(self) -> Result<Analysed<T>, RunError> {
        let end = match (self.left, self.errors.is_empty()) {
            (0, true) => Ok(()),
            (0, false) => Err(RunError::Input(self.error_lines().collect())),
            (left, _) => {
                let found = self.coverage.found;
                Err(RunError::Stopped { done: found - left, transcripts: found })
            }
        };
        match (self.results.is_empty(), end) {
            (true, Err(error)) => Err(error),
            (true, Ok(())) if self.unwanted > 0 => {
                let transcripts = plural(self.unwanted, "transcript");
                let why = "no conversation is of the wanted days, project, model and format (--since, --until, --project, --model, \
                           --format)";
                Err(RunError::Nothing(format!("nothing could be analysed: of {transcripts}, {why}")))
            }
            (true, Ok(())) => Err(RunError::Nothing("nothing could be analysed: no conversation was found".to_owned())),
            (false, end) => Ok(Analysed { results: self.results, coverage: self.coverage, end }),
        }
    }
}
