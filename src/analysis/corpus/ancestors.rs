//! Files in which the history of a transcript begins: a fork may name a part of its parent's file.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use walkdir::WalkDir;

use crate::transcript::source::{self, Input};

/// The files of the folders in which forks and their parents are. It is the folders that say it, not the list of transcripts: a fork is
/// read the same whichever files a task has.
#[derive(Default)]
pub(super) struct Ancestors(Mutex<HashMap<PathBuf, Arc<Vec<PathBuf>>>>);

impl Ancestors {
    /// Returns the bytes of the files in which the history of an input begins, the parent's first. `parent` returns the id of a parent,
    /// with which the name of its file ends.
    pub(super) fn of(
        &self,
        input: &Input,
        parent: impl Fn(&[u8]) -> Option<String>,
        bytes: &[u8],
        max_bytes: u64,
    ) -> Vec<Vec<u8>> {
        let (mut ancestors, mut next) = (Vec::new(), parent(bytes));
        // A circle of parents ends with the first id that comes again.
        let mut seen = HashSet::new();
        while let Some(id) = next.take().filter(|id| seen.insert(id.clone())) {
            let Some(content) = self.file(input, &id).and_then(|input| source::read(&input, max_bytes).ok()) else { break };
            next = parent(&content.bytes);
            ancestors.push(content.bytes);
        }
        ancestors
    }

    /// Returns the file of a session. An id chooses only among the files that are there: it is text of a transcript.
    fn file(&self, input: &Input, id: &str) -> Option<Input> {
        if input.path().as_os_str().is_empty() || input.may_wait() {
            return None;
        }
        let own = input.path().parent()?;
        let files = self.below(own, 1);
        let is_parent = |file: &&PathBuf| file.file_name().and_then(|name| name.to_str()).is_some_and(|name| is_of(id, name));
        let found = files.iter().find(is_parent).cloned();
        let found = found.or_else(|| {
            let root = above_dates(own)?;
            self.below(root, usize::MAX).iter().find(is_parent).cloned()
        });
        source::find(Path::new(""), &[found?]).0.pop()
    }

    /// Lists the files in a folder, down to a depth, by name.
    fn below(&self, folder: &Path, depth: usize) -> Arc<Vec<PathBuf>> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let list = || {
            let files = WalkDir::new(folder).max_depth(depth).sort_by_file_name().into_iter().filter_map(Result::ok);
            Arc::new(files.filter(|file| file.file_type().is_file()).map(walkdir::DirEntry::into_path).collect())
        };
        Arc::clone(known.entry(folder.to_owned()).or_insert_with(list))
    }
}

/// Returns the folder above those that are named after a date: `sessions` of `sessions/2026/10/05`.
fn above_dates(folder: &Path) -> Option<&Path> {
    let is_number = |folder: &&Path| {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
    };
    let dates = folder.ancestors().take(3).take_while(is_number).count();
    folder.ancestors().nth(dates).filter(|_| dates > 0)
}

/// Whether a file is named after a session: `rollout-2026-10-05T08-00-00-<id>.jsonl`, compressed or not.
fn is_of(id: &str, name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.find(".jsonl").map_or(file, |end| &file[..end]);
    stem.strip_suffix(id).is_some_and(|before| !id.is_empty() && (before.is_empty() || before.ends_with('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_ends_with_the_id_of_its_session() {
        let names =
            ["a/rollout-2026-10-05-a1.jsonl", "a1.jsonl.zst", "a/rollout-2026-10-05-ba1.jsonl", "a/a1/b.jsonl", "a1-b.jsonl"];
        assert_eq!(names.map(|name| is_of("a1", name)), [true, true, false, false, false]);
        assert!(!is_of("", "a/rollout-.jsonl"));
    }

    #[test]
    fn folders_of_dates_are_below_one() {
        let folders = ["sessions/2026/10/05", "1/2026/10/05", "x/05", "sessions/2026-10", "05", ""];
        let above = folders.map(|folder| above_dates(Path::new(folder)).map(|above| above.to_str().unwrap_or_default()));
        assert_eq!(above, [Some("sessions"), Some("1"), Some("x"), None, Some(""), None]);
    }
}
