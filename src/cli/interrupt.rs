//! Ctrl-C, SIGTERM and SIGHUP: the first one ends the run and reports what is finished; the second one ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

use super::output;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The exit code of an interrupted program: 128 plus the number of the signal.
pub const INTERRUPTED: u8 = 130;

/// Handles Ctrl-C from now on. If the system does not allow that, Ctrl-C ends the program as usual.
pub fn listen(quiet: bool) {
    let handle = move || {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            recompact::llm::client::end_programs();
            output::remove_drafts();
            std::process::exit(INTERRUPTED.into());
        }
        if !quiet {
            output::say("\nstopping after the current transcripts; press Ctrl-C again to stop at once");
        }
    };
    let _ = ctrlc::set_handler(handle);
}

/// Whether the user pressed Ctrl-C.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
