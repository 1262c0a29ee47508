//! The transcripts of an analysis: where they come from, and the loop that reads them in parallel.
//!
//! [`for_each`] reads every transcript once; [`read_again`] reads those that a later step needs. Only the transcripts in progress
//! are in memory. Both run on the current thread pool of rayon.

mod files;
mod listings;
mod newest;
mod other_files;
mod outcome;
mod processed;
mod read;
mod request_files;
mod selection;
mod sub_agent_files;
mod transcript;
mod unknown;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::transcript::format::{OtherFile, Reading};
use crate::transcript::source::hash_of;

pub use files::FileCorpus;
pub use outcome::{Became, Done, Outcome, Outcomes};
pub use processed::{Analysed, Processed, RunError};
pub use read::{ReadSpec, format_by_name, in_bytes};
pub use selection::{Selection, day, today};
pub use transcript::Transcript;

/// Transcripts that an analysis can read, each as often as it needs.
pub trait Corpus: Sync {
    /// Returns the names of the transcripts, in the order of the results. The index of a name identifies the transcript.
    fn names(&self) -> Vec<&str>;

    /// Returns the bytes of a transcript. If it is a pipe, waits for another program until the run is stopped.
    ///
    /// # Errors
    ///
    /// Fails with the reason, without the name, if it cannot be read, or is a part of another one.
    fn content(&self, at: usize, is_stopped: &dyn Fn() -> bool) -> Result<Transcript, Unread>;

    /// Returns the conversations in the bytes of a transcript.
    ///
    /// # Errors
    ///
    /// Fails with the reason if it holds no conversation.
    fn parse(&self, at: usize, content: &Transcript) -> Result<Reading, Unread>;

    /// Returns the conversations of a transcript.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read, or holds no conversation.
    fn read(&self, at: usize) -> Result<Reading, RunError> {
        let reading = self.content(at, &|| false).and_then(|content| self.parse(at, &content));
        reading.map_err(|why| RunError::Input(vec![format!("{}: {why}", self.names()[at])]))
    }

    /// Reads a transcript once more, by its name. Returns `None` if that is not possible, as for standard input.
    fn reread(&self, name: &str) -> Option<Reading> {
        let at = self.names().iter().position(|known| *known == name)?;
        self.read(at).ok()
    }

    /// Returns paths at which nothing was found, with the reason.
    fn not_found(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Why a transcript is not in the results.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unread {
    /// There is no file at the path that the user named.
    #[error("{0}")]
    NotFound(String),
    /// It cannot be read, or the user named it and it is no transcript.
    #[error("{0}")]
    Failed(String),
    /// It was found in a folder, and cannot be read.
    #[error("{0}")]
    Skipped(String),
    /// It was found in a folder, and is something else: JSON of no known format.
    #[error("{0}")]
    Foreign(String),
    /// The run was stopped before it, or while it waited for the bytes.
    #[error("the run was stopped before it was read")]
    Stopped,
    /// It is a part of the session in this file, with which it is read.
    #[error("it is a part of the session in {0}")]
    Joined(String),
    /// It has no conversation of the wanted days, project, model or format.
    #[error("it has no conversation of the wanted days, project, model or format")]
    Unwanted,
}

/// Watches a run, and may stop it. Every method is called from several threads.
pub trait Monitor: Sync {
    /// Whether to begin no more transcripts.
    fn is_stopped(&self) -> bool {
        false
    }

    /// A transcript is done.
    fn transcript_done(&self, _at: usize) {}

    /// A step begins that replays this many recorded calls, times policies. It ends when the next one begins.
    fn step(&self, _policy_calls: u64) {}

    /// Recorded calls, times policies, were replayed.
    fn replayed(&self, _policy_calls: u64) {}

    /// Something is unusual and does not end the run.
    fn note(&self, _what: &str) {}
}

/// Watches nothing.
pub struct NoMonitor;

impl Monitor for NoMonitor {}

/// The transcript that is being processed.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub name: &'a str,
    /// The bytes of the transcript, decompressed.
    pub bytes: &'a [u8],
    /// The files that it is read with.
    pub others: &'a [OtherFile],
    pub monitor: &'a dyn Monitor,
}

impl Source<'_> {
    /// Returns the hash of the content, and of the names and contents of the files that it is read with. It identifies the transcript
    /// in what an earlier run has.
    pub fn hash(&self) -> String {
        let own = hash_of(self.bytes);
        match self.others {
            [] => own,
            others => {
                let add = |all: String, other: &OtherFile| all + &hash_of(other.name.as_bytes()) + &hash_of(&other.bytes);
                hash_of(others.iter().fold(own, add).as_bytes())
            }
        }
    }

