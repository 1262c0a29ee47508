//! Policies that are functions in Python. They speak the protocol of programs within this process: the package turns its lines
//! into messages, and what the function returns into an answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::calls::{Calls, Failed};
use super::error::raise_message;
use crate::analysis::corpus::{Monitor, ReadSpec};
use crate::engine::external::{Decision, ExternalError, ExternalPolicies, ExternalRequest, ExternalSession, SessionStart, Shape};
use crate::programs::{Programs, protocol};

/// Begins the command of a policy that is a function; its name follows.
pub const COMMAND: &str = "python:";

/// The functions and programs of a study.
pub struct Functions {
    /// By command. Each is called for a session and returns what answers its lines.
    functions: HashMap<String, Arc<Py<PyAny>>>,
    pub programs: Arc<Programs>,
    /// A session is skipped in which a policy gives no answer; else that is an error.
    skips: bool,
    run: Arc<Run>,
}

/// What the sessions of a run share.
#[derive(Default)]
struct Run {
    calls: Calls,
    /// What functions raised, each with the message that a session gets which is left out for it.
    raised: Mutex<Vec<(String, PyErr)>>,
}

/// A monitor that begins no more transcripts once a function raised, if no session is skipped.
pub struct UntilRaised<'m> {
    functions: &'m Functions,
    monitor: &'m dyn Monitor,
}

/// A session with a function.
struct FunctionSession {
    /// Takes a line and returns the answer.
    answer: Arc<Py<PyAny>>,
    shape: Shape,
    /// Time limit of each answer.
    limit: Duration,
    run: Arc<Run>,
}

impl Functions {
    /// Takes the functions by their names. `skips` says whether sessions are skipped in which a policy gives no answer.
    ///
    /// # Errors
    ///
    /// Fails if a name is no text.
    pub fn new(functions: &Bound<PyDict>, programs: Programs, skips: bool) -> PyResult<Self> {
        let entry = |(name, function): (Bound<PyAny>, Bound<PyAny>)| {
            let name: String = name.extract()?;
            Ok((format!("{COMMAND}{name}"), Arc::new(function.unbind())))
        };
        let functions = functions.iter().map(entry).collect::<PyResult<_>>()?;
        Ok(Self { functions, programs: Arc::new(programs), skips, run: Arc::default() })
    }

    /// Returns whether a command names a function.
    pub fn has(&self, command: &str) -> bool {
        self.functions.contains_key(command)
    }

    /// Where the functions are called.
    pub fn calls(&self) -> &Calls {
        &self.run.calls
    }

    /// Returns a monitor that stops the run when a function raises, unless sessions are skipped.
    pub fn until_raised<'m>(&'m self, monitor: &'m dyn Monitor) -> UntilRaised<'m> {
        UntilRaised { functions: self, monitor }
    }

    /// Raises why a session has no answer of a policy, if there is one and none is skipped, if all are skipped, or if the description says
    /// that this is an error. `unanswered` has for each result its transcript and the reason, if there is one.
    ///
    /// # Errors
    ///
    /// A RecompactError that names the session and the call; its cause is the exception of the function.
    pub fn check<'a>(
        &self,
        py: Python,
        read: &ReadSpec,
        unanswered: impl Iterator<Item = Option<(&'a str, &'a str)>>,
    ) -> PyResult<()> {
        let (mut first, mut is_answered) = (None, false);
        for result in unanswered {
            is_answered |= result.is_none();
            first = first.or(result);
        }
        let is_skipped = self.skips && is_answered && !read.strict;
        let Some((transcript, why)) = first.filter(|_| !is_skipped) else { return Ok(()) };
        let error = raise_message(format!("{transcript}: {why}"));
        if let Some((_, cause)) = self.run.raised().iter().find(|(message, _)| why.ends_with(message.as_str())) {
            error.set_cause(py, Some(cause.clone_ref(py)));
        }
        Err(error)
    }
}

impl ExternalPolicies for Functions {
    fn open(&self, command: &str, start: &SessionStart) -> Result<Box<dyn ExternalSession>, ExternalError> {
        let Some(function) = self.functions.get(command).cloned() else { return self.programs.open(command, start) };
        let (limit, run) = (start.timeout, self.run.clone());
        let answer = Arc::new(run.call(limit, move |py| function.call0(py))?);
        let started = run.exchange(&answer, limit, protocol::start(start))?;
        Ok(Box::new(FunctionSession { shape: protocol::started(&started, start.shape)?, answer, limit, run }))
    }
}

impl Run {
    fn raised(&self) -> MutexGuard<'_, Vec<(String, PyErr)>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls what answers the lines of a session.
    fn exchange(&self, answer: &Arc<Py<PyAny>>, limit: Duration, line: Vec<u8>) -> Result<String, String> {
        let answer = answer.clone();
        self.call(limit, move |py| answer.call1(py, (line,))?.extract::<String>(py))
    }

    /// Calls a function, and keeps what it raises.
    fn call<T: Send + 'static>(
        &self,
        limit: Duration,
        function: impl FnOnce(Python) -> PyResult<T> + Send + 'static,
    ) -> Result<T, String> {
        self.calls.call(limit, function).map_err(|failed| match failed {
            Failed::Stopped => "the run was stopped".to_owned(),
            Failed::Raised(error) => {
                let message = Python::attach(|py| message(py, &error));
                self.raised().push((message.clone(), error));
                message
            }
        })
    }
}

impl Monitor for UntilRaised<'_> {
    fn is_stopped(&self) -> bool {
        self.monitor.is_stopped() || !(self.functions.skips || self.functions.run.raised().is_empty())
    }

    fn transcript_done(&self, at: usize) {
        self.monitor.transcript_done(at);
    }

    fn step(&self, policy_calls: u64) {
        self.monitor.step(policy_calls);
    }

    fn replayed(&self, policy_calls: u64) {
        self.monitor.replayed(policy_calls);
    }

    fn note(&self, what: &str) {
        self.monitor.note(what);
    }
}

impl ExternalSession for FunctionSession {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn request(&mut self, request: &ExternalRequest) -> Result<Decision, ExternalError> {
        let answer = self.run.exchange(&self.answer, self.limit, protocol::request(request, self.shape))?;
        protocol::decision(&answer, request.call, self.shape)
    }

    fn summary(&mut self, call: usize, summary: Result<&str, &str>) -> Result<Decision, ExternalError> {
        let answer = self.run.exchange(&self.answer, self.limit, protocol::summary(call, summary))?;
        protocol::decision(&answer, call, self.shape)
    }

    fn abandon(&mut self) {}
}

/// Returns an exception with the place at which it was raised: `ValueError: no messages (policy.py, line 12)`.
fn message(py: Python, error: &PyErr) -> String {
    let mut place = None;
    let mut traceback = error.traceback(py).map(Bound::into_any);
    while let Some(frame) = traceback.filter(|traceback| !traceback.is_none()) {
        let code = frame.getattr("tb_frame").and_then(|frame| frame.getattr("f_code")?.getattr("co_filename"));
        let line = frame.getattr("tb_lineno").and_then(|line| line.extract::<u32>());
        place = code.and_then(|file| file.extract::<String>()).ok().zip(line.ok());
        traceback = frame.getattr("tb_next").ok();
    }
    let Some((file, line)) = place else { return error.to_string() };
    let file = std::path::Path::new(&file).file_name().map_or(file.clone(), |name| name.to_string_lossy().into_owned());
    format!("{error} ({file}, line {line})")
}
