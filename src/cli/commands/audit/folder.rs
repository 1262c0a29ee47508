//! A folder as an audit sees it: listed once, opened as a capability, read and never changed.

use std::io::Read;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use recompact::analysis::audit::{Entry, EntryKind, Tree, UnreadableFile};
use recompact::results::saved::ResultNote;
use walkdir::{DirEntry, WalkDir};

use recompact::transcript::source;

/// Maximum entries to list; a folder with more is probably a whole machine.
const MAX_ENTRIES: usize = 500_000;

/// Maximum size in bytes of a saved output that is read.
const MAX_BYTES: u64 = 1 << 30;

/// Folders in which links and special files get a note.
const NOTED_FOLDERS: [&str; 3] = [".transcripts", "tool-results", "tool-outputs"];

pub struct Folder {
    pub path: PathBuf,
    folder: Dir,
    prefix: String,
    /// Canonical path, with forward slashes.
    canonical: String,
    entries: Vec<Entry>,
    pub notes: Vec<ResultNote>,
}

impl Folder {
    /// Opens and lists a folder, without following links.
    pub fn list(path: &Path) -> std::io::Result<Self> {
        let folder = Dir::open_ambient_dir(path, ambient_authority())?;
        let canonical = std::fs::canonicalize(path)?.to_string_lossy().replace('\\', "/");
        let prefix = match source::display_path(path).as_str() {
            "." => String::new(),
            shown => format!("{}/", shown.trim_end_matches('/')),
        };
        let mut listed = Self { path: path.to_owned(), folder, prefix, canonical, entries: Vec::new(), notes: Vec::new() };
        let wanted =
            |entry: &DirEntry| entry.depth() == 0 || !(entry.file_type().is_dir() && source::is_skipped(entry.file_name()));
        for entry in WalkDir::new(path).sort_by_file_name().into_iter().filter_entry(wanted) {
            if listed.entries.len() >= MAX_ENTRIES {
                let what =
                    format!("holds more than {MAX_ENTRIES} files; the rest was not listed; name a smaller folder with --root");
                listed.note(source::display_path(path), what);
                break;
            }
            match entry {
                Ok(entry) => listed.add(&entry),
                Err(error) => {
                    let path = source::display_path(error.path().unwrap_or(path));
                    listed.note(path, format!("cannot be listed: {}", walk_error_reason(error)));
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
        let is_noted_folder = |folder: &str| NOTED_FOLDERS.contains(&folder);
        let is_transcript = source::is_transcript(entry.file_name());
        let gets_note = is_transcript || name.rsplit('/').take(2).any(is_noted_folder);
        match kind {
            // A link that is named like a transcript is left out by name where it leads out of the folder.
            EntryKind::Link if gets_note && !is_transcript => {
                self.note(source::display_path(entry.path()), "a symbolic link; it was not followed".to_owned())
            }
            EntryKind::Special if gets_note => {
                self.note(source::display_path(entry.path()), "a pipe, a socket or a device; it was not opened".to_owned());
            }
            _ => {}
        }
        let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
        self.entries.push(Entry { name, bytes, kind });
    }
}

/// Returns the reason of an error without the path, which precedes it.
fn walk_error_reason(error: walkdir::Error) -> String {
    error.io_error().map_or_else(|| "symbolic links form a loop".to_owned(), io_error_reason)
}

fn io_error_reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "it disappeared after the folder was listed".to_owned(),
        std::io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        _ => error.to_string(),
    }
}

impl Tree for Folder {
    fn prefix(&self) -> &str {
        &self.prefix
    }

    fn place(&self) -> &str {
        &self.canonical
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, UnreadableFile> {
        let failed = |error: std::io::Error| format!("cannot be read: {}", io_error_reason(&error));
        // A listed file may be a pipe by now, and opening a pipe would wait forever.
        if !self.folder.symlink_metadata(name).map_err(failed)?.is_file() {
            return Err("is no longer a file".to_owned().into());
        }
        let file = self.folder.open(name).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_BYTES {
            Err(format!("has {size} bytes; files over {MAX_BYTES} bytes are not read").into())
        } else {
            Ok(bytes)
        }
    }
}
