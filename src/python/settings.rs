//! Keyword arguments as the description of a study.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::error::raise_message;
use crate::analysis::spec::{PolicySpec, StudySpec, SweepSpec};
use crate::engine::policy::Policy;
use crate::util::text::did_you_mean;

/// Fields of a description that are no keyword arguments: they have parameters of their own.
const PARAMETERS: [&str; 2] = ["policies", "sweep"];

/// Maximum nesting of a setting; a policy has five levels. A list may contain itself.
const MAX_DEPTH: usize = 32;

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

/// Returns a policy in full, as TOML, with every setting that it leaves to its default.
#[pyfunction]
pub fn policy_toml(policy: &Bound<PyAny>) -> PyResult<String> {
    let spec = StudySpec::new(policy_spec(policy)?);
    let sources = spec.sources(&crate::analysis::spec::Files::default()).map_err(super::error::raise)?;
    let policy: Policy = sources[0].policy(&[]).map_err(super::error::raise)?;
    Ok(policy.to_toml())
}

/// Returns the description of a study. Settings that are None are left out.
///
/// # Errors
///
/// Raises a TypeError for a name that is no setting, and a RecompactError for a wrong value.
pub fn study_spec(policies: &[Bound<PyAny>], settings: &Bound<PyDict>) -> PyResult<StudySpec> {
    let (known, _) = known_settings();
    let mut spec: StudySpec = from_settings(settings, &known)?;
    spec.policies = policies.iter().map(policy_spec).collect::<PyResult<_>>()?;
    Ok(spec)
}

/// Returns the description of a search.
///
/// # Errors
///
/// As [`study_spec`].
pub fn sweep_spec(settings: &Bound<PyDict>) -> PyResult<SweepSpec> {
    from_settings(settings, &known_settings().1)
}

fn from_settings<T: DeserializeOwned>(settings: &Bound<PyDict>, known: &[String]) -> PyResult<T> {
    let mut table = Table::new();
    for (name, value) in settings {
        let name: String = name.extract()?;
        if !known.contains(&name) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return Err(PyTypeError::new_err(format!("there is no setting `{name}`{}", did_you_mean(&name, &known))));
        }
        if !value.is_none() {
            table.insert(name.clone(), to_toml(&value, &name, 0)?);
        }
    }
    // A wrong value is found by reading the settings one by one: the error of a whole table does not name the setting.
    for (name, value) in &table {
        let one = Table::from_iter([(name.clone(), value.clone())]);
        one.try_into::<T>().map_err(|error| raise_message(format!("{name}: {}", error.message())))?;
    }
    table.try_into().map_err(|error: toml::de::Error| raise_message(error.message().to_owned()))
}

/// Returns a policy: the name of a preset, a path, the text of a policy file, or its content as a dict.
fn policy_spec(policy: &Bound<PyAny>) -> PyResult<PolicySpec> {
    match to_toml(policy, "policies", 0)? {
        Value::String(text) if text.contains('\n') => {
            let table = text.parse::<Table>();
            Ok(PolicySpec::Inline(table.map_err(|error| raise_message(format!("a policy is no TOML: {error}")))?))
        }
        Value::String(name) => Ok(PolicySpec::Named(name)),
        Value::Table(table) => Ok(PolicySpec::Inline(table)),
        _ => Err(PyTypeError::new_err(
            "a policy is the name of a preset, a path, the text of a policy file, a dict with its content, or a function",
        )),
    }
}

/// Returns a Python object as a value of a TOML file. `depth` is the number of lists and dicts around it.
fn to_toml(object: &Bound<PyAny>, name: &str, depth: usize) -> PyResult<Value> {
    if depth > MAX_DEPTH {
        return Err(PyTypeError::new_err(format!("{name}: lists and dicts are nested more than {MAX_DEPTH} times")));
    }
    let items = |items: Vec<Bound<PyAny>>| {
        let values: PyResult<Vec<Value>> = items.iter().map(|item| to_toml(item, name, depth + 1)).collect();
        values.map(Value::Array)
    };
    if object.is_instance_of::<PyBool>() {
        Ok(Value::Boolean(object.extract()?))
    } else if object.is_instance_of::<PyInt>() {
        let too_large = |_| PyTypeError::new_err(format!("{name}: the number is too large"));
        Ok(Value::Integer(object.extract().map_err(too_large)?))
    } else if object.is_instance_of::<PyFloat>() {
        Ok(Value::Float(object.extract()?))
    } else if object.is_instance_of::<PyString>() {
        Ok(Value::String(object.extract()?))
    } else if let Ok(mapping) = object.cast::<PyMapping>() {
        let mut table = Table::new();
        for entry in mapping.items()? {
            let (key, value): (String, Bound<PyAny>) = entry.extract()?;
            table.insert(key, to_toml(&value, name, depth + 1)?);
        }
        Ok(Value::Table(table))
    } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        items(object.extract()?)
    } else if let Ok(path) = object.call_method0("__fspath__") {
        Ok(Value::String(path.extract()?))
    } else {
        let kind = object.get_type().name()?;
        Err(PyTypeError::new_err(format!("{name}: a text, a number, a bool, a list or a dict is needed, not {kind}")))
    }
}
