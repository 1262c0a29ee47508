//! `recompact sweep`: tries many configurations of a policy, finds the Pareto front, and recommends one.

mod rounds;

use std::path::PathBuf;

use clap::Args;

use recompact::analysis::spec::{StudySpec, SweepSpec};
use recompact::analysis::study::NO_CALL;
use recompact::analysis::sweep::{LoadedSweep, Parameter, Search, SessionTable, TranscriptSize};
use recompact::results::condition::Condition;
use recompact::results::saved::{Coverage, Results, StudyRecord, VERSION};
use recompact::transcript::format::Reading;

use crate::cli::args::output::OutputArgs;
use crate::cli::args::study::{StudyArgs, checked};
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::input::{Analysed, Source, Transcripts, at_least_one};
use crate::cli::output;
use crate::cli::resources::CommandResources;
use crate::cli::resume::{Resumed, unfinished};
use rounds::Rounds;

#[derive(Args)]
pub struct Sweep {
    #[command(flatten)]
    transcripts: Transcripts,
    #[command(flatten)]
    study_args: StudyArgs,
    /// Vary a value of the policies by layer id: --set micro.keep_recent=1..10 --set auto.threshold=20k..120k:20k --set
    /// budget.max_bytes=50KB,100KB; a single value is fixed; all ranges together form a grid [default: the values of
    /// [sweep] in each policy; most presets have some]
    #[arg(long = "set", value_name = "LAYER.FIELD=VALUES", value_parser = checked::<Parameter>)]
    settings: Vec<String>,
    /// Try only this many configurations, spread evenly (Sobol); the worse half is dropped after a quarter and after
    /// half of the sessions
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    sample: Option<usize>,
    /// Condition on the total of a column: --where 'kept.hard <= 2%'; repeatable
    #[arg(long = "where", value_name = "CONDITION", value_parser = checked::<Condition>)]
    conditions: Vec<String>,
    /// Column to minimize; repeatable [default: --minimize cost.ratio --maximize kept.hit]
    #[arg(long, value_name = "COLUMN")]
    minimize: Vec<String>,
    /// Column to maximize; repeatable
    #[arg(long, value_name = "COLUMN")]
    maximize: Vec<String>,
    /// Share of the sessions to hold out: choose on the others, report on these; 0 holds none out [default: 0.3, or 0 with
    /// fewer than 10 sessions]
    #[arg(long, value_name = "SHARE", value_parser = holdout_share)]
    holdout: Option<f64>,
    /// Write the recommended policy to this file, ready for -p
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Continue a sweep that was stopped by Ctrl-C, from its results saved with -o json
    #[arg(long, value_name = "RESULTS.json")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

fn holdout_share(written: &str) -> Result<f64, String> {
    let share = written.parse().ok().filter(|share: &f64| (0.0..1.0).contains(share));
    share.ok_or_else(|| "write a share below 1, such as 0.3 for 30 %".to_owned())
}

impl Sweep {
    pub fn run(self) -> Result<(), Failure> {
        // Check all arguments before anything is read.
        let mut uses = FileUses::default();
        self.study_args.add_to(&mut uses);
        self.output.add_to(&mut uses);
        uses.write("--save", self.save.as_deref());
        uses.check()?;
        self.output.needs_findings(false)?;
        let LoadedSweep { study, spaces, candidates, criteria, is_sampled, holdout, record } =
            LoadedSweep::new(&self.spec(), &CommandResources::default())?;
        self.transcripts.must_be_files()?;
        let resumed = self.resume.as_deref().map(|path| Resumed::load(path, &record)).transpose()?;
        let (session_table, coverage, end) = self.list_sessions()?;
        let split = session_table.split(holdout.unwrap_or_else(|| session_table.default_holdout()), study.seed)?;
        let search = Search::new(spaces, candidates, criteria, split.clone(), is_sampled, study.seed);
        let keep_checkpoints = self.output.is_loadable();
        let mut rounds = Rounds {
            transcripts: &self.transcripts,
            session_table: &session_table,
            resumed,
            keep_checkpoints,
            done: 0,
            checkpoints: Vec::new(),
        };
        let Some(results) = rounds.run(study, search, &split)? else {
            return Err(self.save_unfinished(&rounds, record)?);
        };
        let results = Results { study: Some(record), coverage, ..results };
        self.output.results(&results)?;
        self.save_recommended(&results)?;
        end
    }

    fn spec(&self) -> StudySpec {
        let Self { sample, conditions, minimize, maximize, holdout, .. } = self;
        let objectives = [minimize.clone(), maximize.clone()];
        let mut spec = self.study_args.spec().sweep(SweepSpec::new(*sample, conditions.clone(), objectives, *holdout));
        spec.set.clone_from(&self.settings);
        spec.read = self.transcripts.read_spec();
        spec
    }

    /// Saves what `--resume` needs. It reports no front: one over the transcripts that came first would mislead.
    fn save_unfinished(&self, rounds: &Rounds, record: StudyRecord) -> Result<Failure, Failure> {
        let transcripts = rounds.session_table.transcripts();
        if self.output.is_loadable() {
            let unfinished = Some(unfinished(&rounds.checkpoints, transcripts)?);
            self.output.results(&Results { version: VERSION, study: Some(record), unfinished, ..Results::default() })?;
        }
        Ok(Failure::Stopped { done: rounds.done.min(transcripts), transcripts, can_resume: self.output.is_loadable() })
    }

    /// Lists the sessions and their sizes. Problems with some transcripts are returned for the end of the run.
    fn list_sessions(&self) -> Result<(SessionTable, Coverage, Result<(), Failure>), Failure> {
        let sessions_of = |source: Source, reading: &Reading| TranscriptSize::new(source.name, &reading.conversations);
        let done =
            self.transcripts.for_each(&[self.output.out(), self.save.as_deref()], false, sessions_of, sessions_of, |_| None)?;
        let Analysed { results: sizes, mut coverage, end } = done.analysed()?;
        let without_call = sizes.iter().filter(|size| size.conversations.iter().all(|conversation| conversation.calls == 0));
        without_call.for_each(|size| coverage.leave_out(&size.transcript, NO_CALL));
        let session_table = SessionTable::new(&sizes);
        if session_table.sessions() == 0 {
            return Err(Failure::Usage("nothing could be replayed: no conversation holds a model call".to_owned()));
        }
        Ok((session_table, coverage, end))
    }

    fn save_recommended(&self, results: &Results) -> Result<(), Failure> {
        let Some(file) = &self.save else { return Ok(()) };
        match results.sweep.as_ref().and_then(|sweep| sweep.recommended.as_ref()) {
            Some(recommended) => Ok(output::write(Some(file), recommended.toml.as_bytes())?),
            None => {
                let message = format!("{}: nothing was saved, because no configuration meets the conditions", file.display());
                Err(Failure::Usage(message))
            }
        }
    }
}
