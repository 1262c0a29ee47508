//! How many cases a test tries: by default what runs in about a second, and all with `RECOMPACT_LONG=1`, as `.ci/run` does in turn.

/// Returns `usual` by default, and `full` in a long run.
pub fn of<T>(usual: T, full: T) -> T {
    if std::env::var_os("RECOMPACT_LONG").is_some() { full } else { usual }
}
