//! `--resume RESULTS.json`: continues studies that were stopped.

use std::collections::HashMap;
use std::path::Path;

use recompact::analysis::spec::difference;
use recompact::engine::policy::Policy;
use recompact::report::escape;
use recompact::results::saved::{SavedTranscript, StudyRecord, Unfinished};
use recompact::util::text::plural;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::error::Failure;
use crate::cli::input::Source;
use crate::cli::output;
use crate::cli::saved_results;
use crate::cli::source::hash_of;

/// The results of an earlier run.
pub struct Resumed {
    path: String,
    /// Keyed by transcript, hash of its bytes, and round.
    done: HashMap<(String, String, String), serde_json::Value>,
}

impl Resumed {
    /// Reads the saved results, which must be of the same study.
    pub fn load(path: &Path, study: &StudyRecord) -> Result<Self, Failure> {
        let failed = |why: String| Failure::Usage(format!("--resume {}: {why}", path.display()));
        let results = saved_results::load(path).map_err(failed)?;
        let Some(unfinished) = results.unfinished else {
            return Err(failed("this study is complete: there is nothing to resume".to_owned()));
        };
        let started = results.study.unwrap_or_default();
        if let Some(why) = difference(&started, study) {
            return Err(failed(format!("it was started with {why}, so its results cannot be reused")));
        }
        if let Some(changed) = unfinished.done.iter().find(|saved| saved.checksum != checksum(saved)) {
            let what = "was changed since it was saved, so the study cannot be continued; start it again without --resume";
            return Err(failed(format!("the part of {} {what}", changed.transcript)));
        }
        let key = |saved: SavedTranscript| ((saved.transcript, saved.hash, saved.round), saved.part);
        Ok(Self { path: path.display().to_string(), done: unfinished.done.into_iter().map(key).collect() })
    }

    /// Returns the saved result of a transcript in a round, if the transcript is unchanged.
    pub fn checkpoint<P: DeserializeOwned>(&self, source: Source, round: &str) -> Option<Checkpoint<P>> {
        let saved = self.done.get(&(source.name.to_owned(), source.hash(), round.to_owned()))?;
        match serde_json::from_value(saved.clone()) {
            Ok(result) => Some(Checkpoint::new(source, round, result)),
            Err(error) => {
                let what = format!("the saved result of {} cannot be read ({error}); it is replayed again", source.name);
                output::say(&escape::terminal(&format!("{}: {what}", self.path)));
                None
            }
        }
    }
}

/// Returns the hash of a saved transcript and its part.
fn checksum(saved: &SavedTranscript) -> String {
    let SavedTranscript { transcript, hash, round, part, .. } = saved;
    // The parser writes numbers in a form of its own (`1e7` as `1e+7`), so a part is hashed as it is after reading.
    let part = serde_json::from_str(&part.to_string()).unwrap_or(serde_json::Value::Null);
    hash_of(format!("{transcript}\n{hash}\n{round}\n{part}").as_bytes())
}

/// The round of a study with a single round.
pub const ONE_ROUND: &str = "";

/// Returns the hash of policies, which names a round of a sweep: their TOML would be as long as a transcript.
pub fn policies_hash(policies: &[Policy]) -> String {
    let written: Vec<String> = policies.iter().map(Policy::to_toml).collect();
    hash_of(written.join("\n").as_bytes())
}

/// The result of a processed transcript, with what identifies the transcript.
pub struct Checkpoint<P> {
    pub transcript: String,
    hash: String,
    round: String,
    pub result: P,
}

impl<P> Checkpoint<P> {
    pub fn new(source: Source, round: &str, result: P) -> Self {
        Self { transcript: source.name.to_owned(), hash: source.hash(), round: round.to_owned(), result }
    }
}

/// Returns what a later run needs to resume, when some transcripts are left.
pub fn unfinished<P: Serialize>(checkpoints: &[Checkpoint<P>], transcripts: usize) -> Result<Unfinished, Failure> {
    let saved = |checkpoint: &Checkpoint<P>| {
        let part = serde_json::to_value(&checkpoint.result)?;
        let saved = SavedTranscript {
            transcript: checkpoint.transcript.clone(),
            hash: checkpoint.hash.clone(),
            round: checkpoint.round.clone(),
            part,
            checksum: String::new(),
        };
        Ok(SavedTranscript { checksum: checksum(&saved), ..saved })
    };
    let done: Result<Vec<_>, serde_json::Error> = checkpoints.iter().map(saved).collect();
    let failed = |error| Failure::Usage(format!("{} cannot be saved: {error}", plural(checkpoints.len(), "finished transcript")));
    Ok(Unfinished { transcripts, done: done.map_err(failed)? })
}
