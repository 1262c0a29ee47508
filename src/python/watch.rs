//! Runs work without the interpreter's lock, shows how far it is, and stops it on Ctrl-C.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::calls::{Calls, Job};
use super::error::{in_python, raise, raise_message};
use crate::analysis::corpus::{FileCorpus, Monitor, Processed, ReadSpec, RunError};
use crate::transcript::source::Input;

/// How often Python is asked whether Ctrl-C was pressed, and shown how far the work is.
const PULSE: Duration = Duration::from_millis(100);

/// Maximum number of worker threads.
const MAX_THREADS: usize = 256;

/// How a call works: with how many threads (default: as many as processors), and what it calls to show its progress, with the bytes
/// of the transcripts that are done, the bytes of all, and the replayed calls.
#[derive(FromPyObject)]
pub struct Watch(Option<usize>, Option<Py<PyAny>>);

/// Counts what is done.
#[derive(Default)]
pub struct Pulse {
    is_stopped: Arc<AtomicBool>,
    sizes: Vec<u64>,
    bytes: AtomicU64,
    replayed: AtomicU64,
    notes: Mutex<Vec<String>>,
}

/// What Python warns of after a run.
#[derive(Default, IntoPyObject)]
pub struct Skipped {
    /// Lines that could not be read, with file, line and reason.
    lines: Vec<String>,
    /// Files of folders that are no transcripts.
    files: Vec<String>,
    /// Transcripts that could not be analysed, with the reason.
    transcripts: Vec<String>,
    /// What else is unusual.
    notes: Vec<String>,
}

impl Monitor for Pulse {
    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    fn transcript_done(&self, at: usize) {
        self.bytes.fetch_add(self.sizes[at], Ordering::Relaxed);
    }

    fn replayed(&self, policy_calls: u64) {
        self.replayed.fetch_add(policy_calls, Ordering::Relaxed);
    }

    fn note(&self, what: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_owned());
    }
}

/// Lists the transcripts at these paths.
///
/// # Errors
///
/// Raises a RecompactError if the description of the transcripts is wrong.
pub fn corpus(paths: &[PathBuf], read: &ReadSpec) -> PyResult<FileCorpus> {
    FileCorpus::new(&PathBuf::new(), paths, read).map_err(raise)
}

/// The transcripts of a call: at paths, or held by Python with their names; and whether those at paths need be none, as files that are
/// found in folders.
#[derive(FromPyObject)]
pub struct Sources(Vec<PathBuf>, Vec<(String, PyBackedBytes)>, bool);

impl Sources {
    /// Lists the transcripts.
    ///
    /// # Errors
    ///
    /// Raises a RecompactError if the description of the transcripts is wrong, or if two have one name.
    pub fn corpus(&self, read: &ReadSpec) -> PyResult<FileCorpus> {
        let Self(paths, held, is_list) = self;
        if held.is_empty() {
            let (named, listed): (&[PathBuf], &[PathBuf]) = if *is_list { (&[], paths) } else { (paths, &[]) };
            return FileCorpus::listed(&PathBuf::new(), named, listed, read).map_err(raise);
        }
        let mut inputs: Vec<Input> = held.iter().map(|(name, bytes)| Input::given(name.clone(), Arc::from(&**bytes))).collect();
        inputs.sort_by(|a, b| Path::new(&a.name).cmp(Path::new(&b.name)));
        if let Some(twice) = inputs.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(raise_message(format!("two transcripts have the name {}", twice[0].name)));
        }
        FileCorpus::of(inputs, read).map_err(raise)
    }
}

/// Fails if something was skipped and the description says that this is an error.
///
/// # Errors
///
/// Raises a RecompactError that says how much was skipped.
pub fn strict<T>(read: &ReadSpec, processed: Processed<T>) -> PyResult<Processed<T>> {
    if read.strict { processed.strict().map_err(raise) } else { Ok(processed) }
}

impl Watch {
    /// Returns how a call works that asks models this many things at a time, unless it says with how many threads.
    pub fn for_questions(self, at_a_time: usize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self(self.0.or(Some(at_a_time.max(processors))), self.1)
    }

