//! Parts of a study: what some of its transcripts give, wherever they were replayed. Parts merge in any order, and a study of parts
//! gives the results of the whole study, to the byte.
//!
//! A part makes no step across transcripts: what copies, chance, intervals and worst lists need of each transcript is in its row, and
//! [`Part::finish`] makes these steps as [`Loaded::results`] does for a study on one machine.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ReplayOutcomes;
use super::corpus::{Became, Done, Outcome, Outcomes, Processed, RunError, Unread};
use super::resume::{Checkpoint, ONE_ROUND};
use super::spec::{Loaded, StudySpec, difference};
use super::study::TranscriptResult;
use crate::results::saved::{Program, Results, StudyRecord};

/// The version of the form in which parts are written.
const VERSION: u32 = 1;

/// What some transcripts of a study give.
#[derive(Debug)]
pub struct Part {
    study: StudyRecord,
    /// What became of each transcript, in the order of [`Place`].
    rows: BTreeMap<Place, Became<Replayed>>,
}

/// The place of a row: first the paths at which nothing is, then the transcripts, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    is_found: bool,
    /// The components of its path, by which transcripts are sorted.
    name: std::path::PathBuf,
    transcript: String,
}

/// The result of a transcript.
#[derive(Debug, Serialize, Deserialize)]
struct Replayed {
    /// XXH3 hash of the transcript's bytes, in hexadecimal.
    hash: String,
    result: TranscriptResult,
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
    became: &'a Became<Replayed>,
}

/// Why parts cannot be read or merged.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    #[error("there is no part to merge")]
    None,
    #[error("not a part: the first line has no \"recompact_part\" (is it of `recompact replay … --part`?)")]
    NoPart,
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
    #[error(transparent)]
    Nothing(RunError),
    #[error("the part was made with {0}: finish it with the same policies and prices")]
    OtherFiles(String),
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
        let row = |Outcome { transcript, became }| {
            let became = match became {
                Became::Done(Done { result: Checkpoint { hash, result, .. }, skipped_lines }) => {
                    Became::Done(Done { result: Replayed { hash, result }, skipped_lines })
                }
                Became::LeftOut(why) => Became::LeftOut(why),
            };
            (Place::of(&transcript, &became), became)
        };
        Ok(Part { study: self.record.clone(), rows: outcomes.of.into_iter().map(row).collect() })
    }

    /// Makes the steps across transcripts. Returns the results of the study, and the errors of transcripts that are left out, as
    /// [`Loaded::results`].
    ///
    /// # Errors
    ///
    /// Fails if this is another study, or if no transcript could be analysed.
    pub fn finish(&self, part: Part) -> Result<(Results, Result<(), RunError>), PartError> {
        if let Some(what) = difference(&part.study, &self.record) {
            return Err(PartError::OtherFiles(what));
        }
        let outcome = |(Place { transcript, .. }, became): (Place, Became<Replayed>)| {
            let became = match became {
                Became::Done(Done { result: Replayed { hash, result }, skipped_lines }) => {
                    let result = Checkpoint { transcript: transcript.clone(), hash, round: ONE_ROUND.to_owned(), result };
                    Became::Done(Done { result, skipped_lines })
                }
                Became::LeftOut(why) => Became::LeftOut(why),
            };
            Outcome { transcript, became }
        };
        let outcomes = Outcomes { of: part.rows.into_iter().map(outcome).collect(), is_stopped: false };
        self.results(Processed::new(outcomes)).map_err(PartError::Nothing)
    }
}

impl Place {
    fn of<T>(transcript: &str, became: &Became<T>) -> Self {
        let is_found = !matches!(became, Became::LeftOut(Unread::NotFound(_)));
        Self { is_found, name: transcript.into(), transcript: transcript.to_owned() }
    }
}

impl Part {
    /// The study of which it is a part.
    pub fn study(&self) -> &StudyRecord {
        &self.study
    }

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

    fn add(&mut self, place: Place, became: Became<Replayed>) -> Result<(), PartError> {
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

    /// Returns it as lines of JSON: a header, and a row for each transcript. The same transcripts give the same bytes.
    pub fn to_json_lines(&self) -> String {
        let header =
            Header { recompact_part: VERSION, program: Program::this(), rows: self.rows.len(), study: self.study.clone() };
        let mut lines = json(&header) + "\n";
        for (Place { transcript, .. }, became) in &self.rows {
            lines += &json(&WrittenRow { transcript, became });
            lines.push('\n');
        }
        lines
    }

    /// Reads what [`Self::to_json_lines`] wrote.
    ///
    /// # Errors
    ///
    /// Fails unless it is a whole part of this version of the program.
    pub fn from_json_lines(text: &str) -> Result<Self, PartError> {
        let mut lines = text.lines().enumerate();
        let (_, first) = lines.next().ok_or(PartError::NoPart)?;
        let header: Header = serde_json::from_str(first).map_err(|_| PartError::NoPart)?;
        if header.recompact_part != VERSION {
            return Err(PartError::OtherVersion(header.recompact_part));
        }
        if header.program != Program::this() {
            return Err(PartError::OtherProgram(header.program));
        }
        let rows: BTreeMap<Place, Became<Replayed>> = lines
            .map(|(nth, line)| {
                let row: Outcome<Replayed> = serde_json::from_str(line).map_err(|why| PartError::Row { line: nth + 1, why })?;
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
fn rank(became: &Became<Replayed>) -> (bool, String) {
    (matches!(became, Became::LeftOut(_)), json(became))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("rows are plain data with text keys")
}
