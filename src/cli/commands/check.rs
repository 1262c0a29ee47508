//! `recompact check`: compares suites of policies and transcripts with limits and a baseline.

mod init;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use recompact::analysis::ReplayHooks;
use recompact::analysis::corpus::RunError;
use recompact::analysis::gate::{Baseline, Gate, GateReport, Problem, Suite, SuiteResult, WrittenBaseline};
use recompact::analysis::spec::PolicySpec;
use recompact::report::gate::render_baseline;
use recompact::report::{Layout, Report};
use recompact::transcript::source::{display_path, read_settings};
use recompact::util::text::plural;
use recompact::util::toml_span::FileError;

use crate::cli::args::models::ModelArgs;
use crate::cli::args::output::{OutputArgs, report_of};
use crate::cli::args::programs::ProgramArgs;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::input::{Transcripts, at_least_one};
use crate::cli::output;
use crate::cli::resources::{CommandResources, ProgramUse};

/// The command's name in error messages.
const COMMAND: &str = "check";

#[derive(Args)]
pub struct Check {
    /// Suite file: transcripts and policies with limits and tolerances
    #[arg(value_name = "SUITE.toml", default_value = "recompact.toml")]
    file: PathBuf,
    /// Write the current values as the new baseline, to be committed; limits are still checked
    #[arg(long)]
    update: bool,
    /// Write a first suite file for the transcripts in PATH, with limits that hold today; without PATH, for the sessions on this
    /// machine
    #[arg(long, value_name = "PATH", num_args = 0..=1,
        conflicts_with_all = ["update", "also", "output", "out", "show", "full", "allow_programs", "env", "twice"])]
    init: Option<Option<PathBuf>>,
    /// Write another report as well, such as --also junit=recompact.xml; repeatable
    #[arg(long, value_name = "REPORT=FILE", value_parser = also)]
    also: Vec<(&'static Report, PathBuf)>,
    /// Print neither progress nor skipped lines and files
    #[arg(short, long)]
    quiet: bool,
    /// Number of worker threads [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<usize>,
    #[command(flatten)]
    programs: ProgramArgs,
    #[command(flatten)]
    output: OutputArgs,
}

fn also(written: &str) -> Result<(&'static Report, PathBuf), String> {
    let usage = || format!("`{written}`: write REPORT=FILE, such as junit=recompact.xml");
    let (name, file) = written.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or_else(usage)?;
    Ok((report_of::<GateReport>(COMMAND, name)?, file.into()))
}

impl Check {
    pub fn run(mut self) -> Result<(), Failure> {
        if let Some(path) = &self.init {
            return init::write_suite(&self.file, path.as_deref(), (self.quiet, self.jobs));
        }
        self.output.must_show::<GateReport>(COMMAND)?;
        self.output.works_on(std::slice::from_ref(&self.file));
        let file = display_path(&self.file);
        let text = read_settings(&self.file).map_err(|error| {
            let advice = "`recompact check --init FOLDER` writes a first one for the transcripts in a folder";
            Failure::Usage(format!("{file}: the suite file cannot be read: {error}; {advice}"))
        })?;
        let gate = Gate::parse(&text, &file)?;
        let base = self.file.parent().unwrap_or(Path::new("")).to_owned();
        let baseline_path = base.join(&gate.baseline);
        self.file_uses(&gate, &base, &baseline_path).check()?;
        let old = if self.update { None } else { read_baseline(&baseline_path)? };
        let results: Result<Vec<SuiteResult>, Failure> =
            gate.suites.iter().map(|suite| self.suite(suite, &base, &baseline_path)).collect();
        let results = results?;
        let mut checked = gate.report(&file, &results, old.as_ref());
        let baseline = if self.update { self.new_baseline(&gate, &results, &mut checked, &baseline_path)? } else { old };
        gate.judge(&mut checked, &results, baseline.as_ref());
        self.write(&checked)?;
        outcome(&checked)
    }

    /// Writes the current values as the baseline. If something could not be analysed, the old baseline stays, because
    /// half of a baseline is useless.
    fn new_baseline(
        &self,
        gate: &Gate,
        results: &[SuiteResult],
        checked: &mut GateReport,
        baseline_path: &Path,
    ) -> Result<Option<Baseline>, Failure> {
        if !checked.problems.is_empty() {
            checked.notes.push("the baseline was not written, because not everything was analysed".to_owned());
            return Ok(read_baseline(baseline_path).ok().flatten());
        }
        let baseline = gate.new_baseline(results);
        output::write(Some(baseline_path), &render_baseline(&baseline))?;
        checked.written = Some(WrittenBaseline { file: display_path(baseline_path), values: baseline.values.len() });
        Ok(Some(baseline))
    }

