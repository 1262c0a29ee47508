//! `recompact sweep`: a policy's parameters → many configurations → a front, and which of it to take.

mod rounds;

use std::path::PathBuf;

use clap::Args;

use recompact::analysis::study::Study;
use recompact::analysis::sweep::{Candidate, Criteria, Parameter, Search, SessionSize, SessionTable, candidates, spaces};
use recompact::engine::policy::Policy;
use recompact::results::condition::Condition;
use recompact::results::saved::{Results, VERSION};
use recompact::transcript::format::Reading;

use crate::cli::args::output::OutputArgs;
use crate::cli::args::study::StudyArgs;
use crate::cli::error::Failure;
use crate::cli::input::{Source, Transcripts, at_least_one};
use crate::cli::output;
use crate::cli::resume::{Fingerprint, POLICIES, Resumed, of_policies, unfinished};
use rounds::Rounds;

/// How many of the worst misses and of the dearest breaks are listed for each policy, as `replay` does.
const LISTED: usize = 3;

#[derive(Args)]
pub struct Sweep {
    #[command(flatten)]
    transcripts: Transcripts,
    #[command(flatten)]
    studied: StudyArgs,
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
    /// Go on with a sweep that was stopped by Ctrl-C: its results, saved with -o json
    #[arg(long, value_name = "RESULTS.json")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    present: OutputArgs,
}

fn part(written: &str) -> Result<f64, String> {
    let share = written.parse().ok().filter(|share: &f64| (0.0..1.0).contains(share));
    share.ok_or_else(|| "a share below 1 is needed, such as 0.3 for 30 %".to_owned())
}

impl Sweep {
    pub fn run(self) -> Result<(), Failure> {
        // All that may be wrong with the arguments, before anything is read.
        self.present.needs_findings(false)?;
        let wishes = Criteria::new(&self.minimize, &self.maximize, self.conditions.clone())?;
        let spaces = spaces(&self.studied.sources()?, &self.settings)?;
        if self.studied.writers().compares() {
            let what = "a sweep asks one summarizer, and no model: it would be asked for thousands of summaries; sweep with `extract`, then \
                        `recompact replay` the recommended policy with --summarizer";
            return Err(Failure::Usage(what.to_owned()));
        }
        let study = self.studied.study(spaces.iter().map(|space| space.plain().clone()).collect(), None)?;
        // What is swept is known round by round; until then there is the baseline.
        let baseline = study.policies[study.baseline].clone();
        let candidates = candidates(&spaces, &baseline.name, self.sample, study.seed)?;
        let study = Study { policies: vec![baseline], baseline: 0, misses: LISTED, breaks: LISTED, ..study };
        self.transcripts.must_be_files()?;

        let question = self.question(&candidates.0, &wishes);
        let resumed = self.resume.as_deref().map(|path| Resumed::load(path, &question)).transpose()?;
        let (roster, end) = self.first_look()?;
        let split = roster.split(self.holdout, study.seed)?;
        let search = Search::new(spaces, candidates, wishes, split.clone(), self.sample.is_some(), study.seed);
        let saves = self.present.saves();
        let mut rounds = Rounds { transcripts: &self.transcripts, roster: &roster, resumed, saves, done: 0, worked: Vec::new() };
        let Some(results) = rounds.run(study, search, &split)? else {
            return Err(self.stopped(&rounds, question)?);
        };
        self.present.results(&results)?;
        self.save_recommended(&results)?;
        end
    }

    /// Whatever decides what is found, so that a stopped sweep goes on with nothing else.
    fn question(&self, candidates: &[Candidate], wishes: &Criteria) -> Fingerprint {
        let policies: Vec<Policy> = candidates.iter().map(|candidate| candidate.policy.clone()).collect();
        let conditions: Vec<String> = wishes.conditions.iter().map(ToString::to_string).collect();
        let objectives: Vec<String> = wishes.objectives.iter().map(|of| format!("{:?} {}", of.better, of.column)).collect();
        let options = [
            (POLICIES, of_policies(&policies)),
            ("--sample", self.sample.map_or("none".to_owned(), |sample| sample.to_string())),
            ("--holdout", self.holdout.to_string()),
            ("--where", if conditions.is_empty() { "none".to_owned() } else { conditions.join(", ") }),
            ("--minimize and --maximize", objectives.join(", ")),
        ];
        let own = options.into_iter().map(|(option, value)| (option.to_owned(), value));
        own.chain(self.studied.question()).chain(self.transcripts.question()).collect()
    }

    /// A front over the transcripts that happened to come first would mislead, so all that is written is what it takes to go on.
    fn stopped(&self, rounds: &Rounds, question: Fingerprint) -> Result<Failure, Failure> {
        let transcripts = rounds.roster.transcripts();
        if self.present.saves() {
            let unfinished = Some(unfinished(&rounds.worked, transcripts, question)?);
            self.present.results(&Results { version: VERSION, unfinished, ..Results::default() })?;
        }
        Ok(Failure::Stopped { done: rounds.done.min(transcripts), transcripts, can_go_on: self.present.saves() })
    }

    /// Which sessions there are. What went wrong with some transcripts is given back for the end of the run.
    fn first_look(&self) -> Result<(SessionTable, Result<(), Failure>), Failure> {
        let look = |source: Source, reading: &Reading| {
            let seen = |conversation: &recompact::transcript::conversation::Conversation| SessionSize {
                conversation: conversation.name.clone(),
                calls: conversation.requests() as u64,
            };
            (source.name.to_owned(), reading.conversations.iter().map(seen).collect::<Vec<_>>())
        };
        let done = self.transcripts.for_each(&[self.present.out(), self.save.as_deref()], false, look, look, |_| None)?;
        let (seen, end) = done.analysed()?;
        let roster = SessionTable::new(&seen);
        if roster.sessions() == 0 {
            return Err(Failure::Usage("nothing could be replayed: no conversation holds a model call".to_owned()));
        }
        Ok((roster, end))
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
