//! Studies that are stopped and gone on with: `--resume RESULTS.json`.

use std::collections::HashMap;
use std::path::Path;

use recompact::engine::policy::Policy;
use recompact::results::saved::{Results, SavedTranscript, Unfinished};
use recompact::util::text::plural;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::error::Failure;
use crate::cli::input::Source;
use crate::cli::source::hash_of;

/// Whatever decides the results, by the name of its option.
pub type Fingerprint = Vec<(String, String)>;

/// What is done already.
pub struct Resumed {
    path: String,
    /// By transcript, hash of its bytes and round.
    done: HashMap<(String, String, String), serde_json::Value>,
}

impl Resumed {
    /// Reads the saved results. They must be answers to the same question.
    pub fn load(path: &Path, question: &Fingerprint) -> Result<Self, Failure> {
        let failed = |why: String| Failure::Usage(format!("--resume {}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let results = Results::from_json(&text).map_err(|error| failed(error.to_string()))?;
        let Some(unfinished) = results.unfinished else {
            return Err(failed("this study came to its end: there is nothing to go on with".to_owned()));
        };
        if let Some(why) = differs(&unfinished.question, question) {
            return Err(failed(format!("it was begun with {why}; what is done of it does not fit")));
        }
        let key = |finished: SavedTranscript| ((finished.transcript, finished.hash, finished.round), finished.part);
        Ok(Self { path: path.display().to_string(), done: unfinished.done.into_iter().map(key).collect() })
    }

    /// What was done of this transcript in a round, if it is still the same.
    pub fn part<P: DeserializeOwned>(&self, source: Source, round: &str) -> Option<Checkpoint<P>> {
        let part = self.done.get(&(source.name.to_owned(), source.hash(), round.to_owned()))?;
        match serde_json::from_value(part.clone()) {
            Ok(part) => Some(Checkpoint::new(source, round, part)),
            Err(error) => {
                eprintln!("{}: what is done of {} cannot be read ({error}); it is replayed again", self.path, source.name);
                None
            }
        }
    }
}

/// What was begun with another value.
fn differs(begun: &Fingerprint, now: &Fingerprint) -> Option<String> {
    match begun.iter().zip(now).find(|(begun, now)| begun != now) {
        Some(((option, begun), (same, now))) if option == same => match option.as_str() {
            POLICIES => Some("other policies".to_owned()),
            option => Some(format!("{option} {begun}, not {now}")),
        },
        Some(_) => Some("other options".to_owned()),
        None => (begun.len() != now.len()).then(|| "other options".to_owned()),
    }
}

/// The part of a question whose value is no option's.
pub const POLICIES: &str = "policies";

/// The round of a study that has but one.
pub const ONE_ROUND: &str = "";

/// Policies in a question: their TOML by its hash, for hundreds of them are as long as a transcript.
pub fn of_policies(policies: &[Policy]) -> String {
    let written: Vec<String> = policies.iter().map(Policy::to_toml).collect();
    hash_of(written.join("\n").as_bytes())
}

/// A transcript that was worked on, and which it was.
pub struct Checkpoint<P> {
    pub transcript: String,
    hash: String,
    round: String,
    pub part: P,
}

impl<P> Checkpoint<P> {
    pub fn new(source: Source, round: &str, part: P) -> Self {
        Self { transcript: source.name.to_owned(), hash: source.hash(), round: round.to_owned(), part }
    }
}

/// What it takes to go on, where some transcripts are left.
pub fn unfinished<P: Serialize>(
    worked: &[Checkpoint<P>],
    transcripts: usize,
    question: Fingerprint,
) -> Result<Unfinished, Failure> {
    let finished = |worked: &Checkpoint<P>| {
        let part = serde_json::to_value(&worked.part)?;
        Ok(SavedTranscript {
            transcript: worked.transcript.clone(),
            hash: worked.hash.clone(),
            round: worked.round.clone(),
            part,
        })
    };
    let done: Result<Vec<_>, serde_json::Error> = worked.iter().map(finished).collect();
    let failed = |error| Failure::Usage(format!("{} cannot be saved: {error}", plural(worked.len(), "finished transcript")));
    Ok(Unfinished { transcripts, question, done: done.map_err(failed)? })
}
