//! The files that a transcript is read with ([`Joins`]): the one in which its history begins, those in which its session goes on, or one that
//! says more of it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::listings::Listings;
use super::transcript::RECOGNISED_BYTES;
use crate::transcript::format::{self, FORMATS, Format, Joins, OtherFile, Verdict};
use crate::transcript::source::{self, Input, without_compression};

/// The files of the folders in which transcripts are that are read with others.
#[derive(Default)]
pub(super) struct OtherFiles {
    /// Those in a folder itself.
    beside: Listings<Vec<PathBuf>>,
    /// Those in the folders below one, too.
    below: Listings<Vec<PathBuf>>,
}

impl OtherFiles {
    /// Returns the files that an input is read with, as far as they are there: its parent first, and then the parent of that; or the next
    /// one, and then the next of that.
    pub(super) fn of(&self, input: &Input, joins: Joins, bytes: &[u8], max_bytes: u64) -> Vec<OtherFile> {
        let mut others: Vec<OtherFile> = Vec::new();
        let mut own = file_name(input).to_owned();
        // A circle ends with the first file that comes again.
        let mut seen = HashSet::new();
        loop {
            let bytes = others.last().map_or(bytes, |last| &last.bytes);
            let named = match joins {
                Joins::Parent(parent) => {
                    parent(bytes).filter(|id| seen.insert(id.clone())).and_then(|id| self.session(input, &id))
                }
                Joins::Sequel { next, before } => next(bytes)
                    .filter(|name| before(name).is_some_and(|before| before == own))
                    .and_then(|name| self.beside(input, &name)),
                Joins::Beside { file, .. } => file(&own).and_then(|name| self.beside(input, &name)),
                Joins::Nothing | Joins::Requests => None,
            };
            let Some(file) = named else { return others };
            let Ok(content) = source::read(&file, max_bytes) else { return others };
            own = file_name(&file).to_owned();
            others.push(OtherFile { name: name_beside(input, &file), bytes: content.bytes });
        }
    }

    /// Returns the file whose session goes on in this one; `is_there` is whether a file of this name can be it.
    pub(super) fn before(&self, input: &Input, joins: Joins, max_bytes: u64, is_there: impl Fn(&str) -> bool) -> Option<String> {
        let Joins::Sequel { next, before } = joins else { return None };
        let own = file_name(input);
        let file = self.beside(input, &before(own)?)?;
        let name = name_beside(input, &file);
        let bytes = is_there(&name).then(|| source::read(&file, max_bytes).ok())??.bytes;
        (next(&bytes)? == own).then_some(name)
    }

    /// Returns the transcript beside a file that no format knows, with which it is read; its beginning says whether it is one.
    pub(super) fn transcript_of(&self, input: &Input) -> Option<String> {
        let is_of = |format: &Format, file: &Input| {
            let head = source::read_head(file, RECOGNISED_BYTES).unwrap_or_default();
            matches!(format::recognise(&file.name, &head), Verdict::Sure(found) if found.name == format.name)
        };
        FORMATS.iter().find_map(|format| {
            let Joins::Beside { transcript, .. } = format.joins else { return None };
            let file = self.beside(input, &transcript(file_name(input))?)?;
            is_of(format, &file).then(|| name_beside(input, &file))
        })
    }

    /// Returns the file of a session. An id chooses only among the files that are there: it is text of a transcript.
    fn session(&self, input: &Input, id: &str) -> Option<Input> {
        let own = own_folder(input)?;
        let is_parent = |name: &str| is_of(id, name);
        let beside = find(&self.beside.of(own, |folder| list(folder, 1)), is_parent);
        let found = beside.or_else(|| find(&self.below.of(above_dates(own)?, |folder| list(folder, usize::MAX)), is_parent))?;
        source::find(Path::new(""), &[found]).0.pop()
    }

    /// Returns the file of this name beside another one, compressed or not. The name, too, is text of a transcript.
    fn beside(&self, input: &Input, name: &str) -> Option<Input> {
        let found =
            find(&self.beside.of(own_folder(input)?, |folder| list(folder, 1)), |file| without_compression(file) == name)?;
        source::find(Path::new(""), &[found]).0.pop()
    }
}

/// Lists the files in a folder, down to a depth, by name.
fn list(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let files = WalkDir::new(folder).max_depth(depth).sort_by_file_name().into_iter().filter_map(Result::ok);
    files.filter(|file| file.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// Returns the first file with such a name.
fn find(files: &[PathBuf], is_wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let is_it = |file: &&PathBuf| file.file_name().and_then(|name| name.to_str()).is_some_and(&is_wanted);
    files.iter().find(is_it).cloned()
}

/// Returns the folder of a file; `None` for what has no path, or can be read only once.
fn own_folder(input: &Input) -> Option<&Path> {
    if input.path().as_os_str().is_empty() || input.may_wait() { None } else { input.path().parent() }
}

/// Returns the name in reports of a file in the folder of an input.
fn name_beside(input: &Input, file: &Input) -> String {
    let folder = input.name.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    folder + file.name.rsplit('/').next().unwrap_or_default()
}

/// Returns the name of a file without the ending of its compression.
fn file_name(input: &Input) -> &str {
    without_compression(input.name.rsplit('/').next().unwrap_or_default())
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
