//! Runs a sweep: transcripts are read and replayed again for each round of the search, and once more for the final comparison.

use std::collections::HashSet;

use super::{
    LoadedSweep, Round, Search, SearchResult, SessionId, SessionTable, Split, SweepError, TranscriptSize, add_file, confirm,
};
use crate::analysis::corpus::{self, Analysed, Corpus, Monitor, Processed, RunError, Source};
use crate::analysis::resume::{Checkpoint, Resumed, policies_hash, unfinished};
use crate::analysis::study::{NO_CALL, PartialTotals, Study, with_bounds};
use crate::engine::policy::RECORDED;
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

/// What the rounds of a search share.
struct Rounds {
    study: Study,
    split: Split,
    sessions: SessionTable,
    coverage: Coverage,
    record: StudyRecord,
    /// Number of finished transcripts, summed over rounds.
    done: usize,
    /// Results of the finished transcripts, if they are kept.
    checkpoints: Vec<Checkpoint<Vec<PartialTotals>>>,
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
    let size = |source: Source, reading: &Reading| TranscriptSize::new(study, source.name, &reading.conversations);
    corpus::for_each(corpus, monitor, |_| None, size)
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
        let rounds = Rounds { study, split, sessions, coverage, record, done: 0, checkpoints: Vec::new() };
        Ok(Self { search, rounds })
    }

    /// Runs the search, then the final comparison.
    ///
    /// # Errors
    ///
    /// Fails if a transcript cannot be read any more.
    pub fn run(self, corpus: &dyn Corpus, monitor: &dyn Monitor, continuation: &Continuation) -> Result<SweepEnd, RunError> {
        let Self { mut search, mut rounds } = self;
        let is_finished = rounds.search(&mut search, corpus, monitor, continuation)?;
        let results = if is_finished { rounds.compare(corpus, monitor, search.finish())? } else { None };
        Ok(results.map_or_else(|| rounds.stopped(), |results| SweepEnd::Finished(Box::new(results))))
    }
}

impl Rounds {
    fn stopped(self) -> SweepEnd {
        let transcripts = self.sessions.transcripts();
        let unfinished = Some(unfinished(&self.checkpoints, transcripts));
        let saved = Results { study: Some(self.record), unfinished, ..Results::of_this_program() };
        SweepEnd::Stopped { saved: Box::new(saved), done: self.done.min(transcripts), transcripts }
    }

    /// Runs all rounds of the search; `false` if it was stopped.
    fn search(
        &mut self,
        search: &mut Search,
        corpus: &dyn Corpus,
        monitor: &dyn Monitor,
        continuation: &Continuation,
    ) -> Result<bool, RunError> {
        monitor.step(search.policy_calls(&self.sessions));
        while let Some(Round { index, sessions, policies }) = search.next_round() {
            self.study.policies = policies;
            let study = &self.study;
            // Two rounds may have the same policies, on other sessions of the same files.
            let round = format!("{index}: {}", policies_hash(&study.policies));
            let columns = &search.criteria().columns;
            // Checkpoints that do not fit, because the file was edited, are replayed again.
            let fits = |checkpoint: &Checkpoint<Vec<PartialTotals>>| {
                checkpoint.result.iter().all(|totals| totals.fits(study.policies.len(), columns.len()))
            };
            let saved = |source: Source| continuation.resumed?.checkpoint(source, &round).filter(fits);
            let work = |source: Source, reading: &Reading| {
                let totals = study.partial_totals(reading, columns, &|calls| monitor.replayed(calls));
                Checkpoint::new(source, &round, totals)
            };
            let (checkpoints, left) = self.read_again(corpus, monitor, &sessions, saved, work)?;
            self.done += checkpoints.len();
            let begin = self.checkpoints.len();
            self.checkpoints.extend(checkpoints);
            if left > 0 {
                return Ok(false);
            }
            let totals = self.checkpoints[begin..]
                .iter()
                .flat_map(|checkpoint| checkpoint.result.iter().map(|totals| (&checkpoint.transcript, totals)));
            let session_totals = totals.filter_map(|(name, totals)| {
                let session = self.sessions.session(name, &totals.conversation)?;
                Some((session, totals.added.as_slice()))
            });
            search.record_totals(&self.sessions, session_totals);
            if !continuation.keep_checkpoints {
                self.checkpoints.clear();
            }
        }
        Ok(true)
    }

    /// Replays the configurations found once more with all details: on the held-out sessions, if there are any.
    fn compare(
        &mut self,
        corpus: &dyn Corpus,
        monitor: &dyn Monitor,
        SearchResult { policies, mut sweep, conditions }: SearchResult,
    ) -> Result<Option<Results>, RunError> {
        let mut policies = with_bounds(policies);
        let mut names = HashSet::new();
        policies.retain(|policy| names.insert(policy.name.clone()));
        self.study.policies = policies;
        match self.study.policies.iter().find(|known| known.name == self.study.baseline.name) {
            Some(known) => self.study.baseline = known.clone(),
            None => self.study.policies.push(self.study.baseline.clone()),
        }
        let study = &self.study;
        let is_held_out = !self.split.held_out.is_empty();
        let sessions = if is_held_out { &self.split.held_out } else { &self.split.develop };
        let sessions: HashSet<SessionId> = sessions.iter().copied().collect();
        monitor.step(self.sessions.calls_of(&sessions) * study.policies.len() as u64);
        let work = |source: Source, reading: &Reading| {
            let result = study.transcript(source.name, reading, None);
            source.replayed(reading, study.policies.len());
            result
        };
        let (transcript_results, left) = self.read_again(corpus, monitor, &sessions, |_| None, work)?;
        if left > 0 {
            return Ok(None);
        }
        let mut results = study.results(transcript_results);
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

    /// Reads the transcripts of the given sessions again, and runs `work` on the conversations of these sessions.
    fn read_again<T: Send>(
        &self,
        corpus: &dyn Corpus,
        monitor: &dyn Monitor,
        sessions: &HashSet<SessionId>,
        saved: impl Fn(Source) -> Option<T> + Sync,
        work: impl Fn(Source, &Reading) -> T + Sync,
    ) -> Result<(Vec<T>, usize), RunError> {
        let is_wanted = |session| sessions.contains(&session);
        let in_sessions =
            |transcript: &str, conversation: &str| self.sessions.session(transcript, conversation).is_some_and(is_wanted);
        let work = |source: Source, reading: &mut Reading| {
            reading.conversations.retain(|conversation| in_sessions(source.name, &conversation.name));
            work(source, reading)
        };
        corpus::read_again(corpus, monitor, |name| self.sessions.holds(name, is_wanted), saved, work)
    }
}
