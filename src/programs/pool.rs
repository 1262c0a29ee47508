//! Starts programs, and keeps those that wait for a session.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::session::Session;
use crate::engine::external::{ExternalPolicies, ExternalSession, SessionStart};
use crate::llm::client::{LineProgram, split_words};

/// How programs are started.
#[derive(Debug, Clone, Default)]
pub struct ProgramSettings {
    /// Their environment, beside the search path.
    pub environment: Vec<(String, OsString)>,
    /// Whether each session is asked of two programs, of which one is new, and must be answered the same.
    pub twice: bool,
}

/// How much was answered the same when it was asked twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repeated {
    pub sessions: usize,
    pub answers: usize,
}

/// The programs of a run. Each runs one session at a time, so there are as many of a policy as sessions at a time.
pub struct Programs {
    settings: ProgramSettings,
    pool: Arc<Pool>,
}

/// What sessions share, by command.
#[derive(Default)]
pub(super) struct Pool {
    /// Programs that wait for a session.
    idle: Mutex<BTreeMap<String, Vec<LineProgram>>>,
    repeated: Mutex<BTreeMap<String, Repeated>>,
}

impl Pool {
    fn idle(&self) -> MutexGuard<'_, BTreeMap<String, Vec<LineProgram>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn repeated(&self) -> MutexGuard<'_, BTreeMap<String, Repeated>> {
        self.repeated.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a session in which all answers were the same twice.
    pub fn count_repeated(&self, command: &str, answers: usize) {
        let mut repeated = self.repeated();
        let of = repeated.entry(command.to_owned()).or_default();
        of.sessions += 1;
        of.answers += answers;
    }

    pub fn give_back(&self, command: &str, program: LineProgram) {
        self.idle().entry(command.to_owned()).or_default().push(program);
    }

    /// Takes a program that waits, and ends those that ended or wrote something in the meantime.
    fn take(&self, command: &str) -> Option<LineProgram> {
        loop {
            let mut program = self.idle().get_mut(command)?.pop()?;
            if program.is_idle() {
                return Some(program);
            }
        }
    }
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
    pub fn prepare(&self, command: &str) -> Result<(), String> {
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
        let words = split_words(command).map_err(cannot)?;
        LineProgram::start(&words, &self.settings.environment).map_err(|error| cannot(error.to_string()))
    }
}

impl ExternalPolicies for Programs {
    fn open(&self, command: &str, start: &SessionStart) -> Result<Box<dyn ExternalSession>, String> {
        let program = self.pool.take(command).map_or_else(|| self.start(command), Ok)?;
        let second = self.settings.twice.then(|| self.start(command)).transpose()?;
        Ok(Box::new(Session::begin(Arc::clone(&self.pool), command, start, program, second)?))
    }
}
