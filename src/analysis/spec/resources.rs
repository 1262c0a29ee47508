//! What a spec names and does not contain: files and models.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::engine::external::ExternalPolicies;
use crate::engine::summarizer::Summarizer;
use crate::llm::client::Address;
use crate::metrics::prices::Prices;

/// Gives a spec the files and models that it names.
pub trait Resources {
    /// Returns the text of a policy or a price list, by the path in the spec.
    ///
    /// # Errors
    ///
    /// Fails if there is no such file, or it cannot be read.
    fn read(&self, path: &str) -> io::Result<String>;

    /// Returns how messages name this file.
    fn name_of(&self, path: &str) -> String {
        path.to_owned()
    }

    /// Returns a summarizer that asks a model.
    ///
    /// # Errors
    ///
    /// Fails if the model cannot be asked.
    fn model(&self, request: &ModelRequest) -> Result<Box<dyn Summarizer>, ResourceError>;

    /// Returns what starts the program of a policy; it is the same for all programs of a study. Without it, no program is started.
    ///
    /// # Errors
    ///
    /// Fails if the program may not be started.
    fn program(&self, request: &ProgramRequest) -> Result<Arc<dyn ExternalPolicies>, ResourceError> {
        let ProgramRequest { command, policy, .. } = request;
        let what = "no program can be started here; implement `Resources::program`";
        Err(format!("the policy `{policy}` starts `{command}`: {what}").into())
    }
}

/// Why a model cannot be asked, or a program not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ResourceError(String);

impl From<String> for ResourceError {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<ResourceError> for String {
    fn from(error: ResourceError) -> Self {
        error.0
    }
}

/// The program of a policy.
#[derive(Debug, Clone, Copy)]
pub struct ProgramRequest<'a> {
    /// Its command line, for no shell.
    pub command: &'a str,
    /// Name of the policy.
    pub policy: &'a str,
    /// The spec itself names the program (`NAME=command:PROGRAM`), and no file of a policy.
    pub is_typed: bool,
}

/// Which model writes summaries, and how.
pub struct ModelRequest<'a> {
    pub address: &'a Address,
    /// Number of the sample, from 1.
    pub replicate: u32,
    /// Extra fields of every request, sorted by name.
    pub params: &'a Map<String, Value>,
    /// The prices of the study.
    pub prices: &'a Prices,
}

/// Reads files of the disk, relative to a folder, and asks no model.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// Where relative paths start; empty: the current folder.
    pub base: PathBuf,
}

impl Resources for Files {
    fn read(&self, path: &str) -> io::Result<String> {
        log::info!("reads {path}");
        std::fs::read_to_string(self.base.join(path))
    }

    fn model(&self, request: &ModelRequest) -> Result<Box<dyn Summarizer>, ResourceError> {
        Err(format!("{}: no model can be asked here; implement `Resources::model`", request.address.name()).into())
    }
}
