//! Runs a sweep: transcripts are read and replayed again for each round of the search, and once more for the final comparison.

use std::collections::HashSet;

use super::{LoadedSweep, Round, Search, SearchResult, SessionId, SessionTable, Split, SweepError, add_file, confirm};
use crate::analysis::corpus::{self, Analysed, Corpus, Done, Monitor, Outcomes, Processed, RunError, Source};
use crate::analysis::part::PartError;
use crate::analysis::resume::{Checkpoint, Resumed, policies_hash, unfinished};
use crate::analysis::study::{NO_CALL, PartialTotals, Study, TranscriptResult, TranscriptSize, with_bounds};
use crate::engine::alike::PolicyForms;
use crate::engine::policy::{Policy, RECORDED};
use crate::metrics::column::Column;
use crate::results::saved::{Coverage, Results, StudyRecord};
use crate::transcript::format::Reading;

/// A sweep over the sessions of a corpus.
pub struct SweepRun {
    search: Search,
    rounds: Rounds,
}

/// The result of a sweep.
pub enum SweepEnd {
    Finished(Box<Results>),
    /// It was stopped. The results hold what is finished, for [`Resumed`], and no front, because one over the transcripts that came
    /// first would mislead.
    Stopped {
        saved: Box<Results>,
        done: usize,
        transcripts: usize,
    },
}

/// What a sweep takes over and keeps, so that a stopped one can be continued.
#[derive(Default)]
pub struct Continuation<'a> {
    /// Results of an earlier run.
    pub resumed: Option<&'a Resumed>,
    /// Keeps finished work for the results of a stopped sweep. Doubles the memory of the search.
    pub keep_checkpoints: bool,
}

/// Reads all transcripts and measures them for a study: the first pass of a sweep.
pub fn measure(study: &Study, corpus: &dyn Corpus, monitor: &dyn Monitor) -> Processed<TranscriptSize> {
    Processed::new(measure_by(study, corpus, monitor, |_, size| size))
}

/// Measures all transcripts, and makes something of each size.
pub(super) fn measure_by<T: Send>(
    study: &Study,
    corpus: &dyn Corpus,
    monitor: &dyn Monitor,
    work: impl Fn(Source, TranscriptSize) -> T + Sync,
) -> Outcomes<T> {
    let size = |source: Source, reading: &Reading| TranscriptSize::new(study, source.name, &reading.conversations);
    corpus::outcomes(corpus, monitor, |_| None, |source, reading| work(source, size(source, reading)))
}

/// What the rounds of a search share.
pub(super) struct Rounds {
    study: Study,
    split: Split,
    sessions: SessionTable,
    coverage: Coverage,
    record: StudyRecord,
}

/// What is replayed of each conversation of some sessions, with the policies of the study.
pub(super) struct Stage<'a> {
    /// Its name: no other stage of a sweep has it.
    pub(super) name: &'a str,
    pub(super) sessions: &'a HashSet<SessionId>,
}

/// What each replayed transcript gave, and the number of those that were not begun because the run was stopped.
pub(super) type Replayed<T> = (Vec<Checkpoint<T>>, usize);

/// What the transcripts of a round add to the totals, by the name of the transcript.
pub(super) type Totals<'a> = Vec<(&'a str, &'a [PartialTotals])>;

