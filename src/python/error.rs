//! The exception of the package.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::analysis::Error;

create_exception!(
    recompact,
    RecompactError,
    PyException,
    "What was asked cannot be done. The message says what, where, and what to do."
);

/// Raises an error of the library, with its own message.
pub fn raise(error: impl Into<Error>) -> PyErr {
    RecompactError::new_err(error.into().to_string())
}

/// Raises an error with this message.
pub fn raise_message(message: impl Into<String>) -> PyErr {
    RecompactError::new_err(message.into())
}
