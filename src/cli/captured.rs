//! What a command prints, in memory in place of the terminal: tests and programs run commands that only print without a new process.

use std::cell::RefCell;
use std::io::{self, Write};

/// What a run printed.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// The exit code.
    pub code: u8,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

thread_local! {
    static CAPTURED: RefCell<Option<Captured>> = const { RefCell::new(None) };
}

/// Runs `command` on this thread, and returns what it printed on this thread.
pub fn capture(command: impl FnOnce() -> u8) -> Captured {
    CAPTURED.set(Some(Captured::default()));
    let code = command();
    Captured { code, ..CAPTURED.take().unwrap_or_default() }
}

/// Standard output, unless the output of this thread is captured.
pub struct Stdout;

/// Standard error, unless the output of this thread is captured.
pub struct Stderr;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if append(|captured| captured.stdout.extend_from_slice(bytes)) { Ok(bytes.len()) } else { io::stdout().write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if is_captured() { Ok(()) } else { io::stdout().flush() }
    }
}

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if append(|captured| captured.stderr.extend_from_slice(bytes)) { Ok(bytes.len()) } else { io::stderr().write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns whether the output of this thread is captured.
pub fn is_captured() -> bool {
    append(|_| ())
}

/// Changes what was captured, and returns whether the output of this thread is captured.
fn append(change: impl FnOnce(&mut Captured)) -> bool {
    CAPTURED.with_borrow_mut(|captured| captured.as_mut().map(change).is_some())
}
