//! Work that waits for another program, such as opening or reading a pipe. A stopped run does not wait for it.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time between two checks whether the run is stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Returns what the work gives; `None` if the run is stopped before it ends. A system call that waits cannot be taken back, so a thread
/// makes it, and is left behind.
pub fn unless_stopped<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static, is_stopped: &dyn Fn() -> bool) -> Option<T> {
    let (send, receive) = channel();
    thread::spawn(move || send.send(work()));
    loop {
        match receive.recv_timeout(POLL_INTERVAL) {
            Ok(done) => return Some(done),
            Err(RecvTimeoutError::Timeout) if is_stopped() => return None,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends before it ends"),
        }
    }
}
