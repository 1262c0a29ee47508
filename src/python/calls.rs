//! Calls of functions in the thread that called the package: Ctrl-C is raised there, so it ends a function, too. Each call has a
//! time limit, as the answers of programs have.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyException, PyTimeoutError};
use pyo3::prelude::*;

/// How often a waiting thread looks whether its call is late.
const PULSE: Duration = Duration::from_millis(100);

/// After this time, a function that caught the end of its time is interrupted again.
const AGAIN: Duration = Duration::from_secs(1);

/// The Python module that interrupts a thread.
const MODULE: &str = "recompact._calls";

/// A call for the thread of the caller. It fails with what ends the whole run: KeyboardInterrupt, SystemExit.
pub type Job = Box<dyn FnOnce(Python) -> PyResult<()> + Send>;

/// Where worker threads leave their calls.
#[derive(Default)]
pub struct Calls {
    /// There is one while the thread of the caller waits for calls.
    desk: Mutex<Option<Desk>>,
    /// What ended work that calls functions in its own thread.
    interrupt: Mutex<Option<PyErr>>,
    /// The run is to end.
    stopped: Arc<AtomicBool>,
}

/// The way to the thread of the caller.
#[derive(Clone)]
struct Desk {
    jobs: Sender<Job>,
    /// Python's identifier of the thread.
    thread: u64,
}

/// Takes no more calls when it is dropped.
pub struct Open<'c>(&'c Calls);

/// Why a call has no result.
pub enum Failed {
    Raised(PyErr),
    /// The run ended first.
    Stopped,
}

/// A call that may be running, and may be late.
#[derive(Default)]
struct Running {
    state: Mutex<State>,
    interrupted: Condvar,
}

#[derive(Default)]
struct State {
    /// When the function is interrupted; `None` while it does not run.
    deadline: Option<Instant>,
    is_late: bool,
    /// Another thread is about to interrupt it.
    is_interrupting: bool,
}

impl Calls {
    /// Takes calls for this thread from now on.
    ///
    /// # Errors
    ///
    /// Fails only if Python has no memory left.
    pub fn open(&self, py: Python) -> PyResult<(Open<'_>, Receiver<Job>)> {
        let (jobs, receiver) = channel();
        let thread = py.import("threading")?.call_method0("get_ident")?.extract()?;
        *self.desk() = Some(Desk { jobs, thread });
        Ok((Open(self), receiver))
    }

    /// Calls a function in the thread of the caller and waits for it; in this thread, if that one takes no calls. Then there is no
    /// time limit.
    ///
    /// # Errors
    ///
    /// Fails if the function raises an exception, does not return within the limit, or if the run ends before.
    pub fn call<T: Send + 'static>(
        &self,
        limit: Duration,
        function: impl FnOnce(Python) -> PyResult<T> + Send + 'static,
    ) -> Result<T, Failed> {
        let desk = self.desk().clone();
        let Some(Desk { jobs, thread }) = desk else { return Python::attach(|py| self.call_here(py, function)) };
        let (reply, answer) = sync_channel(1);
        let running = Arc::new(Running::default());
        let watched = running.clone();
        let job = move |py: Python| match watched.run(py, limit, function) {
            Err(error) if !error.is_instance_of::<PyException>(py) => Err(error),
            result => {
                // The receiver waits, unless its thread panicked.
                let _ = reply.send(result);
                Ok(())
            }
        };
        jobs.send(Box::new(job)).map_err(|_| Failed::Stopped)?;
        loop {
            match answer.recv_timeout(PULSE) {
                Ok(result) => return result.map_err(Failed::Raised),
                Err(RecvTimeoutError::Timeout) => running.interrupt_if_late(thread),
                Err(RecvTimeoutError::Disconnected) => return Err(Failed::Stopped),
            }
        }
    }

    /// Calls a function in this thread. What ends the work is kept for it, and no more functions are called.
    fn call_here<T>(&self, py: Python, function: impl FnOnce(Python) -> PyResult<T>) -> Result<T, Failed> {
        if self.interrupt().is_some() {
            return Err(Failed::Stopped);
        }
        function(py).map_err(|error| {
            if error.is_instance_of::<PyException>(py) {
                return Failed::Raised(error);
            }
            *self.interrupt() = Some(error);
            Failed::Stopped
        })
    }

    /// Becomes true when the run is to end.
    pub fn stopped(&self) -> Arc<AtomicBool> {
        self.stopped.clone()
    }

    /// Returns what ended work that calls functions in its own thread: KeyboardInterrupt, SystemExit.
    pub fn take_interrupt(&self) -> Option<PyErr> {
        self.interrupt().take()
    }

    fn interrupt(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.interrupt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn desk(&self) -> MutexGuard<'_, Option<Desk>> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        *self.0.desk() = None;
    }
}

impl Running {
    /// Runs a function, which other threads interrupt when it is late.
    fn run<T: Send>(&self, py: Python, limit: Duration, function: impl FnOnce(Python) -> PyResult<T>) -> PyResult<T> {
        self.state().deadline = Some(Instant::now() + limit);
        let result = function(py);
        if !self.end(py) {
            return result;
        }
        // The interruption may have come after the function returned.
        let settled = py.import(MODULE)?.call_method0("settle");
        let late = PyTimeoutError::new_err(format!("it did not answer within {} s", limit.as_secs()));
        if let Some(error) = result.err().or(settled.err()) {
            late.set_traceback(py, error.traceback(py));
        }
        Err(late)
    }

    /// Ends the call and returns whether it was late.
    fn end(&self, py: Python) -> bool {
        let mut state = self.state();
        state.deadline = None;
        if !state.is_interrupting {
            return state.is_late;
        }
        drop(state);
        // The other thread needs the interpreter.
        py.detach(|| {
            let is_done = self.interrupted.wait_while(self.state(), |state| state.is_interrupting);
            drop(is_done.unwrap_or_else(PoisonError::into_inner));
        });
        true
    }

    fn interrupt_if_late(&self, thread: u64) {
        let mut state = self.state();
        if state.deadline.is_none_or(|deadline| Instant::now() < deadline) {
            return;
        }
        (state.deadline, state.is_late, state.is_interrupting) = (Some(Instant::now() + AGAIN), true, true);
        drop(state);
        // It fails only without memory; the next pulse tries again.
        let _ = Python::attach(|py| py.import(MODULE)?.call_method1("interrupt", (thread,)).map(drop));
        self.state().is_interrupting = false;
        self.interrupted.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
