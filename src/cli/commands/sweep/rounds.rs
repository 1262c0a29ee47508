//! The rounds of a sweep: transcripts are read and replayed again for each round of the search, and once more for the
//! final comparison.

use std::collections::HashSet;

use recompact::analysis::study::{PartialTotals, Study, with_bounds};
use recompact::analysis::sweep::{Round, Search, SearchResult, SessionTable, Split, confirm};
use recompact::results::saved::Results;
use recompact::transcript::format::Reading;

use crate::cli::error::Failure;
use crate::cli::input::{Source, Transcripts};
use crate::cli::progress::{Progress, calls_of};
use crate::cli::resume::{Checkpoint, Resumed, policies_hash};

pub struct Rounds<'a> {
    pub transcripts: &'a Transcripts,
    pub session_table: &'a SessionTable,
    /// Results of an earlier run, for `--resume`.
    pub resumed: Option<Resumed>,
    /// Keeps finished work so that `--resume` can use it. Doubles the memory of the search.
    pub keep_checkpoints: bool,
    /// Number of finished transcripts, summed over rounds.
    pub done: usize,
    /// Results of the finished transcripts, if they are kept.
    pub checkpoints: Vec<Checkpoint<Vec<PartialTotals>>>,
}

impl Rounds<'_> {
    /// Runs the search, then the final comparison; `None` if the user stopped it.
    pub fn run(&mut self, study: Study, search: Search, split: &Split) -> Result<Option<Results>, Failure> {
        let (result, study) = match self.search(study, search)? {
            Some(found) => found,
            None => return Ok(None),
        };
        self.compare(study, result, split)
    }

    /// Runs all rounds of the search. Returns the study unchanged.
    fn search(&mut self, mut study: Study, mut search: Search) -> Result<Option<(SearchResult, Study)>, Failure> {
        let progress = self.transcripts.replay_progress(search.policy_calls(self.session_table));
        while let Some(Round { index, sessions, policies }) = search.next_round() {
            study.policies = policies;
            // Two rounds may have the same policies, on other sessions of the same files.
            let round = format!("{index}: {}", policies_hash(&study.policies));
            let columns = &search.criteria().columns;
            // Checkpoints that do not fit, because the file was edited, are replayed again.
            let fits = |checkpoint: &Checkpoint<Vec<PartialTotals>>| {
                checkpoint.result.iter().all(|totals| totals.fits(study.policies.len(), columns.len()))
            };
            let (checkpoints, left) = self.read_again(
                &progress,
                &sessions,
                |source| self.resumed.as_ref()?.checkpoint(source, &round).filter(fits),
                |source, reading| {
                    Checkpoint::new(
                        source,
                        &round,
                        study.partial_totals(reading, columns, &|calls| progress.calls_replayed(calls)),
                    )
                },
            )?;
            let begin = self.checkpoints.len();
            self.checkpoints.extend(checkpoints);
            if left > 0 {
                self.done += self.checkpoints.len() - begin;
                progress.finish();
                return Ok(None);
            }
            let totals = self.checkpoints[begin..]
                .iter()
                .flat_map(|checkpoint| checkpoint.result.iter().map(|totals| (&checkpoint.transcript, totals)));
            let session_totals = totals.filter_map(|(name, totals)| {
                let session = self.session_table.session(name, &totals.conversation)?;
                Some((session, totals.added.as_slice()))
            });
            search.record_totals(self.session_table, session_totals);
            self.done += self.checkpoints.len() - begin;
            if !self.keep_checkpoints {
                self.checkpoints.clear();
            }
        }
        progress.finish();
        Ok(Some((self.transcripts.install(|| search.finish())?, study)))
    }

    /// Replays the configurations found once more with all details: on the held-out sessions, if there are any.
    fn compare(&self, mut study: Study, result: SearchResult, split: &Split) -> Result<Option<Results>, Failure> {
        study.policies = with_bounds(result.policies);
        match study.policies.iter().find(|known| known.name == study.baseline.name) {
            Some(known) => study.baseline = known.clone(),
            None => study.policies.push(study.baseline.clone()),
        }
        let sessions = if split.held_out.is_empty() { &split.develop } else { &split.held_out };
        let sessions: HashSet<usize> = sessions.iter().copied().collect();
        let policies = study.policies.len() as u64;
        let calls: u64 = sessions.iter().map(|session| self.session_table.calls(*session)).sum();
        let progress = self.transcripts.replay_progress(calls * policies);
        let (transcript_results, left) = self.read_again(
            &progress,
            &sessions,
            |_| None,
            |source, reading| {
                let result = study.transcript(source.name, reading, None);
                progress.calls_replayed(calls_of(reading) * policies);
                result
            },
        )?;
        progress.finish();
        if left > 0 {
            return Ok(None);
        }
        let mut results = self.transcripts.install(|| study.results(transcript_results))?;
        results.notes.splice(0..0, self.session_table.notes());
        let mut sweep = result.sweep;
        if split.held_out.is_empty() {
            // A p-value of what was chosen on the same sessions would be too small.
            results.comparisons.clear();
        } else {
            confirm(&mut sweep, &results, &study.policies);
        }
        Ok(Some(Results { sweep: Some(sweep), ..results }))
    }

    /// Reads the transcripts of the given sessions again, and runs `work` on the conversations of these sessions.
    fn read_again<T: Send>(
        &self,
        progress: &Progress,
        sessions: &HashSet<usize>,
        saved: impl Fn(Source) -> Option<T> + Sync,
        work: impl Fn(Source, &Reading) -> T + Sync,
    ) -> Result<(Vec<T>, usize), Failure> {
        let is_wanted = |session| sessions.contains(&session);
        let in_sessions =
            |transcript: &str, conversation: &str| self.session_table.session(transcript, conversation).is_some_and(is_wanted);
        let work = |source: Source, reading: &mut Reading| {
            reading.conversations.retain(|conversation| in_sessions(source.name, &conversation.name));
            work(source, reading)
        };
        self.transcripts.read_again(progress, |name| self.session_table.holds(name, is_wanted), saved, work)
    }
}
