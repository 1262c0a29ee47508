//! A folder as an audit sees it: listed once, opened as a capability, read and never changed.

use std::io::Read;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use recompact::analysis::audit::{Entry, EntryKind, Tree};
use recompact::results::saved::ResultNote;
use walkdir::{DirEntry, WalkDir};

use crate::cli::source;

/// More things than this are not listed: somebody named the folder of a whole machine.
const MOST_ENTRIES: usize = 500_000;

/// The most bytes one saved output may have to be read.
const MOST_BYTES: u64 = 1 << 30;

/// Folders in which everything that is no file is worth a note.
const TELLING: [&str; 3] = [".transcripts", "tool-results", "tool-outputs"];

pub struct Folder {
    pub path: PathBuf,
    folder: Dir,
    prefix: String,
    place: String,
    entries: Vec<Entry>,
    pub notes: Vec<ResultNote>,
}

impl Folder {
    /// Lists it, without following any link.
    pub fn list(path: &Path) -> std::io::Result<Self> {
        let folder = Dir::open_ambient_dir(path, ambient_authority())?;
        let place = std::fs::canonicalize(path)?.to_string_lossy().replace('\\', "/");
        let prefix = match source::shown(path).as_str() {
            "." => String::new(),
            shown => format!("{}/", shown.trim_end_matches('/')),
        };
        let mut listed = Self { path: path.to_owned(), folder, prefix, place, entries: Vec::new(), notes: Vec::new() };
        let wanted =
            |entry: &DirEntry| entry.depth() == 0 || !(entry.file_type().is_dir() && source::is_skipped(entry.file_name()));
        for entry in WalkDir::new(path).sort_by_file_name().into_iter().filter_entry(wanted) {
            if listed.entries.len() >= MOST_ENTRIES {
                let what =
                    format!("holds more than {MOST_ENTRIES} files, and the rest was not listed; --root names a smaller folder");
                listed.note(source::shown(path), what);
                break;
            }
            match entry {
                Ok(entry) => listed.add(&entry),
                Err(error) => {
                    let place = source::shown(error.path().unwrap_or(path));
                    listed.note(place, format!("cannot be listed: {}", why(error)));
                }
            }
        }
        Ok(listed)
    }

    fn note(&mut self, path: String, what: String) {
        self.notes.push(ResultNote { path, line: None, what });
    }

    fn add(&mut self, entry: &DirEntry) {
        let kind = match entry.file_type() {
            kind if kind.is_dir() => return,
            kind if kind.is_file() => EntryKind::File,
            kind if kind.is_symlink() => EntryKind::Link,
            _ => EntryKind::Special,
        };
        let Ok(below) = entry.path().strip_prefix(&self.path) else { return };
        let name = below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        let telling = |folder: &str| TELLING.contains(&folder);
        let is_told = source::is_transcript(entry.file_name()) || name.rsplit('/').take(2).any(telling);
        match kind {
            EntryKind::Link if is_told => {
                self.note(source::shown(entry.path()), "a symbolic link; it was not followed".to_owned())
            }
            EntryKind::Special if is_told => {
                self.note(source::shown(entry.path()), "a pipe, a socket or a device; it was not opened".to_owned());
            }
            _ => {}
        }
        let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
        self.entries.push(Entry { name, bytes, kind });
    }
}

/// What went wrong, without the path, which stands before it.
fn why(error: walkdir::Error) -> String {
    error.io_error().map_or_else(|| "links lead in a ring".to_owned(), reason)
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "it is gone since the folder was listed".to_owned(),
        std::io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        _ => error.to_string(),
    }
}

impl Tree for Folder {
    fn prefix(&self) -> &str {
        &self.prefix
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let failed = |error: std::io::Error| format!("cannot be read: {}", reason(&error));
        // What was a file when it was listed may be a pipe by now, and to open that would wait for ever.
        if !self.folder.symlink_metadata(name).map_err(failed)?.is_file() {
            return Err("is no file any more".to_owned());
        }
        let file = self.folder.open(name).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        match bytes.len() as u64 > MOST_BYTES {
            true => Err(format!("has {size} bytes, and more than {MOST_BYTES} are not read")),
            false => Ok(bytes),
        }
    }
}
