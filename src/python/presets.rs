//! Presets, policies in full, and the configurations of harnesses that policies become.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::error::{in_python, raise, raise_message};
use super::results::StudyResults;
use super::settings::{policy_spec, study_spec};
use super::watch::corpus;
use crate::analysis::spec::{Files, StudySpec};
use crate::analysis::usual;
use crate::cli::args::study::shippable_presets;
use crate::cli::commands::export_settings::ExportSettings;
use crate::cli::error::Failure;
use crate::engine::policy::{FAMILIES, Policy, preset};

/// Returns the policies that the program replays of these transcripts if none is named.
#[pyfunction]
pub fn usual_policies(paths: Vec<PathBuf>, settings: &Bound<PyDict>) -> PyResult<Vec<String>> {
    let corpus = corpus(&paths, &study_spec(&[], settings)?.read)?;
    Ok(usual::usual_policies(corpus.formats()))
}

/// Returns the policies that the program sweeps if none is named.
#[pyfunction]
pub fn swept_policies() -> Vec<String> {
    shippable_presets()
}

/// Returns the name, the family and the meaning of each preset.
#[pyfunction]
pub fn presets() -> PyResult<Vec<(&'static str, &'static str, String)>> {
    let named = FAMILIES.iter().flat_map(|family| family.presets.iter().map(|name| (*name, family.name)));
    let described = |(name, family)| {
        let policy = preset(name).map(|preset| preset.policy(&[])).transpose().map_err(raise)?;
        Ok((name, family, policy.map_or_else(String::new, |policy| policy.about)))
    };
    named.map(described).collect()
}

/// Returns a policy in full, as TOML, with every setting that it leaves to its default.
#[pyfunction]
pub fn policy_toml(policy: &Bound<PyAny>) -> PyResult<String> {
    let sources = StudySpec::new(policy_spec(policy)?).sources(&Files::default()).map_err(raise)?;
    let policy: Policy = sources[0].policy(&[]).map_err(raise)?;
    Ok(policy.to_toml())
}

/// Returns the configuration of a harness with the numbers of a policy, of what results recommend, or of the harness's preset; and what
/// the reader must know.
#[pyfunction]
pub fn export_settings(
    harness: String,
    policy: Option<&Bound<PyAny>>,
    results: Option<&Bound<StudyResults>>,
    settings: &Bound<PyDict>,
    partial: bool,
) -> PyResult<(String, Vec<String>)> {
    let spec = study_spec(&[], settings)?;
    let changes = spec.set.iter().map(|written| written.parse()).collect::<Result<_, _>>().map_err(raise)?;
    let export = ExportSettings {
        harness: Some(harness.clone()),
        policy: None,
        from: None,
        settings: changes,
        window: spec.window,
        partial,
        out: None,
    };
    let exported = match (policy, results) {
        (_, Some(results)) => export.of_results(&harness, results.get().results(), Failure::Usage),
        (Some(policy), None) => export.of_policy(&harness, policy_spec(policy)?),
        (None, None) => export.policy_name(&harness).and_then(|name| export.of_policy(&harness, name.into())),
    };
    let exported = exported.map_err(|failure| raise_message(failure.to_string()))?;
    Ok((exported.body, exported.comment.iter().map(|line| in_python(line)).collect()))
}
