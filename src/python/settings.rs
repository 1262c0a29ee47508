//! Keyword arguments as the description of a study.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::error::raise_message;
use super::names::known_settings;
use crate::analysis::corpus;
use crate::analysis::spec::{PolicySpec, StudySpec};
use crate::util::text::did_you_mean;
use crate::util::toml_span::friendly_serde_error;

/// Maximum nesting of a setting; a policy has five levels. A list may contain itself.
const MAX_DEPTH: usize = 32;

/// What a policy is.
const POLICY: &str =
    "a policy is the name of a preset, a path, the text of a policy file, a dict with its content, or a function";

/// Returns the description of a study. Settings that are None are left out.
///
/// # Errors
///
/// Raises a TypeError for a name that is no setting, and a RecompactError for a wrong value.
pub fn study_spec(policies: &[Bound<PyAny>], settings: &Bound<PyDict>) -> PyResult<StudySpec> {
    let (known, _) = known_settings();
    let mut spec: StudySpec = from_settings(settings, &known)?;
    for (name, day) in [("since", &mut spec.read.since), ("until", &mut spec.read.until)] {
        if let Some(day) = day {
            *day = corpus::day(day, corpus::today()).map_err(|why| raise_message(format!("{name}: {why}")))?;
        }
    }
    spec.policies = policies.iter().map(policy_spec).collect::<PyResult<_>>()?;
    Ok(spec)
}

/// Returns the description of a sweep: of its study, with how it searches.
///
/// # Errors
///
/// As [`study_spec`].
pub fn sweep_spec(policies: &[Bound<PyAny>], settings: &Bound<PyDict>, search: &Bound<PyDict>) -> PyResult<StudySpec> {
    let (study, found) = known_settings();
    must_be_known(settings, &[study, found.clone()].concat())?;
    Ok(study_spec(policies, settings)?.sweep(from_settings(search, &found)?))
}

/// Reads settings with these names. None is as if the setting were left out.
///
/// # Errors
///
/// As [`study_spec`].
pub fn from_settings<T: DeserializeOwned>(settings: &Bound<PyDict>, known: &[String]) -> PyResult<T> {
    must_be_known(settings, known)?;
    let mut table = Table::new();
    for (name, value) in settings {
        let name: String = name.extract()?;
        if !value.is_none() {
            table.insert(name.clone(), to_toml(&value, &name, 0)?);
        }
    }
    // A wrong value is found by reading the settings one by one: the error of a whole table does not name the setting.
    for (name, value) in &table {
        let one = Table::from_iter([(name.clone(), value.clone())]);
        let wrong = |error: toml::de::Error| match settings.get_item(name) {
            Ok(value) => wrong_value(name, value.as_ref(), error.message()),
            Err(error) => error,
        };
        one.try_into::<T>().map_err(wrong)?;
    }
    table.try_into().map_err(|error: toml::de::Error| raise_message(error.message().to_owned()))
}

fn must_be_known(settings: &Bound<PyDict>, known: &[String]) -> PyResult<()> {
    for name in settings.keys() {
        let name: String = name.extract()?;
        if !known.contains(&name) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return Err(PyTypeError::new_err(format!("there is no setting `{name}`{}", did_you_mean(&name, &known))));
        }
    }
    Ok(())
}

/// Raises what is wrong with the value of a setting: `misses: a whole number, 0 or more is needed, not 'many'`.
fn wrong_value(name: &str, value: Option<&Bound<PyAny>>, message: &str) -> PyErr {
    let message = friendly_serde_error(message.trim());
    let value = value.and_then(|value| value.repr().ok()).map(|value| value.to_string()).unwrap_or_default();
    let needed = |kind: &str| {
        let (_, expected) = message.strip_prefix(kind)?.split_once(", expected ")?;
        let of_python = [("a string", "a text"), ("string only", "a text"), ("a boolean", "True or False"), ("a map", "a dict")];
        let expected = of_python.iter().find(|(other, _)| *other == expected).map_or(expected, |(_, own)| own);
        Some(format!("{name}: {expected} is needed, not {value}"))
    };
    if let Some(message) = needed("invalid type: ") {
        return PyTypeError::new_err(message);
    }
    let needed = needed("invalid value: ").or_else(|| needed("unknown variant "));
    raise_message(needed.unwrap_or_else(|| format!("{name}: {message}")))
}

/// Returns a policy: the name of a preset, a path, the text of a policy file, or its content as a dict.
///
/// # Errors
///
/// Raises a TypeError for another object, and a RecompactError for a text that is no TOML.
pub fn policy_spec(policy: &Bound<PyAny>) -> PyResult<PolicySpec> {
    let is_policy = policy.is_instance_of::<PyString>() || policy.cast::<PyMapping>().is_ok() || policy.hasattr("__fspath__")?;
    if !is_policy {
        let kind = policy.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{POLICY}, not {kind}")));
    }
    match to_toml(policy, "policies", 0)? {
        Value::String(text) if text.contains('\n') => {
            let table = text.parse::<Table>();
            Ok(PolicySpec::Inline(table.map_err(|error| raise_message(format!("a policy is no TOML: {error}")))?))
        }
        Value::String(name) => Ok(PolicySpec::Named(name)),
        Value::Table(table) => Ok(PolicySpec::Inline(table)),
        _ => Err(PyTypeError::new_err(POLICY)),
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
        let too_large = |_| raise_message(format!("{name}: the number is too large"));
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
    } else if let Ok(plain) = object.call_method0("tolist") {
        // A number or an array of numpy.
        to_toml(&plain, name, depth + 1)
    } else {
        let kind = object.get_type().name()?;
        Err(PyTypeError::new_err(format!("{name}: a text, a number, a bool, a list or a dict is needed, not {kind}")))
    }
}
