//! Starts programs and begins sessions with them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use super::pool::{Pool, Repeated};
use super::session::Session;
use crate::engine::external::{ExternalError, ExternalPolicies, ExternalSession, SessionStart};
use crate::llm::client::{LineProgram, split_words};

/// How programs are started.
#[derive(Debug, Clone, Default)]
pub struct ProgramSettings {
    /// Their environment, beside the search path.
    pub environment: Vec<(String, OsString)>,
    /// Whether each session is asked of two programs, of which one is new, and must be answered the same.
    pub twice: bool,
}

/// The programs of a run. Each runs one session at a time, so there are as many of a policy as sessions at a time.
pub struct Programs {
    settings: ProgramSettings,
    pool: Arc<Pool>,
}

impl Programs {
    /// Creates a pool without programs.
    pub fn new(settings: ProgramSettings) -> Self {
        Self { settings, pool: Arc::default() }
    }

    /// Starts a program ahead of its first session, so that a wrong command is an error before anything is replayed.
    ///
    /// # Errors
    ///
    /// Fails if the command has no program, or if the program cannot be started.
    pub fn prepare(&self, command: &str) -> Result<(), ExternalError> {
        if self.pool.idle().get(command).is_some_and(|idle| !idle.is_empty()) {
            return Ok(());
        }
        let program = self.start(command)?;
        self.pool.give_back(command, program);
        Ok(())
    }

    /// Returns how much was answered the same twice, by command.
    pub fn repeated(&self) -> BTreeMap<String, Repeated> {
        self.pool.repeated().clone()
    }

    fn start(&self, command: &str) -> Result<LineProgram, String> {
        let cannot = |error: String| format!("`{command}` cannot be started: {error}");
        let words = split_words(command).map_err(|error| cannot(error.to_string()))?;
        log::info!("starts the program `{command}`");
        LineProgram::start(&words, &self.settings.environment).map_err(|error| cannot(error.to_string()))
    }
}

impl ExternalPolicies for Programs {
    fn open(&self, command: &str, start: &SessionStart) -> Result<Box<dyn ExternalSession>, ExternalError> {
        let program = self.pool.take(command).map_or_else(|| self.start(command), Ok)?;
        let second = self.settings.twice.then(|| self.start(command)).transpose()?;
        Ok(Box::new(Session::begin(Arc::clone(&self.pool), command, start, program, second)?))
    }
}
