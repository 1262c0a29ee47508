//! The files, functions and programs that a description names.

use std::io;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::functions::Functions;
use crate::analysis::spec::{Files, ModelRequest, ProgramRequest, ResourceError, Resources};
use crate::cli::args::models::ModelFactory;
use crate::cli::resources::CommandResources;
use crate::engine::external::ExternalPolicies;
use crate::engine::summarizer::Summarizer;
use crate::programs::{ProgramSettings, Programs};

/// Files of the disk, the functions of a call, and programs.
pub struct PythonResources<'a> {
    external: Arc<Functions>,
    /// Policy files may name programs.
    trusts_files: bool,
    /// Connects models; without it none is asked.
    models: Option<CommandResources<'a>>,
}

impl<'a> PythonResources<'a> {
    /// Takes the functions of a call, by name, whether policy files may name programs, and whether sessions are skipped in which a policy
    /// gives no answer.
    ///
    /// # Errors
    ///
    /// Fails if a name is no text.
    pub fn new(functions: &Bound<PyDict>, trusts_files: bool, skips: bool) -> PyResult<Self> {
        let external = Functions::new(functions, Programs::new(ProgramSettings::default()), skips)?;
        Ok(Self { external: Arc::new(external), trusts_files, models: None })
    }

    /// Lets models write summaries. In a dry run the calls are counted only.
    pub fn asking(self, models: ModelFactory<'a>, is_dry: bool) -> Self {
        let plan = is_dry.then(Default::default);
        Self { models: Some(CommandResources { models: Some(models), plan, ..Default::default() }), ..self }
    }

    /// The functions of the call.
    pub fn functions(&self) -> Arc<Functions> {
        self.external.clone()
    }
}

impl Resources for PythonResources<'_> {
    fn read(&self, path: &str) -> io::Result<String> {
        Files::default().read(path)
    }

    fn model(&self, request: &ModelRequest) -> Result<Box<dyn Summarizer>, ResourceError> {
        let unasked = || -> ResourceError {
            let name = request.address.name();
            let other = "write `extract`, `stub:TOKENS`, `fixed:TEXT`, `failing` or `command:PROGRAM`, or use the program";
            format!("summarizer {name}: a replay in Python asks no model; {other}").into()
        };
        self.models.as_ref().ok_or_else(unasked)?.model(request)
    }

    fn program(&self, request: &ProgramRequest) -> Result<Arc<dyn ExternalPolicies>, ResourceError> {
        let ProgramRequest { command, policy, is_typed } = request;
        if !self.external.has(command) {
            if !(*is_typed || self.trusts_files) {
                let add = "if you trust it, add allow_programs=True";
                return Err(format!("the policy `{policy}` starts the program `{command}`; {add}").into());
            }
            self.external.programs.prepare(command).map_err(|error| format!("the policy `{policy}`: {error}"))?;
        }
        let external: Arc<dyn ExternalPolicies> = self.external.clone();
        Ok(external)
    }
}
