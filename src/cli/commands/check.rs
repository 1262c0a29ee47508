//! `recompact check`: suites of policies and transcripts, held against limits and a baseline.

mod suite;

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use recompact::analysis::gate::{self, Baseline, Gate, GateReport, Measured, Problem, evaluate};
use recompact::report::gate as report;
use recompact::util::text::plural;
use recompact::util::toml_span::FileError;

use crate::cli::args::output::{OutputArgs, known};
use crate::cli::error::Failure;
use crate::cli::input::at_least_one;
use crate::cli::output;
use crate::cli::source::shown;

/// What errors call it.
const COMMAND: &str = "check";

#[derive(Args)]
pub struct Check {
    /// What must hold: suites of transcripts and policies with limits and tolerances
    #[arg(value_name = "SUITE.toml", default_value = "recompact.toml")]
    file: PathBuf,
    /// Write what is reached now as the baseline, to be committed; limits are judged all the same
    #[arg(long)]
    update: bool,
    /// Write another report too, such as --also junit=recompact.xml; may be given several times
    #[arg(long, value_name = "REPORT=FILE", value_parser = also)]
    also: Vec<(String, PathBuf)>,
    /// Print neither progress nor what was skipped
    #[arg(short, long)]
    quiet: bool,
    /// How many threads work [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<usize>,
    #[command(flatten)]
    present: OutputArgs,
}

fn also(written: &str) -> Result<(String, PathBuf), String> {
    let form = || format!("`{written}`: write REPORT=FILE, such as junit=recompact.xml");
    let (name, file) = written.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or_else(form)?;
    known(COMMAND, name, &report::shown_as())?;
    Ok((name.to_owned(), file.into()))
}

impl Check {
    pub fn run(self) -> Result<(), Failure> {
        let name = self.present.report_of(COMMAND, &report::shown_as())?;
        let file = shown(&self.file);
        let text = std::fs::read_to_string(&self.file).map_err(|error| {
            let what = "a suite file holds [[suite]] with name, transcripts, policies and limits";
            Failure::Usage(format!("{file}: the suite file cannot be read: {error}; {what}"))
        })?;
        let gate = Gate::parse(&text, &file)?;
        let base = self.file.parent().unwrap_or(Path::new("")).to_owned();
        let place = base.join(&gate.baseline);
        self.writes_apart(&place)?;
        let old = match self.update {
            true => None,
            false => read_baseline(&place)?,
        };
        let mut checked = GateReport { file, ..GateReport::default() };
        let mut reached: Vec<Vec<Measured>> = Vec::new();
        for suite in &gate.suites {
            let (of_suite, problems) = self.suite(suite, &base, &place)?;
            let problem = |what| Problem { suite: suite.name().to_owned(), line: suite.line, what };
            checked.problems.extend(problems.into_iter().map(problem));
            reached.push(of_suite);
        }
        let baseline = match self.update {
            true => self.new_baseline(&gate, &reached, &mut checked, &place)?,
            false => old,
        };
        for (suite, reached) in gate.suites.iter().zip(&reached) {
            checked.verdicts.extend(evaluate(suite, reached, baseline.as_ref()));
            checked.notes.extend(baseline.iter().flat_map(|baseline| gate::notes(suite, reached, baseline)));
        }
        if checked.problems.is_empty() {
            let of = |(suite, reached): (&'_ gate::Suite, &'_ Vec<Measured>)| {
                reached.iter().map(|reached| (suite.name().to_owned(), reached.policy.clone())).collect::<Vec<_>>()
            };
            let asked: Vec<(String, String)> = gate.suites.iter().zip(&reached).flat_map(of).collect();
            checked.notes.extend(baseline.iter().flat_map(|baseline| gate::left_behind(baseline, &asked)));
        }
        self.write(name, &checked)?;
        end(&checked)
    }

    /// What is reached now, written down. Half of it would be no baseline: where something could not be analysed, the old one stays.
    fn new_baseline(
        &self,
        gate: &Gate,
        reached: &[Vec<Measured>],
        checked: &mut GateReport,
        place: &Path,
    ) -> Result<Option<Baseline>, Failure> {
        if !checked.problems.is_empty() {
            checked.notes.push("the baseline was not written, for not everything was analysed".to_owned());
            return Ok(read_baseline(place).ok().flatten());
        }
        let baseline = Baseline::new(gate.suites.iter().zip(reached).map(|(suite, reached)| (suite.name(), reached.as_slice())));
        output::write(Some(place), &report::render_baseline(&baseline))?;
        checked.notes.push(format!("{} written: {}", shown(place), plural(baseline.values.len(), "value")));
        Ok(Some(baseline))
    }

    fn write(&self, name: &str, checked: &GateReport) -> Result<(), Failure> {
        self.present.write(&report::render(name, checked, &self.present.style()))?;
        for (name, file) in &self.also {
            output::write(Some(file), &report::render(name, checked, &Default::default()))?;
        }
        Ok(())
    }

    /// Everything that will be written, once each, and nothing over the suite file or the baseline.
    fn writes_apart(&self, baseline: &Path) -> Result<(), Failure> {
        let resolved = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut taken = HashSet::from([resolved(&self.file), resolved(baseline)]);
        let mut files = self.present.out().into_iter().chain(self.also.iter().map(|(_, file)| file.as_path()));
        match files.find(|file| !taken.insert(resolved(file)) && !is_device(file)) {
            Some(twice) => {
                let what = "is the suite file, the baseline or another report; name another file";
                Err(Failure::Usage(format!("{}: {what}", twice.display())))
            }
            None => Ok(()),
        }
    }
}

/// Whether it is no file, like /dev/null: several may write to it.
fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|there| !there.is_file())
}

/// What was agreed; none where there is no such file.
fn read_baseline(place: &Path) -> Result<Option<Baseline>, Failure> {
    let wrong = |what: String| Failure::File(FileError { origin: shown(place), line: None, what });
    match std::fs::read_to_string(place) {
        Ok(text) => Baseline::parse(&text).map(Some).map_err(|error| wrong(error.to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(wrong(format!("the baseline cannot be read: {error}"))),
    }
}

/// How it ends: what could not be analysed or judged comes before what does not hold.
fn end(checked: &GateReport) -> Result<(), Failure> {
    let place = |line: Option<usize>| line.map_or(checked.file.clone(), |line| format!("{}:{line}", checked.file));
    let problem = |problem: &Problem| format!("{}: suite `{}`: {}", place(problem.line), problem.suite, problem.what);
    let mut wrong: Vec<String> = checked.problems.iter().map(problem).collect();
    let (all, breaches) = (plural(checked.verdicts.len(), "rule"), checked.breaches());
    let failed = format!("{}: {breaches} of {all} {} not hold", checked.file, if breaches == 1 { "does" } else { "do" });
    match checked.undecided() {
        0 => {}
        some => wrong.push(format!(
            "{}: {some} of {all} could not be judged; `recompact check --update` writes the baseline, to be committed",
            checked.file
        )),
    }
    match (wrong.is_empty(), breaches) {
        (true, 0) => Ok(()),
        (true, _) => Err(Failure::Found(failed)),
        (false, 0) => Err(Failure::Input(wrong)),
        (false, _) => Err(Failure::Input(wrong.into_iter().chain([failed]).collect())),
    }
}
