//! The Python package `recompact`: its compiled module `recompact._native`.
//!
//! May import: every wing before it, and the command line, which the module offers as a function so that one wheel holds the module
//! and the program. Built with the feature `python` only. What users call is Python, in the folder `recompact` beside this file;
//! here is what that code cannot do itself. Offers nothing to other crates.
//!
//! - `study`: replays, comparisons and sweeps; `documents`: inspections, and the reports of all results; `audit`; `check`; `probe`; `conversations`: the
//!   messages of transcripts;
//! - `show`: one request, and what changed between results; `presets`: presets, and the configurations that policies become;
//! - `settings`: keyword arguments as the description of a study; `watch`: runs work without the interpreter's lock, and stops it;
//! - `results`: the tables of results; `table`: columns as buffers, which NumPy and Arrow take over;
//! - `functions`: policies that are functions; `calls`: calls of them in the thread of the caller; `resources`: what else a study needs;
//! - `value`: JSON as Python objects; `error`: the exception; `names`: the names of the settings.

mod audit;
mod calls;
mod check;
mod conversations;
mod documents;
mod error;
mod functions;
mod names;
mod parts;
mod presets;
mod probe;
mod resources;
mod results;
mod settings;
mod show;
mod study;
mod table;
mod value;
mod watch;

use pyo3::prelude::*;

/// The compiled part of the Python package `recompact`.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::python::audit::audit;
    #[pymodule_export]
    use crate::python::check::check;
    #[pymodule_export]
    use crate::python::conversations::read;
    #[pymodule_export]
    use crate::python::documents::{Document, inspect, kept};
    #[pymodule_export]
    use crate::python::error::RecompactError;
    #[pymodule_export]
    use crate::python::names::known_settings;
    #[pymodule_export]
    use crate::python::parts::{finish, merge, next_stage, replay_part, sweep_part};
    #[pymodule_export]
    use crate::python::presets::{export_settings, policy_toml, presets, swept_policies, usual_policies};
    #[pymodule_export]
    use crate::python::probe::probe;
    #[pymodule_export]
    use crate::python::results::{StudyResults, from_json, load};
    #[pymodule_export]
    use crate::python::run;
    #[pymodule_export]
    use crate::python::show::{diff, show};
    #[pymodule_export]
    use crate::python::study::{compare, replay, sweep};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

/// Runs the program with these arguments, the first of which is its name, and returns its exit code.
#[pyfunction]
fn run(py: Python, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| crate::cli::run(arguments))
}