/// Why a stage of a sweep gives nothing.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A transcript cannot be read any more, or the run was stopped.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The parts are of another sweep.
    #[error(transparent)]
    Part(#[from] PartError),
    /// There is nothing to search.
    #[error(transparent)]
    Sweep(#[from] SweepError),
}

/// Where the results of the stages of a sweep come from.
pub(super) trait Stages {
    /// Returns what the transcripts of a round add to the totals of these columns, in their order; `None` if that is not complete.
    fn totals(&mut self, rounds: &Rounds, stage: &Stage, columns: &[Column]) -> Result<Option<Totals<'_>>, StageError>;

    /// Returns the results of the transcripts of the final comparison, in their order; `None` if they are not complete.
    fn compared(&mut self, rounds: &Rounds, stage: &Stage) -> Result<Option<Vec<TranscriptResult>>, StageError>;
}

impl SweepRun {
    /// Splits the sessions of the measured transcripts ([`measure`]) and prepares the search.
    ///
    /// # Errors
    ///
    /// Fails if no session has a call, or if the share to hold out leaves none.
    pub fn new(loaded: LoadedSweep, measured: &Analysed<TranscriptSize>) -> Result<Self, SweepError> {
        let LoadedSweep { study, spaces, candidates, mut references, criteria, is_sampled, holdout, record } = loaded;
        let (sizes, mut coverage) = (&measured.results, measured.coverage.clone());
        let without_call = sizes.iter().filter(|size| size.conversations.iter().all(|conversation| conversation.calls == 0));
        without_call.for_each(|size| coverage.leave_out(&size.transcript, NO_CALL));
        let sessions = SessionTable::new(sizes);
        if sessions.sessions() == 0 {
            return Err(SweepError::Wrong("nothing could be replayed: no conversation holds a model call".to_owned()));
        }
        let split = sessions.split(holdout.unwrap_or_else(|| sessions.default_holdout()), study.seed)?;
        references.retain(|policy| policy.name != RECORDED || sessions.is_compacted);
        let search = Search::new(candidates, spaces, references, criteria, split.clone(), is_sampled, study.seed);
        let rounds = Rounds { study, split, sessions, coverage, record };
        Ok(Self { search, rounds })
    }

    /// Runs the search, then the final comparison.
    ///
    /// # Errors
    ///
    /// Fails if a transcript cannot be read any more.
    pub fn run(self, corpus: &dyn Corpus, monitor: &dyn Monitor, continuation: &Continuation) -> Result<SweepEnd, StageError> {
        let (record, transcripts) = (self.rounds.record.clone(), self.rounds.sessions.transcripts());
        let mut replays = Replays { corpus, monitor, continuation, done: 0, checkpoints: Vec::new() };
        monitor.step(self.search.policy_calls(&self.rounds.sessions));
        if let Some(results) = self.by(&mut replays)? {
            return Ok(SweepEnd::Finished(Box::new(results)));
        }
        let unfinished = Some(unfinished(&replays.checkpoints, transcripts));
        let saved = Results { study: Some(record), unfinished, ..Results::of_this_program() };
        Ok(SweepEnd::Stopped { saved: Box::new(saved), done: replays.done.min(transcripts), transcripts })
    }

    /// Runs the stages with their results from elsewhere; `None` if they are not complete.
    pub(super) fn by(self, stages: &mut dyn Stages) -> Result<Option<Results>, StageError> {
        let Self { mut search, mut rounds } = self;
        if !rounds.search(&mut search, stages)? {
            return Ok(None);
        }
        rounds.compare(stages, search.finish())
    }
}

impl Rounds {
    /// Runs all rounds of the search; `false` if one is not complete.
    fn search(&mut self, search: &mut Search, stages: &mut dyn Stages) -> Result<bool, StageError> {
        while let Some(Round { index, sessions, policies }) = search.next_round() {
            self.study.policies = policies;
            // Two rounds may have the same policies, on other sessions of the same files.
            let name = format!("{index}: {}", policies_hash(&self.study.policies));
            let stage = Stage { name: &name, sessions: &sessions };
            let Some(totals) = stages.totals(self, &stage, &search.criteria().columns)? else { return Ok(false) };
            let totals = totals.into_iter().flat_map(|(name, totals)| totals.iter().map(move |totals| (name, totals)));
            let session_totals = totals.filter_map(|(name, totals)| {
                let session = self.sessions.session(name, &totals.conversation)?;
                Some((session, totals.added.as_slice()))
            });
            search.record_totals(&self.sessions, session_totals);
        }
        Ok(true)
    }

    /// Compares the configurations found once more with all details: on the held-out sessions, if there are any.
    fn compare(
        &mut self,
        stages: &mut dyn Stages,
        SearchResult { policies, mut sweep, conditions }: SearchResult,
    ) -> Result<Option<Results>, StageError> {
        let mut policies = with_bounds(policies);
        let mut names = HashSet::new();
        policies.retain(|policy| names.insert(policy.name.clone()));
        self.study.policies = policies;
        match self.study.policies.iter().find(|known| known.name == self.study.baseline.name) {
            Some(known) => self.study.baseline = known.clone(),
            None => self.study.policies.push(self.study.baseline.clone()),
        }
        let is_held_out = !self.split.held_out.is_empty();
        let sessions = if is_held_out { &self.split.held_out } else { &self.split.develop };
        let sessions: HashSet<SessionId> = sessions.iter().copied().collect();
        let name = format!("compared: {}", policies_hash(&self.study.policies));
        let Some(compared) = stages.compared(self, &Stage { name: &name, sessions: &sessions })? else { return Ok(None) };
        let study = &self.study;
        let mut results = study.results(compared);
        results.notes.splice(0..0, self.sessions.notes());
        if is_held_out {
            confirm(&mut sweep, &results, &conditions);
        } else {
            // A p-value of what was chosen on the same sessions would be too small.
            results.comparisons.clear();
        }
        add_file(&mut sweep, &study.policies, |policy| self.sessions.windows(policy));
        let (study, coverage) = (Some(self.record.clone()), self.coverage.clone());
        Ok(Some(Results { sweep: Some(sweep), study, coverage, ..results }))
    }

    /// Whether a stage replays a conversation of a transcript.
    pub(super) fn is_in(&self, stage: &Stage, transcript: &str) -> bool {
        self.sessions.holds(transcript, |session| stage.sessions.contains(&session))
    }

    /// The policies of the present stage.
    pub(super) fn policies(&self) -> &[Policy] {
        &self.study.policies
    }

    /// Replays the transcripts of a round that `saved` does not have.
    pub(super) fn replay_totals(
        &self,
        (corpus, monitor): (&dyn Corpus, &dyn Monitor),
        stage: &Stage,
        columns: &[Column],
        saved: impl Fn(Source) -> Option<Done<Checkpoint<Vec<PartialTotals>>>> + Sync,
    ) -> Result<Replayed<Vec<PartialTotals>>, StageError> {
        let forms = PolicyForms::new(&self.study.policies);
        let work = |source: Source, reading: &Reading| {
            let totals = self.study.partial_totals(&forms, reading, columns, &|calls| monitor.replayed(calls));
            Checkpoint::new(source, stage.name, totals)
        };
        self.read_again((corpus, monitor), stage, saved, work)
    }

    /// Replays the transcripts of the final comparison, as [`Self::replay_totals`].
    pub(super) fn replay_compared(
        &self,
        (corpus, monitor): (&dyn Corpus, &dyn Monitor),
        stage: &Stage,
    ) -> Result<Replayed<TranscriptResult>, StageError> {
        let work = |source: Source, reading: &Reading| {
            let result = self.study.transcript(source.name, reading, None);
            source.replayed(reading, self.study.policies.len());
            Checkpoint::new(source, stage.name, result)
        };
        self.read_again((corpus, monitor), stage, |_| None, work)
    }

    /// Reads the transcripts of the stage's sessions again, and runs `work` on the conversations of these sessions.
    fn read_again<T: Send>(
        &self,
        (corpus, monitor): (&dyn Corpus, &dyn Monitor),
        stage: &Stage,
        saved: impl Fn(Source) -> Option<Done<T>> + Sync,
        work: impl Fn(Source, &Reading) -> T + Sync,
    ) -> Result<(Vec<T>, usize), StageError> {
        let in_sessions = |transcript: &str, conversation: &str| {
            self.sessions.session(transcript, conversation).is_some_and(|session| stage.sessions.contains(&session))
        };
        let work = |source: Source, reading: &mut Reading| {
            reading.conversations.retain(|conversation| in_sessions(source.name, &conversation.name));
            work(source, reading)
        };
        Ok(corpus::read_again(corpus, monitor, |name| self.is_in(stage, name), saved, work)?)
    }
}

/// The stages of a sweep of this process.
struct Replays<'a> {
    corpus: &'a dyn Corpus,
    monitor: &'a dyn Monitor,
    continuation: &'a Continuation<'a>,
    /// Number of finished transcripts, summed over rounds.
    done: usize,
    /// Results of the finished transcripts: those of the last round, or of all if they are kept.
    checkpoints: Vec<Checkpoint<Vec<PartialTotals>>>,
}