    /// Counts the calls of a reading as replayed under this number of policies.
    pub fn replayed(&self, reading: &Reading, policies: usize) {
        self.monitor.replayed(reading.calls() * policies as u64);
    }
}

/// Reads every transcript and runs `work` on it, several at a time.
pub fn for_each<T: Send>(
    corpus: &dyn Corpus,
    monitor: &dyn Monitor,
    work: impl Fn(Source, &Reading) -> T + Sync,
) -> Processed<T> {
    Processed::new(outcomes(corpus, monitor, |_| None, work))
}

/// Like [`for_each`], but says what became of each transcript. `saved` returns the result of an earlier run, if there is one.
pub fn outcomes<T: Send>(
    corpus: &dyn Corpus,
    monitor: &dyn Monitor,
    saved: impl Fn(Source) -> Option<Done<T>> + Sync,
    work: impl Fn(Source, &Reading) -> T + Sync,
) -> Outcomes<T> {
    let names = corpus.names();
    let one = |at: usize| process(corpus, monitor, (at, names[at]), &saved, &mut |source, reading| work(source, reading));
    let read: Vec<Became<T>> = (0..names.len()).into_par_iter().map(one).collect();
    Outcomes::new(corpus, monitor, read)
}

/// Like [`for_each`], but processes the transcripts one after another.
pub fn for_each_in_order<T>(
    corpus: &dyn Corpus,
    monitor: &dyn Monitor,
    mut work: impl FnMut(Source, &Reading) -> T,
) -> Processed<T> {
    let names = corpus.names();
    let one = |at: usize| process(corpus, monitor, (at, names[at]), &|_| None, &mut |source, reading| work(source, reading));
    let read: Vec<Became<T>> = (0..names.len()).map(one).collect();
    Processed::new(Outcomes::new(corpus, monitor, read))
}

/// Reads the wanted transcripts again and runs `work` on them, several at a time, unless they have a saved result. Returns the
/// results in the order of the transcripts, and the number of transcripts that were not begun because the run was stopped.
///
/// # Errors
///
/// Fails if a transcript that was read before cannot be read any more.
pub fn read_again<T: Send>(
    corpus: &dyn Corpus,
    monitor: &dyn Monitor,
    is_wanted: impl Fn(&str) -> bool,
    saved: impl Fn(Source) -> Option<Done<T>> + Sync,
    work: impl Fn(Source, &mut Reading) -> T + Sync,
) -> Result<(Vec<T>, usize), RunError> {
    let names: Vec<(usize, &str)> = corpus.names().into_iter().enumerate().filter(|(_, name)| is_wanted(name)).collect();
    let one = |(at, name): (usize, &str)| match process(corpus, monitor, (at, name), &saved, &mut |source, reading| {
        work(source, reading)
    }) {
        Became::Done(done) => Ok(Some(done.result)),
        Became::LeftOut(Unread::Failed(why) | Unread::Skipped(why) | Unread::Foreign(why) | Unread::NotFound(why)) => {
            Err(RunError::Input(vec![format!("{name}: {why} (it was read before)")]))
        }
        Became::LeftOut(Unread::Unwanted | Unread::Joined(_) | Unread::Stopped) => Ok(None),
    };
    let results: Vec<Option<T>> = names.into_par_iter().map(one).collect::<Result<_, RunError>>()?;
    let left = results.iter().filter(|result| result.is_none()).count();
    Ok((results.into_iter().flatten().collect(), left))
}

/// Reads one transcript and runs the work on it, unless it has a saved result.
fn process<T>(
    corpus: &dyn Corpus,
    monitor: &dyn Monitor,
    (at, name): (usize, &str),
    saved: &dyn Fn(Source) -> Option<Done<T>>,
    work: &mut dyn FnMut(Source, &mut Reading) -> T,
) -> Became<T> {
    if monitor.is_stopped() {
        return Became::LeftOut(Unread::Stopped);
    }
    let became = match corpus.content(at, &|| monitor.is_stopped()) {
        Err(Unread::Stopped) => return Became::LeftOut(Unread::Stopped),
        Err(why) => Became::LeftOut(why),
        Ok(content) => {
            let source = Source { name, bytes: &content.bytes, others: &content.others, monitor };
            match saved(source) {
                Some(done) => Became::Done(done),
                None => match corpus.parse(at, &content) {
                    Err(why) => Became::LeftOut(why),
                    Ok(mut reading) => {
                        let result = work(source, &mut reading);
                        Became::Done(Done::new(name, result, &reading.notes))
                    }
                },
            }
        }
    };
    monitor.transcript_done(at);
    became
}
