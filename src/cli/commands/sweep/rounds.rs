//! The rounds of a sweep: transcripts are read again and replayed, rung by rung, and once more for the final comparison.

use std::collections::HashSet;

use recompact::analysis::study::{PartialTotals, Study, with_bounds};
use recompact::analysis::sweep::{Round, Search, SearchResult, SessionTable, Split};
use recompact::results::saved::Results;
use recompact::transcript::format::Reading;

use crate::cli::error::Failure;
use crate::cli::input::{Source, Transcripts};
use crate::cli::progress::{Progress, calls_of};
use crate::cli::resume::{Checkpoint, Resumed, of_policies};

pub struct Rounds<'a> {
    pub transcripts: &'a Transcripts,
    pub roster: &'a SessionTable,
    /// What an earlier run finished.
    pub resumed: Option<Resumed>,
    /// Whether it is kept for another run what is finished: that is as much again as the search itself holds.
    pub saves: bool,
    /// Transcripts that are finished, round by round.
    pub done: usize,
    /// What was found of them in the search, where it is kept.
    pub worked: Vec<Checkpoint<Vec<PartialTotals>>>,
}

impl Rounds<'_> {
    /// The search, then the comparison of what it found; nothing where somebody stopped it.
    pub fn run(&mut self, study: Study, search: Search, split: &Split) -> Result<Option<Results>, Failure> {
        let (found, study) = match self.search(study, search)? {
            Some(found) => found,
            None => return Ok(None),
        };
        self.compare(study, found, split)
    }

    /// Rung by rung. The study comes back as it was given.
    fn search(&mut self, mut study: Study, mut search: Search) -> Result<Option<(SearchResult, Study)>, Failure> {
        let baseline = study.policies.clone();
        let progress = self.transcripts.replaying(search.policy_calls(self.roster));
        while let Some(Round { sessions, policies }) = search.round() {
            study.policies = [&baseline[..], &policies].concat();
            let round = of_policies(&study.policies);
            study.baseline = 0;
            let columns = &search.wishes().columns;
            // What somebody else wrote into the file is replayed again.
            let fits =
                |done: &Checkpoint<Vec<PartialTotals>>| done.part.iter().all(|tally| tally.fits(policies.len(), columns.len()));
            let (tried, left) = self.again(
                &progress,
                &sessions,
                |source| self.resumed.as_ref()?.part(source, &round).filter(fits),
                |source, reading| {
                    Checkpoint::new(source, &round, study.tallies(reading, columns, &|calls| progress.called(calls)))
                },
            )?;
            let begin = self.worked.len();
            self.worked.extend(tried);
            if left > 0 {
                self.done += self.worked.len() - begin;
                progress.finish();
                return Ok(None);
            }
            let tallies = self.worked[begin..].iter().flat_map(|of| of.part.iter().map(|tally| (&of.transcript, tally)));
            let known = tallies.filter_map(|(name, tally)| {
                let session = self.roster.session(name, &tally.conversation)?;
                Some((session, tally.added.as_slice()))
            });
            search.take(self.roster, known);
            self.done += self.worked.len() - begin;
            if !self.saves {
                self.worked.clear();
            }
        }
        progress.finish();
        study.policies = baseline;
        Ok(Some((self.transcripts.install(|| search.found())?, study)))
    }

    /// What was found, replayed once more with all there is to say of it: on the sessions held out, where there are any.
    fn compare(&self, mut study: Study, found: SearchResult, split: &Split) -> Result<Option<Results>, Failure> {
        let baseline = std::mem::take(&mut study.policies);
        study.policies = with_bounds(found.policies);
        for policy in baseline {
            let known = study.policies.iter().position(|known| known.name == policy.name);
            study.baseline = known.unwrap_or(study.policies.len());
            study.policies.extend(known.is_none().then_some(policy));
        }
        let sessions = if split.held_out.is_empty() { &split.develop } else { &split.held_out };
        let sessions: HashSet<usize> = sessions.iter().copied().collect();
        let policies = study.policies.len() as u64;
        let calls: u64 = sessions.iter().map(|session| self.roster.calls(*session)).sum();
        let progress = self.transcripts.replaying(calls * policies);
        let (parts, left) = self.again(
            &progress,
            &sessions,
            |_| None,
            |source, reading| {
                let part = study.transcript(source.name, reading, None);
                progress.called(calls_of(reading) * policies);
                part
            },
        )?;
        progress.finish();
        let results = || self.transcripts.install(|| study.results(parts));
        (left == 0).then(|| Ok(Results { sweep: Some(found.sweep), ..results()? })).transpose()
    }

    /// Reads the transcripts of some sessions again, and does some work on the conversations of these.
    fn again<T: Send>(
        &self,
        progress: &Progress,
        sessions: &HashSet<usize>,
        finished: impl Fn(Source) -> Option<T> + Sync,
        work: impl Fn(Source, &Reading) -> T + Sync,
    ) -> Result<(Vec<T>, usize), Failure> {
        let is_wanted = |session| sessions.contains(&session);
        let of = |transcript: &str, conversation: &str| self.roster.session(transcript, conversation).is_some_and(is_wanted);
        let work = |source: Source, reading: &mut Reading| {
            reading.conversations.retain(|conversation| of(source.name, &conversation.name));
            work(source, reading)
        };
        self.transcripts.again(progress, |name| self.roster.holds(name, is_wanted), finished, work)
    }
}
