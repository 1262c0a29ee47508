//! What became of one transcript of a run.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use super::{Corpus, Monitor, Processed, Unread};
use crate::transcript::format::{Level, Note};

/// What became of one transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome<T> {
    /// The name of the transcript, or the path at which there is none.
    pub transcript: String,
    pub became: Became<T>,
}

/// The result of the work on a transcript, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Became<T> {
    Done(Done<T>),
    LeftOut(Unread),
}

/// The result of the work on a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done<T> {
    pub result: T,
    /// Lines that could not be read, with file, line and reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped_lines: Vec<String>,
}

/// What became of all transcripts of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcomes<T> {
    /// First what was not found, then the transcripts, both in the order of their names.
    pub of: Vec<Outcome<T>>,
    pub is_stopped: bool,
}

impl<T> Outcomes<T> {
    /// The results of the transcripts that have one.
    pub fn results(&self) -> impl Iterator<Item = &T> {
        self.of.iter().filter_map(|outcome| match &outcome.became {
            Became::Done(done) => Some(&done.result),
            Became::LeftOut(_) => None,
        })
    }

    /// Sums up what was skipped and left out, without the results.
    pub fn summary(&self) -> Processed<()> {
        let without_result = |became: &Became<T>| match became {
            Became::Done(done) => Became::Done(Done { result: (), skipped_lines: done.skipped_lines.clone() }),
            Became::LeftOut(why) => Became::LeftOut(why.clone()),
        };
        let of =
            |outcome: &Outcome<T>| Outcome { transcript: outcome.transcript.clone(), became: without_result(&outcome.became) };
        Processed::new(Outcomes { of: self.of.iter().map(of).collect(), is_stopped: self.is_stopped })
    }

    /// Adds the paths at which nothing was found to what became of the transcripts.
    pub(super) fn new(corpus: &dyn Corpus, monitor: &dyn Monitor, read: impl IntoIterator<Item = Became<T>>) -> Self {
        let not_found = corpus.not_found().into_iter();
        let not_found = not_found.map(|(path, why)| Outcome { transcript: path, became: Became::LeftOut(Unread::NotFound(why)) });
        let read = corpus.names().into_iter().zip(read);
        let read = read.map(|(name, became)| Outcome { transcript: name.to_owned(), became });
        Self { of: not_found.chain(read).collect(), is_stopped: monitor.is_stopped() }
    }
}

impl<T> Became<T> {
    /// Makes something else of the result.
    pub fn map<U>(self, work: impl FnOnce(T) -> U) -> Became<U> {
        let Ok(became) = self.try_map(|result| Ok::<_, Infallible>(work(result)));
        became
    }

    /// Makes something else of the result, if that can be.
    ///
    /// # Errors
    ///
    /// Fails as the work on the result does.
    pub fn try_map<U, E>(self, work: impl FnOnce(T) -> Result<U, E>) -> Result<Became<U>, E> {
        Ok(match self {
            Self::Done(Done { result, skipped_lines }) => Became::Done(Done { result: work(result)?, skipped_lines }),
            Self::LeftOut(why) => Became::LeftOut(why),
        })
    }
}

impl<T> Done<T> {
    /// Wraps a result with the notes of the reading.
    pub(super) fn new(name: &str, result: T, notes: &[Note]) -> Self {
        let line = |note: &Note| format!("{name}:{}: {}", note.line.unwrap_or(1), note.what);
        Self { result, skipped_lines: notes.iter().filter(|note| note.level == Level::Skipped).map(line).collect() }
    }
}
