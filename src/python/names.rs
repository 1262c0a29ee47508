//! The names of the settings, which are keyword arguments.

use pyo3::prelude::*;

use crate::analysis::spec::{StudySpec, SweepSpec};

/// Fields of a description that are no keyword arguments: they have parameters of their own.
const PARAMETERS: [&str; 2] = ["policies", "sweep"];

/// Returns the names of all settings, and those of a sweep.
#[pyfunction]
pub fn known_settings() -> (Vec<String>, Vec<String>) {
    let names = |schema: schemars::Schema| {
        let properties = schema.get("properties").and_then(serde_json::Value::as_object);
        properties.into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<String>>()
    };
    let mut study = names(schemars::schema_for!(StudySpec));
    study.retain(|name| !PARAMETERS.contains(&name.as_str()));
    (study, names(schemars::schema_for!(SweepSpec)))
}
