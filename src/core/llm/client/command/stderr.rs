//! The end of what a program writes to standard error, for messages about its failure.

use std::io::Read;
use std::process::ChildStderr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How much of standard error is kept, from its end.
const MAX_STDERR_BYTES: usize = 64 << 10;
/// Time between two checks whether the pipe is read to its end.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Reads the whole pipe in the background, so that the program never blocks, and keeps the end of it.
pub struct StderrTail {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl StderrTail {
    /// Begins to read.
    pub fn new(pipe: Option<ChildStderr>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let tail = Arc::clone(&bytes);
        Self { bytes, reader: pipe.map(|pipe| thread::spawn(move || read(pipe, &tail))) }
    }

    /// Waits until the program closed the pipe, but not longer than until `end`; returns whether it did.
    pub fn is_complete_before(&self, end: Instant) -> bool {
        let is_complete = || self.reader.as_ref().is_none_or(JoinHandle::is_finished);
        while !is_complete() && Instant::now() < end {
            thread::sleep(POLL_INTERVAL);
        }
        is_complete()
    }

    /// Returns the last line that is not empty.
    pub fn last_line(&self) -> Option<String> {
        self.last_lines(1).pop()
    }

    /// Returns the last lines that are not empty, at most as many, in their order. If none of them names an error, the last line that
    /// does takes the place of the first: below it, Node writes a line for each call and each field.
    pub fn last_lines(&self, most: usize) -> Vec<String> {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes);
        let mut before = text.lines().rev().filter(|line| !line.trim().is_empty());
        let mut lines: Vec<&str> = before.by_ref().take(most).collect();
        let names_error = |line: &&str| line.contains("Error");
        if most > 1
            && !lines.iter().any(names_error)
            && let (Some(error), Some(first)) = (before.find(names_error), lines.last_mut())
        {
            *first = error;
        }
        lines.into_iter().rev().map(str::to_owned).collect()
    }
}

fn read(mut pipe: ChildStderr, tail: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 8192];
    while let Ok(read @ 1..) = pipe.read(&mut buffer) {
        let mut bytes = tail.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend_from_slice(&buffer[..read]);
        let surplus = bytes.len().saturating_sub(MAX_STDERR_BYTES);
        bytes.drain(..surplus);
    }
}
