//! Parts of studies and sweeps on many machines.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use super::error::{raise, raise_message};
use super::results::StudyResults;
use super::settings::sweep_spec;
use super::study::{Policies, Run, run};
use super::watch::{Skipped, Sources, Watch, strict};
use crate::analysis::corpus::{ReadSpec, RunError};
use crate::analysis::part::{Part, PartError, Unasked};
use crate::analysis::spec::{Files, StudySpec};
use crate::analysis::sweep::{LoadedSweep, SweepOfParts};
use crate::results::saved::Results;
use crate::util::spill::Spill;

/// Replays transcripts that are a part of a study. Returns the part as it is written; what was skipped is in it.
#[pyfunction]
pub fn replay_part<'py>(
    py: Python<'py>,
    sources: Sources,
    policies: Policies,
    settings: &Bound<PyDict>,
    watch: Watch,
) -> PyResult<Bound<'py, PyBytes>> {
    let Run { spec, loaded, outcomes, .. } = run(py, &sources, policies, settings, &watch)?;
    takes_all(&spec.read)?;
    strict(&spec.read, outcomes.summary())?;
    let pool = watch.pool()?;
    let part = py.detach(|| loaded.part(outcomes).map(|part| pool.install(|| part.to_bytes()))).map_err(raise)?;
    Ok(PyBytes::new(py, &part))
}

/// Replays what the next stage of a sweep asks of some transcripts: their sizes, or what follows from the merged part of all. Returns the
/// new part.
#[pyfunction]
pub fn sweep_part<'py>(
    py: Python<'py>,
    sources: Sources,
    policies: Vec<Bound<PyAny>>,
    settings: (Bound<PyDict>, Bound<PyDict>),
    so_far: Option<PyBackedBytes>,
    watch: Watch,
) -> PyResult<Bound<'py, PyBytes>> {
    let spec = sweep_spec(&policies, &settings.0, &settings.1)?;
    takes_all(&spec.read)?;
    let loaded = LoadedSweep::new(&spec, &Files::default()).map_err(raise)?;
    let corpus = sources.corpus(&spec.read)?;
    let part = match so_far {
        None => {
            let (sizes, _) = watch.run(py, &corpus, |corpus, pulse| loaded.sizes(corpus, pulse))?;
            strict(&spec.read, sizes.summary())?;
            loaded.first_part(sizes).map_err(raise)?
        }
        Some(so_far) => {
            let so_far = read(&so_far, &Spill::default()).map_err(raise)?;
            watch.run(py, &corpus, |corpus, pulse| loaded.next_part(so_far, corpus, pulse))?.0.map_err(raise)?
        }
    };
    let pool = watch.pool()?;
    Ok(PyBytes::new(py, &py.detach(|| pool.install(|| part.to_bytes()))))
}

fn takes_all(read: &ReadSpec) -> PyResult<()> {
    match read.newest {
        None => Ok(()),
        Some(_) => {
            Err(raise_message("newest: which sessions are the newest depends on all of them, so a part has no such limit"))
        }
    }
}

/// Merges parts of one study.
#[pyfunction]
pub fn merge<'py>(py: Python<'py>, parts: Vec<PyBackedBytes>) -> PyResult<Bound<'py, PyBytes>> {
    let merged = py.detach(|| merged(&parts).map(|part| part.to_bytes())).map_err(raise)?;
    Ok(PyBytes::new(py, &merged))
}

/// Returns what is to be replayed next if it is the merged part of a sweep that is not complete.
#[pyfunction]
pub fn next_stage(py: Python, part: PyBackedBytes) -> PyResult<Option<String>> {
    let next = py.detach(|| -> Result<_, crate::analysis::Error> {
        let part = read(&part, &Spill::default())?;
        if !part.is_of_sweep() {
            return Ok(None);
        }
        let (sizes, loaded) = (part.sizes()?, LoadedSweep::new(&part.spec()?, &Unasked)?);
        Ok(match loaded.merged(part, sizes)? {
            SweepOfParts::Unfinished(next) => Some(next.to_string()),
            SweepOfParts::Finished(..) => None,
        })
    });
    next.map_err(raise)
}

/// Makes the steps across transcripts for parts of one study.
#[pyfunction]
pub fn finish(py: Python, parts: Vec<PyBackedBytes>) -> PyResult<(StudyResults, Skipped)> {
    let part = py.detach(|| merged(&parts)).map_err(raise)?;
    let spec = part.spec().map_err(raise)?;
    let finished = if part.is_of_sweep() { finished_sweep } else { finished_study };
    let (results, end, skipped) = finished(py, part, &spec)?;
    Ok((StudyResults::new(results), skipped.with_end(&spec.read, end)?))
}

type Finished = (Results, Result<(), RunError>, Skipped);

fn finished_study(py: Python, part: Part, spec: &StudySpec) -> PyResult<Finished> {
    let loaded = py.detach(|| -> Result<_, crate::analysis::Error> {
        let loaded = spec.load(&Unasked)?;
        Ok((loaded.merged(part)?, loaded))
    });
    let (processed, loaded) = loaded.map_err(raise)?;
    let skipped = Skipped::new(&processed, Vec::new());
    let processed = strict(&spec.read, processed)?;
    let (results, end) = py.detach(|| loaded.results(processed)).map_err(raise)?;
    Ok((results, end, skipped))
}

fn finished_sweep(py: Python, part: Part, spec: &StudySpec) -> PyResult<Finished> {
    let sizes = py.detach(|| part.sizes()).map_err(raise)?;
    let skipped = Skipped::new(&sizes, Vec::new());
    let sizes = strict(&spec.read, sizes)?;
    let swept = py.detach(|| -> Result<_, crate::analysis::Error> { Ok(LoadedSweep::new(spec, &Unasked)?.merged(part, sizes)?) });
    match swept.map_err(raise)? {
        SweepOfParts::Finished(results, end) => Ok((*results, end, skipped)),
        SweepOfParts::Unfinished(next) => {
            let why = format!("the sweep has a further stage, {next}: replay it with `sweep(…, part=True, after=merge(parts))`");
            Err(raise_message(why))
        }
    }
}

fn merged(parts: &[PyBackedBytes]) -> Result<Part, PartError> {
    let spill = Spill::default();
    Part::merge(parts.iter().map(|bytes| read(bytes, &spill)).collect::<Result<Vec<Part>, PartError>>()?)
}

fn read(bytes: &PyBackedBytes, spill: &Spill) -> Result<Part, PartError> {
    Part::read(&**bytes, spill)
}
