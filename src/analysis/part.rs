//! Parts of a study: what some of its transcripts give, wherever they were replayed. Parts merge in any order, and a study of parts
//! gives the results of the whole study, to the byte.
//!
//! A part makes no step across transcripts: what copies, chance, intervals and worst lists need of each transcript is in its row, and
//! [`Loaded::results`] makes these steps as for a study on one machine.

mod error;
mod of_sweep;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ReplayOutcomes;
use super::corpus::{Became, Outcome, Outcomes, Processed, RunError, Unread};
use super::resume::{Checkpoint, ONE_ROUND};
use super::spec::{Files, Loaded, ModelRequest, ProgramRequest, ResourceError, Resources, StudySpec, difference};
use super::study::{PartialTotals, Spill, TranscriptResult, TranscriptSize};
use crate::engine::external::{ExternalPolicies, NoExternalPolicies};
use crate::engine::summarizer::{Extract, Summarizer};
use crate::results::saved::{Program, StudyRecord};

pub use error::PartError;

/// The version of the form in which parts are written.
const VERSION: u32 = 4;

/// The first bytes of gzip (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What some transcripts of a study give.
#[derive(Debug)]
pub struct Part {
    study: StudyRecord,
    /// What became of each transcript, in the order of [`Place`].
    rows: BTreeMap<Place, Row>,
}

/// The place of a row: by the stage of a sweep, then first the paths at which nothing is, then the transcripts, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// As in a [`Checkpoint`]: [`ONE_ROUND`] in a replay, and for the first stage of a sweep.
    round: String,
    is_found: bool,
    /// The components of its path, by which transcripts are sorted.
    name: std::path::PathBuf,
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
}

/// The first line of a written part. Each further line is a row.
#[derive(Serialize, Deserialize)]
struct Header {
    recompact_part: u32,
    program: Program,
    /// Number of rows: a file that was cut off has fewer.
    rows: usize,
    study: StudyRecord,
}

/// An [`Outcome`], to be written.
#[derive(Serialize)]
struct WrittenRow<'a> {
    transcript: &'a str,
    became: &'a Row,
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
        Part::new(self.record.clone(), outcomes, |replay| Given::Replay(replay.into()))
    }

    /// Returns what became of the transcripts of merged parts, as [`Loaded::replay`] does. [`Loaded::results`] makes the steps across
    /// transcripts.
    ///
    /// # Errors
    ///
    /// Fails if they are of another study.
    pub fn merged(&self, part: Part) -> Result<super::Replayed, PartError> {
        part.must_be_of(&self.record)?;
        let replay = |given| match given {
            Given::Replay(replay) => Ok(*replay),
            Given::Size(_) | Given::Totals(_) => Err(PartError::OfSweep),
        };
        let outcome = |(Place { transcript, .. }, became): (Place, Row)| {
            Ok(Outcome { transcript, became: became.try_map(|done| done.try_map(replay))? })
        };
        let of = part.rows.into_iter().map(outcome).collect::<Result<_, PartError>>()?;
        Ok(Processed::new(Outcomes { of, is_stopped: false }))
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
        let (name, transcript) = (transcript.into(), transcript.to_owned());
        Self { round: round.to_owned(), is_found: true, name, transcript }
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

    /// Returns the lines of its written form, which are JSON: a header, and a row for each transcript. The same transcripts give the same
    /// lines.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let header =
            Header { recompact_part: VERSION, program: Program::this(), rows: self.rows.len(), study: self.study.clone() };
        let row = |(Place { transcript, .. }, became): (&Place, _)| json(&WrittenRow { transcript, became });
        [json(&header)].into_iter().chain(self.rows.iter().map(row))
    }

    /// Writes its written form, compressed by gzip.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub fn write(&self, to: impl Write) -> io::Result<()> {
        let mut to = GzEncoder::new(to, Compression::default());
        self.lines().try_for_each(|line| writeln!(to, "{line}"))?;
        to.finish().map(drop)
    }

    /// Returns its written form, compressed by gzip.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes).expect("memory can be written to");
        bytes
    }

    /// Reads its written form, compressed or not. The results of many transcripts wait in a file.
    ///
    /// # Errors
    ///
    /// Fails unless it is a whole part of this version of the program.
    pub fn read(from: impl Read, spill: &Spill) -> Result<Self, PartError> {
        let mut from = BufReader::new(from);
        if from.fill_buf().map_err(PartError::Unreadable)?.starts_with(&GZIP) {
            Self::from_lines(BufReader::new(MultiGzDecoder::new(from)), spill)
        } else {
            Self::from_lines(from, spill)
        }
    }

    fn from_lines(from: impl BufRead, spill: &Spill) -> Result<Self, PartError> {
        let mut lines = from.lines().enumerate();
        let (_, first) = lines.next().ok_or(PartError::NoPart)?;
        let header: Header = serde_json::from_str(&first.map_err(PartError::Unreadable)?).map_err(|_| PartError::NoPart)?;
        if header.recompact_part != VERSION {
            return Err(PartError::OtherVersion(header.recompact_part));
        }
        if header.program != Program::this() {
            return Err(PartError::OtherProgram(header.program));
        }
        let rows: BTreeMap<Place, Row> = lines
            .map(|(nth, line)| {
                let line = line.map_err(PartError::Unreadable)?;
                let mut row: Outcome<Checkpoint<Given>> =
                    serde_json::from_str(&line).map_err(|why| PartError::Row { line: nth + 1, why })?;
                if let Became::Done(done) = &mut row.became
                    && let Given::Replay(replay) = &mut done.result.result
                {
                    replay.spill(spill).map_err(PartError::NoSpill)?;
                }
                Ok((Place::of(&row.transcript, &row.became), row.became))
            })
            .collect::<Result<_, PartError>>()?;
        match rows.len() {
            found if found == header.rows => Ok(Self { study: header.study, rows }),
            found => Err(PartError::CutOff { found, rows: header.rows }),
        }
    }
}

/// What is taken of two rows of one transcript: a result before a reason, and else the text that comes first.
fn rank(became: &Row) -> (bool, String) {
    (matches!(became, Became::LeftOut(_)), json(became))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("rows are plain data with text keys")
}
