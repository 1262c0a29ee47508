//! `recompact sweep`: tries many configurations of a policy, finds the Pareto front, and recommends one.

use std::path::{Path, PathBuf};

use clap::Args;
use recompact::analysis::spec::{StudySpec, SweepSpec};
use recompact::analysis::sweep::{Continuation, LoadedSweep, Parameter, SweepEnd, SweepRun, measure};
use recompact::results::condition::Condition;
use recompact::results::saved::Results;
use recompact::util::spill::Spill;

use crate::cli::args::output::{OutputArgs, PolicyColumns};
use crate::cli::args::settings::setting;
use crate::cli::args::study::{StudyArgs, checked};
use crate::cli::commands::merge;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::help::MORE;
use crate::cli::input::{Transcripts, at_least_one};
use crate::cli::output;
use crate::cli::resources::CommandResources;
use crate::cli::resume;

/// Help of `-p`: what is swept without it.
const POLICIES: &str = "Policy to tune: a preset (see `recompact catalog policies`), a TOML file, or several separated by commas; \
    repeatable [default: every preset that its user can switch on]";

#[derive(Args)]
// A sweep starts no program.
#[command(mut_arg("policies", |arg| arg.help(POLICIES).long_help(POLICIES)), mut_arg("allow_programs", |arg| arg.hide(true)),
    mut_arg("env", |arg| arg.hide(true)), mut_arg("twice", |arg| arg.hide(true)))]
pub struct Sweep {
    #[command(flatten)]
    study_args: StudyArgs,
    /// Vary a value of the policies by layer id: --set micro.keep_recent_results=1..10 --set auto.threshold=20k..120k:20k
    /// --set budget.max_bytes=50KB,100KB; a single value is fixed; all ranges together form a grid [default: the values of
    /// [sweep] in each policy; most presets have some]
    #[arg(long = "set", value_name = "LAYER.FIELD=VALUES", hide_possible_values = true,
        value_parser = setting(checked::<Parameter>))]
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
    /// Write what these transcripts give to this file, for `recompact merge`: a part of a sweep on many machines
    #[arg(help_heading = MORE, long, value_name = "FILE", conflicts_with_all = ["resume", "output", "out", "save", "limit"])]
    part: Option<PathBuf>,
    /// With --part: replay the next stage of the sweep. FILE is the merged part of all transcripts so far
    #[arg(help_heading = MORE, long, value_name = "FILE", requires = "part")]
    after: Option<PathBuf>,
    /// Continue a sweep that was stopped by Ctrl-C, from its results saved with -o json
    #[arg(help_heading = MORE, long, value_name = "RESULTS.json")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    columns: PolicyColumns,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    transcripts: Transcripts,
}

fn holdout_share(written: &str) -> Result<f64, String> {
    let share = written.parse().ok().filter(|share: &f64| (0.0..1.0).contains(share));
    share.ok_or_else(|| "write a share below 1, such as 0.3 for 30 %".to_owned())
}

impl Sweep {
    pub fn run(mut self) -> Result<(), Failure> {
        self.output.with_columns(&self.columns);
        self.output.works_on(self.transcripts.paths());
        self.transcripts.or_sessions_here()?;
        self.study_args.sweeps = true;
        self.output.must_show::<Results>("sweep")?;
        // Check all arguments before anything is read.
        let mut uses = FileUses::default();
        self.study_args.add_to(&mut uses);
        self.output.add_to(&mut uses);
        uses.write("--save", self.save.as_deref());
        uses.write("--part", self.part.as_deref());
        self.after.iter().for_each(|path| uses.read("--after", path));
        uses.check()?;
        self.output.needs_findings(false)?;
        let loaded = LoadedSweep::new(&self.spec(), &CommandResources::default())?;
        self.transcripts.must_be_files()?;
        if let Some(file) = self.part.as_deref() {
            return self.write_part(loaded, file);
        }
        let resumed = self.resume.as_deref().map(|path| resume::load(path, &loaded.record)).transpose()?;
        let writes = [self.output.out(), self.save.as_deref()];
        let measured =
            self.transcripts.process(&writes, |corpus, monitor| measure(&loaded.study, corpus, monitor))?.analysed()?;
        let sweep = SweepRun::new(loaded, &measured)?;
        let keep_checkpoints = self.output.is_loadable();
        let continuation = Continuation { resumed: resumed.as_ref(), keep_checkpoints };
        match self.transcripts.run(|corpus, monitor| sweep.run(corpus, monitor, &continuation))? {
            SweepEnd::Finished(results) => {
                self.output.document("sweep", &*results)?;
                self.save_recommended(&results)?;
                self.transcripts.end(measured.end)
            }
            SweepEnd::Stopped { saved, done, transcripts } => {
                if keep_checkpoints {
                    self.output.document("sweep", &*saved)?;
                }
                Err(Failure::Stopped { done, transcripts, can_resume: keep_checkpoints })
            }
        }
    }

    /// Writes the part of the sweep's next stage that these transcripts give.
    fn write_part(&self, loaded: LoadedSweep, file: &Path) -> Result<(), Failure> {
        let part = match self.after.as_deref() {
            None => {
                let sizes = self.transcripts.read_once(&[Some(file)], |corpus, monitor| loaded.sizes(corpus, monitor))?;
                self.transcripts.checked(sizes.summary())?;
                loaded.first_part(sizes)?
            }
            Some(so_far) => {
                let so_far = merge::read(so_far, &Spill::default())?;
                self.transcripts.run(|corpus, monitor| loaded.next_part(so_far, corpus, monitor))?
            }
        };
        Ok(output::write_by(Some(file), |to| part.write(to))?)
    }

    fn spec(&self) -> StudySpec {
        let Self { sample, conditions, minimize, maximize, holdout, .. } = self;
        let objectives = [minimize.clone(), maximize.clone()];
        let mut spec = self.study_args.spec().sweep(SweepSpec::new(*sample, conditions.clone(), objectives, *holdout));
        spec.set.clone_from(&self.settings);
        spec.read = self.transcripts.read_spec();
        spec
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
