//! Parts of a study: what some of its transcripts give, wherever they were replayed. Parts merge in any order, and a study of parts
//! gives the results of the whole study, to the byte.
//!
//! A part makes no step across transcripts: what copies, chance, intervals and worst lists need of each transcript is in its row, and
//! [`Loaded::results`] makes these steps as for a study on one machine.
//!
//! # What a study of many transcripts needs
//!
//! `cargo bench --bench corpus -- 1000 4000 16000` on two cores: invented sessions of 100 kB under two policies, processor time and peak
//! of memory. The row for 100,000 was measured before, and only its memory and sizes (page *clusters* of the guide).
//!
//! | transcripts | replayed as a whole | as a part, written | size of the part | the end, from the part |
//! |---|---|---|---|---|
//! | 1,000 | 3.0 s, 94 MB | 2.5 s, 87 MB | 20 MB | 0.8 s, 120 MB |
//! | 4,000 | 11.1 s, 107 MB | 10.9 s, 95 MB | 81 MB | 4.7 s, 129 MB |
//! | 16,000 | 46.9 s, 157 MB | 44.9 s, 121 MB | 329 MB | 19.3 s, 173 MB |
//! | 100,000 | 502 MB | 290 MB | 2.0 GB | 544 MB |
//!
//! Four times the transcripts take 3.7 to 5.9 times as long, and from 4,000 on 4.1 to 4.2 times. The first thousand are cheaper, because
//! their results stay in memory, and those of all others go to a temporary file and come back (`Spill`).
//!
//! So a transcript of this size takes 3 ms of a core to replay and write, 20 kB to send, and at the end 1.2 ms and 4 kB of memory. A
//! plan from these figures, which was not tried; a core costs some $0.04 an hour, and sending inside one region nothing:
//!
//! | transcripts | workers | sent | the end, on one machine |
//! |---|---|---|---|
//! | 10⁶ (100 GB) | 0.8 core-hours, $0.03 | 20 GB | 20 minutes of a core, 4 GB |
//! | 10⁸ (10 TB) | 80 core-hours, $3 | 2 TB | 33 core-hours, 400 GB |
//!
//! The end of 10⁸ is the limit: there are machines for it, but a sample of the sessions answers the same questions sooner.
//!
//! # What an engine adds
//!
//! `benches/engines` makes the same study, and its JSON, in one process with two threads and on local clusters with two workers: seconds
//! from the start of the cluster on, how many times those of one process, and the peak of memory of all processes together.
//!
//! | transcripts | one process | Dask | Ray | Spark |
//! |---|---|---|---|---|
//! | 500 | 0.7 s, 90 MB | 1.4 s, 2.1 ×, 272 MB | 3.6 s, 5.5 ×, 1.1 GB | 7.9 s, 12.1 ×, 1.0 GB |
//! | 1,000 | 1.4 s, 154 MB | 2.5 s, 1.8 ×, 341 MB | 5.1 s, 3.8 ×, 1.2 GB | 10.3 s, 7.6 ×, 1.1 GB |
//! | 2,000 | 3.1 s, 167 MB | 4.4 s, 1.4 ×, 386 MB | 7.8 s, 2.5 ×, 1.3 GB | 14.4 s, 4.7 ×, 1.2 GB |
//! | 4,000 | 5.8 s, 286 MB | 9.8 s, 1.7 ×, 440 MB | 14.4 s, 2.5 ×, 1.5 GB | 25.7 s, 4.5 ×, 1.5 GB |
//! | 8,000 | 12.3 s, 560 MB | 19.1 s, 1.6 ×, 603 MB | 30.1 s, 2.4 ×, 1.7 GB | 46.3 s, 3.8 ×, 2.2 GB |
//! | 16,000 | 24.2 s, 1.1 GB | 37.9 s, 1.6 ×, 1.3 GB | 58.3 s, 2.4 ×, 2.3 GB | 77.3 s, 3.2 ×, 3.2 GB |
//!
//! The clusters start in 1, 3 and 5 seconds. All grow in proportion; what is left of the distance from 8,000 on is the end, which one
//! process makes while it replays, and what the engines do with their own processes. An engine pays where one machine is not enough.
//! Most of the memory of one process is the text of the JSON, 21 kB a transcript, in several copies.

