//! The exception of the package.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::names::known_settings;
use crate::analysis::Error;

create_exception!(
    recompact,
    RecompactError,
    PyValueError,
    "What was asked cannot be done. The message says what, where, and what to do."
);

/// Options of the program that are arguments, and no settings of a study.
const ARGUMENTS: [(&str, &str); 8] = [
    ("conversation", "conversation"),
    ("partial", "partial"),
    ("for", "harness"),
    ("full", "report(full=True)"),
    ("base_url", "base_url"),
    ("max_calls", "max_calls"),
    ("max_cost", "max_cost"),
    ("max_context", "max_context"),
];

/// Raises an error of the library, with its own message in the words of Python.
pub fn raise(error: impl Into<Error>) -> PyErr {
    raise_message(error.into().to_string())
}

/// Raises an error with this message, in the words of Python.
pub fn raise_message(message: impl Into<String>) -> PyErr {
    RecompactError::new_err(in_python(&message.into()))
}

/// Returns a message in which options of the program are the arguments that they are here: `--max-file` is `max_file`. Messages are made
/// for both, and name an option where the reader has to change something. Inside backticks only an
/// option that begins there is one: the rest is quoted.
pub fn in_python(message: &str) -> String {
    let (study, search) = known_settings();
    let argument = |option: &str| {
        let setting = study.iter().chain(&search).find(|name| **name == option).map(String::as_str);
        setting.or_else(|| ARGUMENTS.iter().find(|(name, _)| *name == option).map(|(_, argument)| *argument))
    };
    let (mut translated, mut is_quoted) = (String::new(), false);
    let mut parts = message.split("--");
    let mut before = parts.next().unwrap_or_default();
    translated += before;
    for part in parts {
        is_quoted ^= before.matches('`').count() % 2 == 1;
        let begins_word = translated.is_empty() || translated.ends_with([' ', '(', '\n']);
        let is_option = translated.ends_with('`') || begins_word && !is_quoted;
        let end = part.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(part.len());
        match argument(&part[..end].replace('-', "_")).filter(|_| is_option) {
            Some(name) => translated += &format!("{name}{}", &part[end..]),
            None => translated += &format!("--{part}"),
        }
        before = part;
    }
    translated
}

#[cfg(test)]
mod tests {
    use super::in_python;

    #[test]
    fn options_are_arguments() {
        let translated = [
            ("--max-file 0: write a size", "max_file 0: write a size"),
            ("--for x: there is none; --partial writes it", "harness x: there is none; partial writes it"),
            ("no day (--since, --until)", "no day (since, until)"),
            ("a--set b --settings c -- d --", "a--set b --settings c -- d --"),
            ("the program `node --prices mine.mjs`", "the program `node --prices mine.mjs`"),
            ("several values, as in `--set a.b=1..3`", "several values, as in `set a.b=1..3`"),
        ];
        for (message, expected) in translated {
            assert_eq!(in_python(message), expected);
        }
    }
}
