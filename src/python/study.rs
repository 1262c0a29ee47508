//! Replays, comparisons and sweeps.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use super::error::{raise, raise_message};
use super::functions::Functions;
use super::resources::PythonResources;
use super::results::StudyResults;
use super::settings::{study_spec, sweep_spec};
use super::value::to_python;
use super::watch::{Skipped, Sources, Watch, corpus, strict};
use crate::analysis::ReplayOutcomes;
use crate::analysis::comparison::{Comparison, Difference};
use crate::analysis::corpus::{Analysed, FileCorpus, Processed, Source, for_each};
use crate::analysis::missed::missed_requests;
use crate::analysis::spec::{Files, Loaded, StudySpec};
use crate::analysis::sweep::{Continuation, LoadedSweep, SweepEnd, SweepRun, measure};
use crate::transcript::format::Reading;

/// The policies of a call: each as a name, a text or a dict; the functions among them, by name; whether policy files may name
/// programs; and whether a session is skipped in which a policy gives no answer, or that is an error.
#[derive(FromPyObject)]
pub struct Policies<'py>(pub Vec<Bound<'py, PyAny>>, pub Bound<'py, PyDict>, pub bool, pub bool);

/// Replays transcripts through policies.
#[pyfunction]
pub fn replay(
    py: Python,
    sources: Sources,
    policies: Policies,
    settings: &Bound<PyDict>,
    watch: Watch,
) -> PyResult<(StudyResults, Skipped)> {
    let Run { spec, loaded, functions, corpus, outcomes, notes } = run(py, &sources, policies, settings, &watch)?;
    let processed = Processed::new(outcomes);
    let skipped = Skipped::new(&processed, notes);
    let processed = strict(&spec.read, processed)?;
    let (results, end) = py.detach(|| loaded.results(processed)).map_err(raise)?;
    // As on the command line, no summary is written again for a report.
    let results = match spec.summarizer.is_empty() {
        true => StudyResults::with_requests(results, move |results| {
            let requests = missed_requests(&loaded.study, results, &corpus);
            functions.calls().take_interrupt().map_or(Ok(requests), Err)
        }),
        false => StudyResults::new(results),
    };
    Ok((results, skipped.with_end(&spec.read, end)?))
}

/// What a replay gives, before it is summed up.
pub struct Run {
    pub spec: StudySpec,
    pub loaded: Loaded,
    functions: Arc<Functions>,
    corpus: FileCorpus,
    pub outcomes: ReplayOutcomes,
    notes: Vec<String>,
}

/// Replays transcripts.
pub fn run(py: Python, sources: &Sources, policies: Policies, settings: &Bound<PyDict>, watch: &Watch) -> PyResult<Run> {
    let Policies(policies, functions, trusts_files, skips) = policies;
    let spec = study_spec(&policies, settings)?;
    let resources = PythonResources::new(&functions, trusts_files, skips)?;
    let (loaded, functions) = (spec.load(&resources).map_err(raise)?, resources.functions());
    let corpus = sources.corpus(&spec.read)?;
    let (outcomes, notes) = watch.run_calling(py, &corpus, functions.calls(), |corpus, pulse| {
        loaded.outcomes(corpus, &functions.until_raised(pulse), None)
    })?;
    functions.check(py, &spec.read, outcomes.results().map(|done| done.result.unanswered()))?;
    Ok(Run { spec, loaded, functions, corpus, outcomes, notes })
}

/// What a comparison of two policies found: the numbers of conversations and requests, and each difference with its transcript, its
/// conversation, its call, and the messages of both requests.
type Compared<'py> = (usize, usize, Vec<(String, String, usize, Bound<'py, PyAny>, Bound<'py, PyAny>)>);

/// Compares the requests of two policies.
#[pyfunction]
pub fn compare<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    policies: Policies<'py>,
    settings: &Bound<'py, PyDict>,
    watch: Watch,
) -> PyResult<(Compared<'py>, Skipped)> {
    let Policies(policies, functions, trusts_files, skips) = policies;
    let spec = StudySpec { bounds: false, ..study_spec(&policies, settings)? };
    let resources = PythonResources::new(&functions, trusts_files, skips)?;
    let (loaded, functions) = (spec.load(&resources).map_err(raise)?, resources.functions());
    let [one, other] = &loaded.policies[..] else {
        return Err(raise_message(format!("{} policies: two are needed, each with one summarizer", loaded.policies.len())));
    };
    let corpus = corpus(&paths, &spec.read)?;
    let compare = |source: Source, reading: &Reading| {
        let comparison = Comparison::of(&loaded.study, source.name, reading, [one, other]);
        source.replayed(reading, 2);
        comparison
    };
    let (processed, notes) = watch
        .run_calling(py, &corpus, functions.calls(), |corpus, pulse| for_each(corpus, &functions.until_raised(pulse), compare))?;
    functions.check(py, &spec.read, processed.results.iter().map(Comparison::unanswered))?;
    let skipped = Skipped::new(&processed, notes);
    let processed = strict(&spec.read, processed)?.without(Comparison::unanswered);
    let Analysed { results, end, .. } = processed.analysed().map_err(raise)?;
    let mut differences = Vec::new();
    for comparison in &results {
        for Difference { conversation, call, messages } in &comparison.differences {
            let list = |messages: &Vec<Value>| to_python(py, &Value::Array(messages.clone()));
            let (one, other) = (list(&messages[0])?, list(&messages[1])?);
            differences.push((comparison.transcript.clone(), conversation.clone(), *call, one, other));
        }
    }
    let conversations = results.iter().map(|comparison| comparison.conversations).sum();
    let requests = results.iter().map(|comparison| comparison.requests).sum();
    Ok(((conversations, requests, differences), skipped.with_end(&spec.read, end)?))
}

/// Searches the settings of policies.
#[pyfunction]
pub fn sweep(
    py: Python,
    paths: Vec<PathBuf>,
    policies: Vec<Bound<PyAny>>,
    settings: &Bound<PyDict>,
    search: &Bound<PyDict>,
    watch: Watch,
) -> PyResult<(StudyResults, Skipped)> {
    let spec = sweep_spec(&policies, settings, search)?;
    let loaded = LoadedSweep::new(&spec, &Files::default()).map_err(raise)?;
    let corpus = corpus(&paths, &spec.read)?;
    let (measured, mut notes) = watch.run(py, &corpus, |corpus, pulse| measure(&loaded.study, corpus, pulse))?;
    let skipped = Skipped::new(&measured, Vec::new());
    let measured = strict(&spec.read, measured)?.analysed().map_err(raise)?;
    let skipped = skipped.with_end(&spec.read, measured.end.clone())?;
    let sweep = SweepRun::new(loaded, &measured).map_err(raise)?;
    let (ended, more) = watch.run(py, &corpus, |corpus, pulse| sweep.run(corpus, pulse, &Continuation::default()))?;
    notes.extend(more);
    match ended.map_err(raise)? {
        SweepEnd::Finished(results) => Ok((StudyResults::new(*results), skipped.with_notes(notes))),
        SweepEnd::Stopped { done, transcripts, .. } => {
            Err(raise(crate::analysis::corpus::RunError::Stopped { done, transcripts }))
        }
    }
}