    /// Runs work that calls no functions, as [`Watch::run_calling`].
    ///
    /// # Errors
    ///
    /// As [`Watch::run_calling`].
    pub fn run<T: Send>(
        &self,
        py: Python,
        corpus: &FileCorpus,
        work: impl FnOnce(&FileCorpus, &Pulse) -> T + Send,
    ) -> PyResult<(T, Vec<String>)> {
        self.run_calling(py, corpus, &Calls::default(), work)
    }

    /// Returns a pool of as many threads as it may use.
    ///
    /// # Errors
    ///
    /// Raises an error if no threads can be started.
    pub fn pool(&self) -> PyResult<rayon::ThreadPool> {
        let threads = self.0.map_or(0, |jobs| jobs.min(MAX_THREADS));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| raise_message(format!("no threads could be started: {error}")))
    }

    /// Runs work on a thread pool, and meanwhile the calls of functions in this thread. While none runs, this thread is without the
    /// interpreter's lock, so that other threads of Python go on.
    ///
    /// # Errors
    ///
    /// Raises what Python raised meanwhile: KeyboardInterrupt, if Ctrl-C was pressed. The work then ends after the transcripts in
    /// progress, and calls no more functions.
    pub fn run_calling<T: Send>(
        &self,
        py: Python,
        corpus: &FileCorpus,
        calls: &Calls,
        work: impl FnOnce(&FileCorpus, &Pulse) -> T + Send,
    ) -> PyResult<(T, Vec<String>)> {
        let pool = self.pool()?;
        let sizes = corpus.inputs().iter().map(Input::size).collect();
        let pulse = Pulse { is_stopped: calls.stopped(), sizes, ..Pulse::default() };
        let (open, jobs) = calls.open(py)?;
        let (result, interrupt) = py.detach(|| {
            let jobs = jobs;
            std::thread::scope(|scope| {
                let (pool, pulse) = (&pool, &pulse);
                // The receiver learns that the work ended, or panicked, because the calls are closed.
                let working = scope.spawn(move || {
                    let _ends_with_the_work = open;
                    pool.install(|| work(corpus, pulse))
                });
                let interrupt = self.serve(&jobs, pulse);
                (working.join(), interrupt)
            })
        });
        if let Some(interrupt) = interrupt {
            return Err(interrupt);
        }
        self.beat(py, &pulse)?;
        let result = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((result, pulse.notes.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Runs calls until there can be no more. Returns what interrupts the run; the calls after that are dropped.
    fn serve(&self, jobs: &Receiver<Job>, pulse: &Pulse) -> Option<PyErr> {
        let mut interrupt = None;
        let mut next_beat = Instant::now() + PULSE;
        loop {
            let wait = next_beat.saturating_duration_since(Instant::now());
            let done = if wait.is_zero() {
                next_beat = Instant::now() + PULSE;
                Python::attach(|py| self.beat(py, pulse))
            } else {
                match jobs.recv_timeout(wait) {
                    Ok(job) if interrupt.is_none() => Python::attach(job),
                    Ok(_) | Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => return interrupt,
                }
            };
            if let Err(error) = done {
                pulse.is_stopped.store(true, Ordering::Relaxed);
                interrupt.get_or_insert(error);
            }
        }
    }

    fn beat(&self, py: Python, pulse: &Pulse) -> PyResult<()> {
        py.check_signals()?;
        if let Some(progress) = &self.1 {
            let [bytes, replayed] = [&pulse.bytes, &pulse.replayed].map(|count| count.load(Ordering::Relaxed));
            progress.call1(py, (bytes, pulse.sizes.iter().sum::<u64>(), replayed))?;
        }
        Ok(())
    }
}

impl Skipped {
    /// Returns what a run skipped.
    pub fn new<T>(processed: &Processed<T>, notes: Vec<String>) -> Self {
        let files = processed.skipped_files.iter().map(ToString::to_string).collect();
        Self { lines: processed.skipped_lines.clone(), files, transcripts: Vec::new(), notes }
    }

    /// Adds the errors of single transcripts.
    ///
    /// # Errors
    ///
    /// Raises them as a RecompactError if the description says that this is an error.
    pub fn with_end(mut self, read: &ReadSpec, end: Result<(), RunError>) -> PyResult<Self> {
        match end {
            Err(error) if read.strict => return Err(raise(error)),
            Err(error) => self.transcripts.extend(error.to_string().lines().map(in_python)),
            Ok(()) => {}
        }
        Ok(self)
    }

    /// Adds remarks of a later step.
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes.extend(notes);
        self
    }
}
