//! What folders hold, looked up once for each folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What was found in each folder. It is the folder that says it, not the list of transcripts: a transcript is read the same whichever
/// files a task has.
pub(super) struct Listings<T>(Mutex<HashMap<PathBuf, Arc<T>>>);

impl<T> Default for Listings<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Listings<T> {
    /// Returns what a folder holds; `list` finds it the first time. An empty path is the current folder.
    pub(super) fn of(&self, folder: &Path, list: impl FnOnce(&Path) -> T) -> Arc<T> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(folder) {
            return Arc::clone(found);
        }
        let found = Arc::new(list(folder));
        known.insert(folder.to_owned(), Arc::clone(&found));
        found
    }
}
