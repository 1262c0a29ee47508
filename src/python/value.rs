//! JSON as Python objects.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::Value;

use crate::text::surrogates::{has_stand_ins, lone_surrogate};

/// Returns a JSON value as `json.loads` would: numbers with all digits, lone surrogates as Python has them.
///
/// # Errors
///
/// Fails only if Python has no memory left.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => to_number(py, number),
        Value::String(text) => Ok(to_text(py, text)?.into_any()),
        Value::Array(values) => {
            let items: Vec<_> = values.iter().map(|value| to_python(py, value)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_bound_py_any(py)
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (key, value) in fields {
                dict.set_item(to_text(py, key)?, to_python(py, value)?)?;
            }
            dict.into_bound_py_any(py)
        }
    }
}

fn to_number<'py>(py: Python<'py>, number: &serde_json::Number) -> PyResult<Bound<'py, PyAny>> {
    if let Some(whole) = number.as_i64() {
        return whole.into_bound_py_any(py);
    }
    let digits = number.to_string();
    if digits.contains(['.', 'e', 'E']) {
        return number.as_f64().into_bound_py_any(py);
    }
    py.get_type::<pyo3::types::PyInt>().call1((digits,))
}

/// Returns a text with its lone surrogates, which a Python text can have.
fn to_text<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    if !has_stand_ins(text) {
        return Ok(PyString::new(py, text));
    }
    let units = text.chars().flat_map(|c| match lone_surrogate(c) {
        Some(unit) => vec![unit],
        None => c.encode_utf16(&mut [0; 2]).to_vec(),
    });
    let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
    let decoded = pyo3::types::PyBytes::new(py, &bytes).call_method1("decode", ("utf-16-le", "surrogatepass"))?;
    Ok(decoded.cast_into::<PyString>()?)
}
