//! How much a test tries: by default as much as runs in a second or so, with `RECOMPACT_LONG=1`, as in `.ci/run`, all of it.

/// `usual` by default, `full` in a long run.
pub fn of<T>(usual: T, full: T) -> T {
    if std::env::var_os("RECOMPACT_LONG").is_some() { full } else { usual }
}