    /// Replays the transcripts of a suite through its policies.
    ///
    /// Only fails if the user stopped the program: a part of a suite is not checked.
    fn suite(&self, suite: &Suite, base: &Path, baseline: &Path) -> Result<SuiteResult, Failure> {
        let table = &suite.table;
        let cassette = table.cassette.as_ref().map(|folder| ModelArgs::replaying(base.join(folder)));
        let models = cassette.as_ref().map(ModelArgs::factory);
        let programs = ProgramUse::Started(self.programs.access(false));
        let resources = CommandResources { base: base.to_owned(), models, programs, ..CommandResources::default() };
        let loaded = match table.study.load(&resources) {
            Ok(loaded) => loaded,
            Err(error) => return Ok(suite.wrong(&error)),
        };
        let written = [self.output.out(), Some(baseline).filter(|_| self.update)].into_iter();
        let written: Vec<_> = written.chain(self.also.iter().map(|(_, file)| Some(file.as_path()))).collect();
        let transcripts = Transcripts::of_suite(&table.transcripts, base, &table.study.read, (self.quiet, self.jobs))?;
        match transcripts.process(&written, |corpus, monitor| loaded.replay(corpus, monitor, ReplayHooks::default())) {
            Ok(replayed) => {
                resources.say_repeated();
                Ok(transcripts.install(|| suite.result(&loaded, replayed))??)
            }
            Err(Failure::Input(errors)) => Ok(suite.unread(RunError::Input(errors))),
            Err(failure) => Ok(suite.unread(RunError::Nothing(failure.to_string()))),
        }
    }

    fn write(&self, checked: &GateReport) -> Result<(), Failure> {
        self.output.document(COMMAND, checked)?;
        for (report, file) in &self.also {
            let bytes = report.render(checked, &Layout::default()).expect("`also` accepts only the reports of a gate");
            output::write(Some(file), &bytes)?;
        }
        Ok(())
    }

    /// The files that the gate reads and writes.
    fn file_uses(&self, gate: &Gate, base: &Path, baseline: &Path) -> FileUses {
        let mut uses = FileUses::default();
        uses.read("SUITE.toml", &self.file);
        if self.update {
            uses.write("--update", Some(baseline));
        } else {
            uses.read("the baseline", baseline);
        }
        for table in gate.suites.iter().map(|suite| &suite.table) {
            for policy in &table.study.policies {
                if let PolicySpec::Named(name) = policy {
                    uses.read("a suite's policy", base.join(name));
                }
            }
            uses.read("a suite's baseline policy", base.join(&table.study.baseline));
            table.study.prices.iter().for_each(|prices| uses.read("a suite's prices", base.join(prices)));
            table.cassette.iter().for_each(|cassette| uses.read("a suite's cassette", base.join(cassette)));
        }
        self.output.add_to(&mut uses);
        self.also.iter().for_each(|(report, file)| uses.write(&format!("--also {}", report.name), Some(file)));
        uses
    }
}

/// Reads the baseline; `None` if the file does not exist.
pub fn read_baseline(baseline_path: &Path) -> Result<Option<Baseline>, Failure> {
    let error_at = |what: String| Failure::File(FileError { origin: display_path(baseline_path), line: None, what });
    match read_settings(baseline_path) {
        Ok(text) => Baseline::parse(&text).map(Some).map_err(|error| error_at(error.to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error_at(format!("the baseline cannot be read: {error}"))),
    }
}

/// Returns the result of the command. Problems and undecided rules come before broken rules.
fn outcome(checked: &GateReport) -> Result<(), Failure> {
    let location = |line: Option<usize>| line.map_or(checked.file.clone(), |line| format!("{}:{line}", checked.file));
    let problem = |problem: &Problem| format!("{}: suite `{}`: {}", location(problem.line), problem.suite, problem.what);
    let mut errors: Vec<String> = checked.problems.iter().map(problem).collect();
    let (all, breaches) = (plural(checked.verdicts.len(), "rule"), checked.breaches());
    let failed = format!("{}: {breaches} of {all} {} not hold", checked.file, if breaches == 1 { "does" } else { "do" });
    match checked.undecided() {
        0 => {}
        some => errors.push(format!("{}: {some} of {all} could not be judged; the report says what to do", checked.file)),
    }
    match (errors.is_empty(), breaches) {
        (true, 0) => Ok(()),
        (true, _) => Err(Failure::Found(failed)),
        (false, 0) => Err(Failure::Input(errors)),
        (false, _) => Err(Failure::Input(errors.into_iter().chain([failed]).collect())),
    }
}
