//! The programs that wait for a session, and what sessions count.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::llm::client::LineProgram;

/// How much was answered the same when it was asked twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repeated {
    pub sessions: usize,
    pub answers: usize,
}

/// What sessions share, by command.
#[derive(Default)]
pub(super) struct Pool {
    /// Programs that wait for a session.
    idle: Mutex<BTreeMap<String, Vec<LineProgram>>>,
    repeated: Mutex<BTreeMap<String, Repeated>>,
}

impl Pool {
    pub fn idle(&self) -> MutexGuard<'_, BTreeMap<String, Vec<LineProgram>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn repeated(&self) -> MutexGuard<'_, BTreeMap<String, Repeated>> {
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
    pub fn take(&self, command: &str) -> Option<LineProgram> {
        loop {
            let mut program = self.idle().get_mut(command)?.pop()?;
            if program.check_idle().is_ok() {
                return Some(program);
            }
        }
    }
}
