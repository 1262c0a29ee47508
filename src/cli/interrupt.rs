//! Ctrl-C: what is finished is reported. A second one ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted: 128 and the number of the signal.
pub const INTERRUPTED: u8 = 130;

/// Takes Ctrl-C from here on. Where the system does not let us, it ends the program as ever.
pub fn listen(quiet: bool) {
    let heard = move || {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
        if !quiet {
            eprintln!("\nstopping when the transcripts at work are finished; Ctrl-C again stops at once");
        }
    };
    let _ = ctrlc::set_handler(heard);
}

/// Whether somebody wants an end.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
