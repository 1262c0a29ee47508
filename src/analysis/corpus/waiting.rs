//! Reads standard input and pipes, which wait for another program. A stopped run does not wait for it.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::transcript::source::{self, Content, Input, SourceError};

/// Time between two checks whether the run is stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Reads an input; `None` if the run is stopped before it ends. A system call that waits cannot be taken back, so a thread makes it, and
/// is left behind.
pub fn read(input: &Input, limit: u64, is_stopped: &dyn Fn() -> bool) -> Option<Result<Content, SourceError>> {
    let (send, receive) = channel();
    let input = input.clone();
    thread::spawn(move || send.send(source::read(&input, limit)));
    loop {
        match receive.recv_timeout(POLL_INTERVAL) {
            Ok(content) => return Some(content),
            Err(RecvTimeoutError::Timeout) if is_stopped() => return None,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends before it ends"),
        }
    }
}