impl Stages for Replays<'_> {
    fn totals(&mut self, rounds: &Rounds, stage: &Stage, columns: &[Column]) -> Result<Option<Totals<'_>>, StageError> {
        if !self.continuation.keep_checkpoints {
            self.checkpoints.clear();
        }
        // Checkpoints that do not fit, because the file was edited, are replayed again.
        let fits = |done: &Done<Checkpoint<Vec<PartialTotals>>>| {
            done.result.result.iter().all(|totals| totals.fits(rounds.policies().len(), columns.len()))
        };
        let saved = |source: Source| self.continuation.resumed?.checkpoint(source, stage.name).filter(fits);
        let (checkpoints, left) = rounds.replay_totals((self.corpus, self.monitor), stage, columns, saved)?;
        self.done += checkpoints.len();
        let begin = self.checkpoints.len();
        self.checkpoints.extend(checkpoints);
        let of_round = self.checkpoints[begin..].iter();
        Ok((left == 0).then(|| of_round.map(|done| (done.transcript.as_str(), done.result.as_slice())).collect()))
    }

    fn compared(&mut self, rounds: &Rounds, stage: &Stage) -> Result<Option<Vec<TranscriptResult>>, StageError> {
        self.monitor.step(rounds.sessions.calls_of(stage.sessions) * rounds.policies().len() as u64);
        let (checkpoints, left) = rounds.replay_compared((self.corpus, self.monitor), stage)?;
        Ok((left == 0).then(|| checkpoints.into_iter().map(|done| done.result).collect()))
    }
}
