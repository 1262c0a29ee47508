//! `--verbose`: what is read, asked and started, and how long it took, on standard error.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use log::{LevelFilter, Log, Metadata, Record};
use recompact::report::escape;

use super::output;

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Prints each event of this program's crates, after the seconds since the program began. Events of other crates are not printed.
struct Lines;

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.target().starts_with("recompact")
    }

    fn log(&self, record: &Record) {
        if self.enabled(record.metadata()) {
            output::say(&escape::terminal(&format!("[{:7.3} s] {}", BEGAN.elapsed().as_secs_f64(), record.args())));
        }
    }

    fn flush(&self) {}
}

/// Begins to print events.
pub fn begin() {
    LazyLock::force(&BEGAN);
    // In Python the program may run a second time in one process, and keeps its logger.
    if log::set_logger(&Lines).is_ok() {
        log::set_max_level(LevelFilter::Debug);
        IS_ON.store(true, Ordering::Relaxed);
    }
}

/// Returns whether events are printed. A progress bar would be drawn over them.
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}
