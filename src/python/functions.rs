//! Policies that are functions in Python. They speak the protocol of programs within this process: the package turns its lines
//! into messages, and what the function returns into an answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::error::raise_message;
use crate::analysis::corpus::Monitor;
use crate::engine::external::{Decision, ExternalError, ExternalPolicies, ExternalRequest, ExternalSession, SessionStart, Shape};
use crate::programs::{Programs, protocol};

/// Begins the command of a policy that is a function; its name follows.
pub const COMMAND: &str = "python:";

/// The functions and programs of a study.
pub struct Functions {
    /// By command. Each is called for a session and returns what answers its lines.
    functions: HashMap<String, Py<PyAny>>,
    pub programs: Arc<Programs>,
    raised: Arc<Raised>,
}

/// What functions raised, each with the message that a session gets which is left out for it.
#[derive(Default)]
struct Raised(Mutex<Vec<(String, PyErr)>>);

/// A monitor that begins no more transcripts once a function raised.
pub struct UntilRaised<'m> {
    functions: &'m Functions,
    monitor: &'m dyn Monitor,
}

/// A session with a function.
struct FunctionSession {
    /// Takes a line and returns the answer.
    answer: Py<PyAny>,
    shape: Shape,
    raised: Arc<Raised>,
}

impl Functions {
    /// Takes the functions by their names.
    ///
    /// # Errors
    ///
    /// Fails if a name is no text.
    pub fn new(functions: &Bound<PyDict>, programs: Programs) -> PyResult<Self> {
        let entry = |(name, function): (Bound<PyAny>, Bound<PyAny>)| {
            let name: String = name.extract()?;
            Ok((format!("{COMMAND}{name}"), function.unbind()))
        };
        Ok(Self {
            functions: functions.iter().map(entry).collect::<PyResult<_>>()?,
            programs: Arc::new(programs),
            raised: Arc::default(),
        })
    }

    /// Returns whether a command names a function.
    pub fn has(&self, command: &str) -> bool {
        self.functions.contains_key(command)
    }

    /// Returns a monitor that stops the run when a function raises.
    pub fn until_raised<'m>(&'m self, monitor: &'m dyn Monitor) -> UntilRaised<'m> {
        UntilRaised { functions: self, monitor }
    }

    /// Raises why a session has no answer of a policy, if there is one: transcripts and reasons, in their order.
    ///
    /// # Errors
    ///
    /// A RecompactError that names the session and the call; its cause is the exception of the function.
    pub fn check<'a>(&self, py: Python, mut unanswered: impl Iterator<Item = (&'a str, &'a str)>) -> PyResult<()> {
        let Some((transcript, why)) = unanswered.next() else { return Ok(()) };
        let error = raise_message(format!("{transcript}: {why}"));
        if let Some((_, cause)) = self.raised.all().iter().find(|(message, _)| why.ends_with(message.as_str())) {
            error.set_cause(py, Some(cause.clone_ref(py)));
        }
        Err(error)
    }
}

impl ExternalPolicies for Functions {
    fn open(&self, command: &str, start: &SessionStart) -> Result<Box<dyn ExternalSession>, ExternalError> {
        let Some(function) = self.functions.get(command) else { return self.programs.open(command, start) };
        let raised = self.raised.clone();
        let answer = Python::attach(|py| function.call0(py).map_err(|error| raised.keep(py, error)))?;
        let started = exchange(&answer, &protocol::start(start), &raised)?;
        Ok(Box::new(FunctionSession { shape: protocol::started(&started, start.shape)?, answer, raised }))
    }
}

/// Calls what answers the lines of a session.
fn exchange(answer: &Py<PyAny>, line: &[u8], raised: &Raised) -> Result<String, String> {
    Python::attach(|py| {
        let answer = answer.call1(py, (line,)).and_then(|answer| answer.extract::<String>(py));
        answer.map_err(|error| raised.keep(py, error))
    })
}

impl Raised {
    fn all(&self) -> MutexGuard<'_, Vec<(String, PyErr)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an exception and returns its message.
    fn keep(&self, py: Python, error: PyErr) -> String {
        let message = message(py, &error);
        self.all().push((message.clone(), error));
        message
    }
}

impl Monitor for UntilRaised<'_> {
    fn is_stopped(&self) -> bool {
        self.monitor.is_stopped() || !self.functions.raised.all().is_empty()
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
        protocol::decision(
            &exchange(&self.answer, &protocol::request(request, self.shape), &self.raised)?,
            request.call,
            self.shape,
        )
    }

    fn summary(&mut self, call: usize, summary: Result<&str, &str>) -> Result<Decision, ExternalError> {
        protocol::decision(&exchange(&self.answer, &protocol::summary(call, summary), &self.raised)?, call, self.shape)
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