mod cache;
mod error;
mod of_inspections;
mod of_sweep;
mod written;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ReplayOutcomes;
use super::corpus::{Became, Outcome, Outcomes, Processed, RunError, Unread};
use super::inspect::KeptInspection;
use super::resume::{Checkpoint, ONE_ROUND};
use super::spec::{Files, Loaded, ModelRequest, ProgramRequest, ResourceError, Resources, StudySpec, difference};
use super::study::{PartialTotals, TranscriptResult, TranscriptSize};
use crate::engine::external::{ExternalPolicies, NoExternalPolicies};
use crate::engine::summarizer::{Extract, Summarizer};
use crate::results::saved::StudyRecord;

pub use cache::CachedPart;
pub use error::PartError;
pub use of_inspections::inspect_corpus;

/// The version of the form in which parts are written.
const VERSION: u32 = 5;

/// What some transcripts of a study give.
#[derive(Debug)]
pub struct Part {
    study: StudyRecord,
    /// What became of each transcript, in the order of [`Place`].
    rows: BTreeMap<Place, Row>,
}

/// The place of a row: by the stage of a sweep, then first the paths at which nothing is, then the transcripts, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// As in a [`Checkpoint`]: [`ONE_ROUND`] in a replay, and for the first stage of a sweep.
    round: String,
    is_found: bool,
    transcript: String,
}

/// What became of one transcript.
type Row = Became<Checkpoint<Given>>;

/// What was made of one transcript.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Given {
    /// By a replay, or by the final comparison of a sweep.
    Replay(Box<TranscriptResult>),
    /// By the first stage of a sweep.
    Size(TranscriptSize),
    /// By a round of a sweep.
    Totals(Vec<PartialTotals>),
    /// By an inspection, for the next one.
    Inspections(Vec<KeptInspection>),
}

impl Given {
    pub(super) fn of_replay(replay: TranscriptResult) -> Self {
        Self::Replay(replay.into())
    }

    pub(super) fn into_replay(self) -> Result<TranscriptResult, PartError> {
        match self {
            Self::Replay(replay) => Ok(*replay),
            Self::Size(_) | Self::Totals(_) => Err(PartError::OfSweep),
            Self::Inspections(_) => Err(PartError::OfInspections),
        }
    }
}

/// Files of the disk, for what replays nothing: models are not asked, and neither functions nor programs run.
pub struct Unasked;

impl Resources for Unasked {
    fn read(&self, path: &str) -> io::Result<String> {
        Files::default().read(path)
    }

    fn model(&self, _request: &ModelRequest) -> Result<Box<dyn Summarizer>, ResourceError> {
        Ok(Box::new(Extract::default()))
    }

    fn program(&self, _request: &ProgramRequest) -> Result<Arc<dyn ExternalPolicies>, ResourceError> {
        Ok(Arc::new(NoExternalPolicies))
    }
}

impl Loaded {
    /// Returns the part of the study that some transcripts give.
    ///
    /// # Errors
    ///
    /// Fails if the run was stopped.
    pub fn part(&self, outcomes: ReplayOutcomes) -> Result<Part, RunError> {
        Part::new(self.record.clone(), outcomes, Given::of_replay)
    }

