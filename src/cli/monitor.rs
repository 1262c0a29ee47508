//! Shows the progress of a run, and stops it when the user presses Ctrl-C.

use std::sync::{Mutex, PoisonError};

use recompact::analysis::corpus::{FileCorpus, Monitor};
use recompact::report::escape;

use super::interrupt;
use super::output;
use super::progress::Progress;

/// Counts the bytes of the transcripts that are done.
pub struct ReadMonitor<'a> {
    pub corpus: &'a FileCorpus,
    pub progress: &'a Progress,
}

impl Monitor for ReadMonitor<'_> {
    fn is_stopped(&self) -> bool {
        interrupt::requested()
    }

    fn transcript_done(&self, at: usize) {
        self.progress.bytes_read(self.corpus.inputs()[at].size());
    }

    fn replayed(&self, policy_calls: u64) {
        self.progress.replayed(policy_calls);
    }

    fn note(&self, what: &str) {
        output::say(&escape::terminal(what));
    }
}

/// Counts the replayed calls of each step.
pub struct StepMonitor {
    shown: bool,
    bar: Mutex<Progress>,
}

impl StepMonitor {
    pub fn new(shown: bool) -> Self {
        Self { shown, bar: Mutex::new(Progress::of_calls(0, false)) }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.with_bar(|bar| bar.finish());
    }

    fn with_bar(&self, work: impl FnOnce(&mut Progress)) {
        work(&mut self.bar.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Monitor for StepMonitor {
    fn is_stopped(&self) -> bool {
        interrupt::requested()
    }

    fn step(&self, policy_calls: u64) {
        log::info!("begins to replay {policy_calls} calls, times policies");
        self.with_bar(|bar| {
            bar.finish();
            *bar = Progress::of_calls(policy_calls, self.shown);
        });
    }

    fn replayed(&self, policy_calls: u64) {
        self.with_bar(|bar| bar.calls_replayed(policy_calls));
    }

    fn note(&self, what: &str) {
        output::say(&escape::terminal(what));
    }
}
