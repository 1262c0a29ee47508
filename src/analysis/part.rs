//! Parts of a study: what some of its transcripts give, wherever they were replayed. Parts merge in any order, and a study of parts
//! gives the results of the whole study, to the byte.
//!
//! A part makes no step across transcripts: what copies, chance, intervals and worst lists need of each transcript is in its row, and
//! [`Loaded::results`] makes these steps as for a study on one machine.

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
use super::resume::Checkpoint;
use super::spec::{Files, Loaded, ModelRequest, ProgramRequest, ResourceError, Resources, StudySpec, difference};
use super::study::{Spill, TranscriptResult};
use crate::engine::external::{ExternalPolicies, NoExternalPolicies};
use crate::engine::summarizer::{Extract, Summarizer};
use crate::results::saved::{Program, StudyRecord};

/// The version of the form in which parts are written.
const VERSION: u32 = 2;

/// The first bytes of gzip (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What some transcripts of a study give.
#[derive(Debug)]
pub struct Part {
    study: StudyRecord,
    /// What became of each transcript, in the order of [`Place`].
    rows: BTreeMap<Place, Row>,
}

/// The place of a row: first the paths at which nothing is, then the transcripts, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    is_found: bool,
    /// The components of its path, by which transcripts are sorted.
    name: std::path::PathBuf,
    transcript: String,
}

/// What became of one transcript.
type Row = Became<Checkpoint<TranscriptResult>>;

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

/// Why parts cannot be read or merged.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    #[error("there is no part to merge")]
    None,
    #[error("not a part: the first line has no \"recompact_part\" (is it of `recompact replay … --part`?)")]
    NoPart,
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("the results of many transcripts wait in a temporary file, which cannot be written: {0} (TMPDIR names its folder)")]
    NoSpill(io::Error),
    #[error("a part of version {0}; this program reads version {VERSION}")]
    OtherVersion(u32),
    #[error("it was written by {} {}, which may count otherwise than this program, {} {}", .0.name, .0.version, Program::this().name, Program::this().version)]
    OtherProgram(Program),
    #[error("line {line}: not a row of a part: {why}")]
    Row { line: usize, why: serde_json::Error },
    #[error("it has {found} of {rows} rows: the file is cut off; replay its transcripts again")]
    CutOff { found: usize, rows: usize },
    #[error("the parts are of several studies: one has {0}")]
    OtherStudy(String),
    #[error("{0}: two parts have different bytes of it: it was changed between their runs; replay it again")]
    Changed(String),
    #[error("the part was made with {0}: finish it with the same policies and prices")]
    OtherFiles(String),
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
        let is_left = |outcome: &&Outcome<_>| matches!(outcome.became, Became::LeftOut(Unread::Stopped));
        let (transcripts, left) = (outcomes.of.len(), outcomes.of.iter().filter(is_left).count());
        if left > 0 {
            return Err(RunError::Stopped { done: transcripts - left, transcripts });
        }
        let row = |Outcome { transcript, became }| (Place::of(&transcript, &became), became);
        Ok(Part { study: self.record.clone(), rows: outcomes.of.into_iter().map(row).collect() })
    }

    /// Returns what became of the transcripts of merged parts, as [`Loaded::replay`] does. [`Loaded::results`] makes the steps across
    /// transcripts.
    ///
    /// # Errors
    ///
    /// Fails if they are of another study.
    pub fn merged(&self, part: Part) -> Result<super::Replayed, PartError> {
        if let Some(what) = difference(&part.study, &self.record) {
            return Err(PartError::OtherFiles(what));
        }
        let outcome = |(Place { transcript, .. }, became)| Outcome { transcript, became };
        let outcomes = Outcomes { of: part.rows.into_iter().map(outcome).collect(), is_stopped: false };
        Ok(Processed::new(outcomes))
    }
}

impl Place {
    fn of<T>(transcript: &str, became: &Became<T>) -> Self {
        let is_found = !matches!(became, Became::LeftOut(Unread::NotFound(_)));
        Self { is_found, name: transcript.into(), transcript: transcript.to_owned() }
    }
}

impl Part {
    /// Returns the description of the study, to load it again.
    ///
    /// # Errors
    ///
    /// Fails if it is none.
    pub fn spec(&self) -> Result<StudySpec, PartError> {
        serde_json::from_value(Value::Object(self.study.spec.clone())).map_err(|why| PartError::Row { line: 1, why })
    }

    /// Number of transcripts and of paths at which nothing is.
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
                let mut row: Outcome<Checkpoint<TranscriptResult>> =
                    serde_json::from_str(&line).map_err(|why| PartError::Row { line: nth + 1, why })?;
                if let Became::Done(done) = &mut row.became {
                    done.result.result.spill(spill).map_err(PartError::NoSpill)?;
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
