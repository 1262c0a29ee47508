//! A sweep on many machines: each stage is replayed in parts, and the next one follows from what they gave.
//!
//! ```text
//!  stage                 a part has, of each transcript
//!  the first             its size, by which sessions are drawn
//!  rounds of the search  what the configurations of the round add to the totals, if it is in the round
//!  the last              the replays of the configurations found
//! ```
//!
//! Parts of all stages merge into one. [`LoadedSweep::next_part`] replays what the merged part lacks, and [`LoadedSweep::merged`] gives
//! the results if it lacks nothing.

use std::fmt;

use super::run::{Replayed, Rounds, Stage, StageError, Stages, Totals, measure_by};
use super::{LoadedSweep, SweepRun};
use crate::analysis::corpus::{Became, Corpus, Done, Monitor, Outcome, Outcomes, Processed, RunError};
use crate::analysis::part::{Given, Part, PartError};
use crate::analysis::resume::{Checkpoint, ONE_ROUND};
use crate::analysis::study::{TranscriptResult, TranscriptSize};
use crate::metrics::column::Column;
use crate::results::saved::Results;
use crate::util::text::plural;

/// What parts of a sweep give.
pub enum SweepOfParts {
    /// The results, and the errors of transcripts that could not be read.
    Finished(Box<Results>, Result<(), RunError>),
    Unfinished(NextStage),
}

/// What is to be replayed next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextStage {
    policies: usize,
    sessions: usize,
    transcripts: usize,
    /// Transcripts that no part has.
    left: usize,
}

/// The sizes of transcripts, for the first part.
pub type SizeOutcomes = Outcomes<Checkpoint<TranscriptSize>>;

impl LoadedSweep {
    /// Measures transcripts, for [`Self::first_part`].
    pub fn sizes(&self, corpus: &dyn Corpus, monitor: &dyn Monitor) -> SizeOutcomes {
        measure_by(&self.study, corpus, monitor, |source, size| Checkpoint::new(source, ONE_ROUND, size))
    }

    /// Returns the part of the first stage that some transcripts give.
    ///
    /// # Errors
    ///
    /// Fails if the run was stopped.
    pub fn first_part(&self, sizes: SizeOutcomes) -> Result<Part, RunError> {
        Part::new(self.record.clone(), sizes, Given::Size)
    }

    /// Replays what the next stage asks of some transcripts. `so_far` is the merged part of all transcripts. Returns the new part.
    ///
    /// # Errors
    ///
    /// Fails if the parts are of another sweep or nothing is left, if a transcript cannot be read any more, or if the run was stopped.
    pub fn next_part(self, so_far: Part, corpus: &dyn Corpus, monitor: &dyn Monitor) -> Result<Part, StageError> {
        let record = self.record.clone();
        let sizes = so_far.sizes()?;
        let (stages, _) = self.stages((so_far, sizes), Some((corpus, monitor)))?;
        if stages.next.is_none() {
            return Err(PartError::Complete.into());
        }
        let of = stages.new.into_iter().map(|done| Outcome {
            transcript: done.transcript.clone(),
            became: Became::Done(Done { result: done, skipped_lines: Vec::new() }),
        });
        Ok(Part::new(record, Outcomes { of: of.collect(), is_stopped: false }, |given| given)?)
    }

    /// Returns the results of the merged part of all transcripts, or what is to be replayed next. `sizes` is what [`Part::sizes`] gives:
    /// the caller also says what they skipped.
    ///
    /// # Errors
    ///
    /// Fails if the parts are of another sweep, or if there is nothing to search.
    pub fn merged(self, part: Part, sizes: Processed<TranscriptSize>) -> Result<SweepOfParts, StageError> {
        let (stages, finished) = self.stages((part, sizes), None)?;
        let unfinished = stages.next.map(SweepOfParts::Unfinished);
        Ok(finished.or(unfinished).expect("a sweep is finished, or has a next stage"))
    }

