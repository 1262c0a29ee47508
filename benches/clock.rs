//! Measures the time of a piece of work as the best of a few runs.

use std::time::{Duration, Instant};

pub fn best(runs: usize, mut run: impl FnMut()) -> Duration {
    let mut timed = || {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..runs).map(|_| timed()).min().unwrap_or_default()
}

pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
