//! `recompact sweep`: a policy's parameters → many configurations → a front, and which of it to take.

use std::path::PathBuf;

use clap::Args;

use recompact::format::Reading;
use recompact::results::{Added, Results};
use recompact::study::{Study, with_bounds};
use recompact::sweep::{Condition, Found, Parameter, Roster, Round, Search, Seen, Split, Wishes, candidates, spaces};

use super::Failure;
use super::input::{Source, Transcripts};
use super::present::Present;
use super::studied::Studied;
use crate::output;

/// How many of the worst misses and of the dearest breaks are listed for each policy, as `replay` does.
const LISTED: usize = 3;

#[derive(Args)]
pub struct Sweep {
    #[command(flatten)]
    transcripts: Transcripts,
    #[command(flatten)]
    studied: Studied,
    /// Vary a value of the policies by its layer's id: --set micro.keep_recent=1..10 --set auto.threshold=20k..120k:20k
    /// --set budget.max_bytes=50KB,100KB; a single value is fixed; all together make a grid
    #[arg(long = "set", value_name = "LAYER.FIELD=VALUES", required = true)]
    settings: Vec<Parameter>,
    /// Try only so many configurations, spread evenly (Sobol); after a quarter and after half of the sessions the worse half of
    /// them is left behind
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    sample: Option<usize>,
    /// What must hold, on the totals of a column: --where 'kept.hard <= 2%'; may be given several times
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// A column to be kept small; may be given several times [default: --minimize cost.ratio --maximize kept.hit --maximize
    /// kept.constraints]
    #[arg(long, value_name = "COLUMN")]
    minimize: Vec<String>,
    /// A column to be made large; may be given several times
    #[arg(long, value_name = "COLUMN")]
    maximize: Vec<String>,
    /// Keep this share of the sessions apart: choose on the others, report on these
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = part)]
    holdout: f64,
    /// Write the recommended policy there, ready for -p
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    present: Present,
}

fn at_least_one(number: &str) -> Result<usize, String> {
    number.parse().ok().filter(|number| *number > 0).ok_or_else(|| "a number from 1 on is needed".to_owned())
}

fn part(written: &str) -> Result<f64, String> {
    let share = written.parse().ok().filter(|share: &f64| (0.0..1.0).contains(share));
    share.ok_or_else(|| "a share below 1 is needed, such as 0.3 for 30 %".to_owned())
}

impl Sweep {
    pub fn run(self) -> Result<(), Failure> {
        // All that may be wrong with the arguments, before anything is read.
        let wishes = Wishes::new(&self.minimize, &self.maximize, self.conditions.clone())?;
        let spaces = spaces(&self.studied.sources()?, &self.settings)?;
        let study = Study { misses: LISTED, breaks: LISTED, ..self.studied.study(Vec::new())? };
        let candidates = candidates(&spaces, self.sample, study.seed)?;
        self.transcripts.must_be_files()?;

        let (roster, end) = self.first_look()?;
        let split = roster.split(self.holdout, study.seed)?;
        let search = Search::new(spaces, candidates, wishes, split.clone(), self.sample.is_some(), study.seed);
        let (found, study) = self.search(study, search, &roster)?;
        let results = self.compare(study, found, &roster, &split)?;
        self.present.results(&results)?;
        self.save_recommended(&results)?;
        end
    }

    /// Which sessions there are. What went wrong with some transcripts is given back for the end of the run.
    fn first_look(&self) -> Result<(Roster, Result<(), Failure>), Failure> {
        let look = |source: Source, reading: &Reading| {
            let seen = |conversation: &recompact::conversation::Conversation| Seen {
                conversation: conversation.name.clone(),
                calls: conversation.calls.len() as u64,
            };
            (source.name.to_owned(), reading.conversations.iter().map(seen).collect::<Vec<_>>())
        };
        let done = self.transcripts.for_each(&[self.present.out(), self.save.as_deref()], false, look, look, |_| None)?;
        let (seen, end) = done.analysed()?;
        let roster = Roster::new(&seen);
        if roster.sessions() == 0 {
            return Err(Failure::Usage("nothing could be replayed: no conversation holds a model call".to_owned()));
        }
        Ok((roster, end))
    }

    /// Rung by rung. The study comes back as it was given.
    fn search(&self, mut study: Study, mut search: Search, roster: &Roster) -> Result<(Found, Study), Failure> {
        let baseline = study.policies.clone();
        let progress = self.transcripts.replaying(search.policy_calls(roster));
        while let Some(Round { sessions, policies }) = search.round() {
            study.policies = [&baseline[..], &policies].concat();
            study.baseline = 0;
            let columns = &search.wishes().columns;
            let work = |name: &str, reading| {
                let reading = only(reading, |conversation| {
                    roster.session(name, conversation).is_some_and(|session| sessions.contains(&session))
                });
                let tallies = study.tallies(&reading, columns, &|calls| progress.called(calls)).into_iter();
                let known = tallies.filter_map(|tally| Some((roster.session(name, &tally.conversation)?, tally.added)));
                known.collect::<Vec<(usize, Vec<Vec<Option<Added>>>)>>()
            };
            let is_wanted = |name: &str| roster.holds(name, |session| sessions.contains(&session));
            let tallies = self.transcripts.again(is_wanted, work)?;
            search.take(roster, tallies.into_iter().flatten());
        }
        progress.finish();
        study.policies = baseline;
        Ok((self.transcripts.install(|| search.found())?, study))
    }

    /// What was found, replayed once more with all there is to say of it: on the sessions held out, where there are any.
    fn compare(&self, mut study: Study, found: Found, roster: &Roster, split: &Split) -> Result<Results, Failure> {
        let baseline = std::mem::take(&mut study.policies);
        study.policies = with_bounds(found.policies);
        for policy in baseline {
            let known = study.policies.iter().position(|known| known.name == policy.name);
            study.baseline = known.unwrap_or(study.policies.len());
            study.policies.extend(known.is_none().then_some(policy));
        }
        let sessions = if split.held_out.is_empty() { &split.develop } else { &split.held_out };
        let is_wanted = |name: &str| roster.holds(name, |session| sessions.contains(&session));
        let policies = study.policies.len() as u64;
        let calls: u64 = sessions.iter().map(|session| roster.calls(*session)).sum();
        let progress = self.transcripts.replaying(calls * policies);
        let work = |name: &str, reading| {
            let reading = only(reading, |conversation| {
                roster.session(name, conversation).is_some_and(|session| sessions.contains(&session))
            });
            let part = study.transcript(name, &reading, None);
            let calls: usize = reading.conversations.iter().map(|conversation| conversation.calls.len()).sum();
            progress.called(calls as u64 * policies);
            part
        };
        let parts = self.transcripts.again(is_wanted, work)?;
        progress.finish();
        Ok(Results { sweep: Some(found.sweep), ..self.transcripts.install(|| study.results(parts))? })
    }

    fn save_recommended(&self, results: &Results) -> Result<(), Failure> {
        let Some(file) = &self.save else { return Ok(()) };
        match results.sweep.as_ref().and_then(|sweep| sweep.recommended.as_ref()) {
            Some(recommended) => Ok(output::write(Some(file), recommended.toml.as_bytes())?),
            None => {
                let what = format!("{}: nothing was saved, for no configuration meets the conditions", file.display());
                Err(Failure::Usage(what))
            }
        }
    }
}

/// A reading with some of its conversations.
fn only(reading: Reading, is_wanted: impl Fn(&str) -> bool) -> Reading {
    let mut reading = reading;
    reading.conversations.retain(|conversation| is_wanted(&conversation.name));
    reading
}
