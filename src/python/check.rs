//! The gate: suites of policies and transcripts against limits and a baseline.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;

use super::documents::Document;
use super::error::{raise, raise_message};
use super::watch::Watch;
use crate::analysis::ReplayHooks;
use crate::analysis::corpus::{FileCorpus, RunError};
use crate::analysis::gate::{Baseline, Gate, Suite, SuiteResult};
use crate::cli::args::models::ModelArgs;
use crate::cli::args::programs::ProgramAccess;
use crate::cli::commands::check::read_baseline;
use crate::cli::resources::{CommandResources, ProgramUse};
use crate::programs::{ProgramSettings, Programs};
use crate::transcript::source::{display_path, read_settings};

/// Checks the suites in a file, which may name programs if `allow_programs` is set. Returns whether all rules hold, the problems that prevented a verdict, and the report.
#[pyfunction]
pub fn check(py: Python, suites: PathBuf, allow_programs: bool, watch: Watch) -> PyResult<(bool, Vec<String>, Document)> {
    let file = display_path(&suites);
    let text =
        read_settings(&suites).map_err(|error| raise_message(format!("{file}: the suite file cannot be read: {error}")))?;
    let gate = Gate::parse(&text, &file).map_err(raise)?;
    let base = suites.parent().unwrap_or(Path::new(""));
    let baseline: Option<Baseline> =
        read_baseline(&base.join(&gate.baseline)).map_err(|failure| raise_message(failure.to_string()))?;
    let programs = Arc::new(Programs::new(ProgramSettings::default()));
    let mut results = Vec::new();
    for suite in &gate.suites {
        let access = ProgramAccess { programs: programs.clone(), trusts_files: allow_programs, names_are_typed: false };
        results.push(suite_result(py, suite, (base, access), &watch)?);
    }
    let mut report = gate.report(&file, &results, baseline.as_ref());
    gate.judge(&mut report, &results, baseline.as_ref());
    let problems = report.problems.iter().map(|problem| format!("suite `{}`: {}", problem.suite, problem.what)).collect();
    let holds = report.problems.is_empty() && report.undecided() == 0 && report.breaches() == 0;
    Ok((holds, problems, Document::new(report)))
}

/// Replays a suite, whose paths start in the folder `base`.
fn suite_result(py: Python, suite: &Suite, (base, access): (&Path, ProgramAccess), watch: &Watch) -> PyResult<SuiteResult> {
    let table = &suite.table;
    let cassette = table.cassette.as_ref().map(|folder| ModelArgs::replaying(base.join(folder)));
    let models = cassette.as_ref().map(ModelArgs::factory);
    let programs = ProgramUse::Started(access);
    let resources = CommandResources { base: base.to_owned(), models, programs, ..CommandResources::default() };
    let loaded = match table.study.load(&resources) {
        Ok(loaded) => loaded,
        Err(error) => return Ok(suite.wrong(&error)),
    };
    let paths: Vec<PathBuf> = table.transcripts.iter().map(PathBuf::from).collect();
    let corpus = match FileCorpus::new(base, &paths, &table.study.read) {
        Ok(corpus) => corpus,
        Err(why) => return Ok(suite.unread(RunError::Nothing(why.to_string()))),
    };
    let (processed, _) = watch.run(py, &corpus, |corpus, pulse| loaded.replay(corpus, pulse, ReplayHooks::default()))?;
    let processed = if table.study.read.strict { processed.strict() } else { Ok(processed) };
    match processed {
        Ok(processed) => py.detach(|| suite.result(&loaded, processed)).map_err(raise),
        Err(error) => Ok(suite.unread(error)),
    }
}
