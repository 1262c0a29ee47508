//! Continues studies and sweeps that were stopped, from their saved results.

use std::collections::HashMap;
use std::convert::Infallible;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::ReplayOutcomes;
use super::corpus::{Done, Monitor, Source};
use super::spec::difference;
use super::study::TranscriptResult;
use crate::engine::layer::with_first_names;
use crate::engine::policy::Policy;
use crate::results::saved::{Program, Results, SavedTranscript, StudyRecord, Unfinished};
use crate::transcript::source::hash_of;

/// The results that an earlier run of the same study has for single transcripts.
pub trait EarlierResults: Sync {
    /// Takes the result of a transcript, if there is one for the same bytes.
    fn take(&self, source: Source) -> Option<Done<Checkpoint<TranscriptResult>>>;

    /// Keeps the results of this run for the next one, if that is what it is for. Returns them.
    fn keep(&self, outcomes: ReplayOutcomes, _monitor: &dyn Monitor) -> ReplayOutcomes {
        outcomes
    }
}

/// The results of an earlier run.
#[derive(Debug)]
pub struct Resumed {
    /// Keyed by transcript, hash of its bytes, and round.
    done: HashMap<(String, String, String), serde_json::Value>,
}

/// Why an earlier run cannot be continued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    #[error("this study is complete: there is nothing to resume")]
    Complete,
    /// Another version may count differently.
    #[error(
        "it was saved by {}, and this is {}, which may count differently, so the study cannot be continued; start it again without \
         --resume",
        named(.0.as_ref()),
        named(Some(&Program::this()))
    )]
    OtherProgram(Option<Program>),
    #[error("it was started with {0}, so its results cannot be reused")]
    OtherStudy(String),
    #[error("the part of {0} was changed since it was saved, so the study cannot be continued; start it again without --resume")]
    Changed(String),
}

impl Resumed {
    /// Takes over the finished transcripts of an earlier run.
    ///
    /// # Errors
    ///
    /// Fails unless the results are unfinished, of this version of the program, of the same study, and as they were saved.
    pub fn new(results: Results, study: &StudyRecord) -> Result<Self, ResumeError> {
        let Some(unfinished) = results.unfinished else { return Err(ResumeError::Complete) };
        if results.program.as_ref() != Some(&Program::this()) {
            return Err(ResumeError::OtherProgram(results.program));
        }
        let started = results.study.unwrap_or_default();
        if let Some(why) = difference(&started, study) {
            return Err(ResumeError::OtherStudy(why));
        }
        if let Some(changed) = unfinished.done.iter().find(|saved| saved.checksum != checksum(saved)) {
            return Err(ResumeError::Changed(changed.transcript.clone()));
        }
        let key = |saved: SavedTranscript| ((saved.transcript, saved.hash, saved.round), saved.part);
        Ok(Self { done: unfinished.done.into_iter().map(key).collect() })
    }

    /// Returns the saved result of a transcript in a round, if the transcript is unchanged. Which lines were skipped is not saved.
    pub fn checkpoint<P: DeserializeOwned>(&self, source: Source, round: &str) -> Option<Done<Checkpoint<P>>> {
        let saved = self.done.get(&(source.name.to_owned(), source.hash(), round.to_owned()))?;
        match serde_json::from_value(saved.clone()) {
            Ok(result) => Some(Done { result: Checkpoint::new(source, round, result), skipped_lines: Vec::new() }),
            Err(error) => {
                let name = source.name;
                source.monitor.note(&format!("the saved result of {name} cannot be read ({error}); it is replayed again"));
                None
            }
        }
    }
}

impl EarlierResults for Resumed {
    fn take(&self, source: Source) -> Option<Done<Checkpoint<TranscriptResult>>> {
        self.checkpoint(source, ONE_ROUND)
    }
}

/// Returns the name and the version of a program, for a message.
fn named(program: Option<&Program>) -> String {
    program.map_or_else(|| "an unknown version".to_owned(), |Program { name, version }| format!("{name} {version}"))
}

/// Returns the hash of a saved transcript and its part.
fn checksum(saved: &SavedTranscript) -> String {
    let SavedTranscript { transcript, hash, round, part, .. } = saved;
    // The parser writes numbers in a form of its own (`1e7` as `1e+7`), so a part is hashed as it is after reading.
    let part = serde_json::from_str::<serde_json::Value>(&part.to_string()).expect("what was written as JSON is JSON");
    hash_of(format!("{transcript}\n{hash}\n{round}\n{part}").as_bytes())
}

/// The round of a study with a single round.
pub const ONE_ROUND: &str = "";

/// Returns the hash of policies, which names a round of a sweep: their TOML would be as long as a transcript. A renamed setting does
/// not change it.
pub fn policies_hash(policies: &[Policy]) -> String {
    let written: Vec<String> = policies.iter().map(Policy::to_toml).collect();
    hash_of(with_first_names(&written.join("\n")).as_bytes())
}

/// The result of a processed transcript, with what identifies the transcript.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checkpoint<P> {
    pub transcript: String,
    pub(super) hash: String,
    /// As in [`SavedTranscript`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) round: String,
    pub result: P,
}

impl<P> Checkpoint<P> {
    /// Wraps a result with what identifies it.
    pub fn new(source: Source, round: &str, result: P) -> Self {
        Self { transcript: source.name.to_owned(), hash: source.hash(), round: round.to_owned(), result }
    }

    /// Makes something else of the result.
    pub fn map<Q>(self, work: impl FnOnce(P) -> Q) -> Checkpoint<Q> {
        let Ok(checkpoint) = self.try_map(|result| Ok::<_, Infallible>(work(result)));
        checkpoint
    }

    /// Makes something else of the result, if that can be.
    ///
    /// # Errors
    ///
    /// Fails as the work on the result does.
    pub fn try_map<Q, E>(self, work: impl FnOnce(P) -> Result<Q, E>) -> Result<Checkpoint<Q>, E> {
        let Self { transcript, hash, round, result } = self;
        Ok(Checkpoint { result: work(result)?, transcript, hash, round })
    }
}

/// Returns what a later run needs to resume, when some transcripts are left.
pub fn unfinished<P: Serialize>(checkpoints: &[Checkpoint<P>], transcripts: usize) -> Unfinished {
    let saved = |checkpoint: &Checkpoint<P>| {
        let saved = SavedTranscript {
            transcript: checkpoint.transcript.clone(),
            hash: checkpoint.hash.clone(),
            round: checkpoint.round.clone(),
            part: serde_json::to_value(&checkpoint.result).expect("results are plain data with text keys"),
            checksum: String::new(),
        };
        SavedTranscript { checksum: checksum(&saved), ..saved }
    };
    Unfinished { transcripts, done: checkpoints.iter().map(saved).collect() }
}