    /// Returns what became of the transcripts of merged parts, as [`Loaded::replay`] does. [`Loaded::results`] makes the steps across
    /// transcripts.
    ///
    /// # Errors
    ///
    /// Fails if they are of another study.
    pub fn merged(&self, part: Part) -> Result<super::Replayed, PartError> {
        part.must_be_of(&self.record)?;
        Ok(Processed::new(part.outcomes(&Given::into_replay)?))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        // Transcripts are sorted by the components of their paths.
        let [own, others] = [self, other]
            .map(|place| (place.round.as_str(), place.is_found, Path::new(&place.transcript), place.transcript.as_str()));
        own.cmp(&others)
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Place {
    fn of(transcript: &str, became: &Row) -> Self {
        let is_found = !matches!(became, Became::LeftOut(Unread::NotFound(_)));
        let round = match became {
            Became::Done(done) => done.result.round.as_str(),
            Became::LeftOut(_) => ONE_ROUND,
        };
        Self { is_found, ..Self::in_round(round, transcript) }
    }

    fn in_round(round: &str, transcript: &str) -> Self {
        Self { round: round.to_owned(), is_found: true, transcript: transcript.to_owned() }
    }
}

impl Part {
    /// Returns the part that some transcripts give.
    ///
    /// # Errors
    ///
    /// Fails if the run was stopped.
    pub(super) fn new<T>(
        study: StudyRecord,
        outcomes: Outcomes<Checkpoint<T>>,
        given: impl Fn(T) -> Given,
    ) -> Result<Self, RunError> {
        let is_left = |outcome: &&Outcome<_>| matches!(outcome.became, Became::LeftOut(Unread::Stopped));
        let (transcripts, left) = (outcomes.of.len(), outcomes.of.iter().filter(is_left).count());
        if left > 0 {
            return Err(RunError::Stopped { done: transcripts - left, transcripts });
        }
        let row = |Outcome { transcript, became }: Outcome<Checkpoint<T>>| {
            let became = became.map(|done| done.map(&given));
            (Place::of(&transcript, &became), became)
        };
        Ok(Self { study, rows: outcomes.of.into_iter().map(row).collect() })
    }

    /// Returns what became of the transcripts.
    fn outcomes<T>(self, made: &dyn Fn(Given) -> Result<T, PartError>) -> Result<Outcomes<Checkpoint<T>>, PartError> {
        let outcome = |(Place { transcript, .. }, became): (Place, Row)| {
            Ok(Outcome { transcript, became: became.try_map(|done| done.try_map(made))? })
        };
        Ok(Outcomes { of: self.rows.into_iter().map(outcome).collect::<Result<_, PartError>>()?, is_stopped: false })
    }

    /// Returns the description of the study, to load it again.
    ///
    /// # Errors
    ///
    /// Fails if it is none.
    pub fn spec(&self) -> Result<StudySpec, PartError> {
        serde_json::from_value(Value::Object(self.study.spec.clone())).map_err(|why| PartError::Row { line: 1, why })
    }

    /// Fails if it is of another study.
    pub(super) fn must_be_of(&self, study: &StudyRecord) -> Result<(), PartError> {
        difference(&self.study, study).map_or(Ok(()), |what| Err(PartError::OtherFiles(what)))
    }

    /// Whether it is a part of a sweep.
    pub fn is_of_sweep(&self) -> bool {
        self.study.spec.contains_key("sweep")
    }

    /// Number of transcripts and of paths at which nothing is, in each stage.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Merges parts of one study. Their order changes nothing, and a transcript that is in several counts once: a task may be repeated.
    ///
    /// # Errors
    ///
    /// Fails if there is none, if they are of several studies, or if they have different bytes of one transcript.
    pub fn merge(parts: impl IntoIterator<Item = Self>) -> Result<Self, PartError> {
        let mut parts = parts.into_iter();
        let mut merged = parts.next().ok_or(PartError::None)?;
        for part in parts {
            if let Some(what) = difference(&part.study, &merged.study) {
                return Err(PartError::OtherStudy(what));
            }
            for (place, became) in part.rows {
                merged.add(place, became)?;
            }
        }
        Ok(merged)
    }

    fn add(&mut self, place: Place, became: Row) -> Result<(), PartError> {
        // A file that one machine does not have may be on another.
        let other = Place { is_found: !place.is_found, ..place.clone() };
        if place.is_found {
            self.rows.remove(&other);
        } else if self.rows.contains_key(&other) {
            return Ok(());
        }
        match self.rows.entry(place) {
            Entry::Vacant(free) => {
                free.insert(became);
            }
            Entry::Occupied(mut held) => {
                if let (Became::Done(one), Became::Done(other)) = (held.get(), &became)
                    && one.result.hash != other.result.hash
                {
                    return Err(PartError::Changed(held.key().transcript.clone()));
                }
                if rank(&became) < rank(held.get()) {
                    held.insert(became);
                }
            }
        }
        Ok(())
    }
}

/// What is taken of two rows of one transcript: a result before a reason, and else the text that comes first.
fn rank(became: &Row) -> (bool, String) {
    (matches!(became, Became::LeftOut(_)), json(became))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("rows are plain data with text keys")
}