    /// Runs the stages that the parts have, and the next one on the transcripts of a corpus.
    fn stages<'a>(
        self,
        (part, sizes): (Part, Processed<TranscriptSize>),
        corpus: Option<(&'a dyn Corpus, &'a dyn Monitor)>,
    ) -> Result<(FromParts<'a>, Option<SweepOfParts>), StageError> {
        part.must_be_of(&self.record)?;
        let measured = sizes.analysed()?;
        let transcripts = measured.results.iter().map(|size| size.transcript.clone()).collect();
        let mut stages = FromParts { part, transcripts, corpus, new: Vec::new(), next: None };
        let results = SweepRun::new(self, &measured)?.by(&mut stages)?;
        let finished = results.map(|results| SweepOfParts::Finished(Box::new(results), measured.end));
        Ok((stages, finished))
    }
}

/// The stages of a sweep whose results are in parts.
struct FromParts<'a> {
    part: Part,
    /// All transcripts, in the order of their names.
    transcripts: Vec<String>,
    /// The transcripts of this machine, if it replays the next stage.
    corpus: Option<(&'a dyn Corpus, &'a dyn Monitor)>,
    /// What they gave.
    new: Vec<Checkpoint<Given>>,
    next: Option<NextStage>,
}

impl FromParts<'_> {
    /// Whether the part has all transcripts of a stage. If not, that is the next stage.
    fn is_complete(&mut self, rounds: &Rounds, stage: &Stage, is_there: impl Fn(&Given) -> bool) -> Result<bool, StageError> {
        let (mut transcripts, mut left) = (0, 0);
        for transcript in self.transcripts.iter().filter(|name| rounds.is_in(stage, name)) {
            transcripts += 1;
            left += usize::from(!self.part.given(stage.name, transcript)?.is_some_and(&is_there));
        }
        let (policies, sessions) = (rounds.policies().len(), stage.sessions.len());
        self.next = (left > 0).then_some(NextStage { policies, sessions, transcripts, left });
        Ok(left == 0)
    }

    /// Adds what transcripts gave in the next stage.
    ///
    /// # Errors
    ///
    /// Fails if the run was stopped.
    fn add<T>(&mut self, (done, left): Replayed<T>, given: impl Fn(T) -> Given) -> Result<(), StageError> {
        if left > 0 {
            return Err(RunError::Stopped { done: done.len(), transcripts: done.len() + left }.into());
        }
        self.new.extend(done.into_iter().map(|done| done.map(&given)));
        Ok(())
    }
}

impl Stages for FromParts<'_> {
    fn totals(&mut self, rounds: &Rounds, stage: &Stage, columns: &[Column]) -> Result<Option<Totals<'_>>, StageError> {
        let fits = |given: &Given| match given {
            Given::Totals(totals) => totals.iter().all(|totals| totals.fits(rounds.policies().len(), columns.len())),
            Given::Size(_) | Given::Replay(_) | Given::Inspections(_) => false,
        };
        if !self.is_complete(rounds, stage, fits)? {
            if let Some(corpus) = self.corpus {
                self.add(rounds.replay_totals(corpus, stage, columns, |_| None)?, Given::Totals)?;
            }
            return Ok(None);
        }
        let mut all = Vec::new();
        for transcript in &self.transcripts {
            if let Some(Given::Totals(totals)) = self.part.given(stage.name, transcript)? {
                all.push((transcript.as_str(), totals.as_slice()));
            }
        }
        Ok(Some(all))
    }

    fn compared(&mut self, rounds: &Rounds, stage: &Stage) -> Result<Option<Vec<TranscriptResult>>, StageError> {
        if !self.is_complete(rounds, stage, |given| matches!(given, Given::Replay(_)))? {
            if let Some(corpus) = self.corpus {
                self.add(rounds.replay_compared(corpus, stage)?, |replay| Given::Replay(replay.into()))?;
            }
            return Ok(None);
        }
        let part = &mut self.part;
        let replay = |transcript: &String| match part.take(stage.name, transcript) {
            Some(Given::Replay(replay)) => Some(*replay),
            _ => None,
        };
        Ok(Some(self.transcripts.iter().filter_map(replay).collect()))
    }
}

/// `40 configurations on 12 sessions; 7 of 30 transcripts are left`.
impl fmt::Display for NextStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { policies, sessions, transcripts, left } = *self;
        let (policies, sessions) = (plural(policies, "configuration"), plural(sessions, "session"));
        write!(f, "{policies} on {sessions}; {left} of {} are left", plural(transcripts, "transcript"))
    }
}
