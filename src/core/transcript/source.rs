//! Finds transcripts from the paths a user gives, and reads their bytes. Only this module reads input files.
//!
//! [`find`] only lists paths; [`read`] reads one transcript when it is needed, so that a study holds only the
//! transcripts in progress.

mod input;
mod name;
mod read;
mod stored;
mod zstd;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};
use xxhash_rust::xxh3::xxh3_128;

use super::format::store::{StoreError, is_part, of_folder};

use input::Held;
pub use input::Input;
pub use name::{display_path, is_skipped, is_transcript, without_compression};
use name::{is_pattern, plain_name, suggestion};
pub use read::{Content, MAX_BYTES, read, read_head, read_settings};

/// The path that means standard input. A file with this name is `./-`.
const STDIN: &str = "-";

/// Why a path gives no bytes.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {kind}")]
pub struct SourceError {
    path: String,
    kind: SourceErrorKind,
}

#[derive(Debug, thiserror::Error)]
enum SourceErrorKind {
    #[error("no such file or folder{0}")]
    NotFound(String),
    #[error("no file matches (`*` matches any part of a name, `**` any folders)")]
    NothingMatches,
    #[error("not a valid pattern: {0}")]
    BadPattern(String),
    #[error("no permission to read it")]
    NoPermission,
    #[error("no transcripts (*.jsonl, *.json, *.traj, also with .gz or .zst; *.db) found in this folder{0}")]
    EmptyFolder(&'static str),
    #[error("a link out of the searched folders, which is not followed; name it or its target to read it")]
    Link,
    #[error("cannot be decompressed: {0} (is the {1} file complete?)")]
    Damaged(io::Error, &'static str),
    #[error("no session{0} in this database")]
    NoSession(String),
    #[error(transparent)]
    Store(StoreError),
    #[error("larger than {0} bytes{1}; --max-file allows more")]
    TooLarge(u64, &'static str),
    #[error("a device, not a file")]
    Device,
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
}

impl SourceErrorKind {
    fn at(self, path: impl Into<String>) -> SourceError {
        SourceError { path: path.into(), kind: self }
    }
}

impl SourceError {
    /// Returns the path as the user gave it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the error without the path.
    pub fn reason(&self) -> String {
        self.kind.to_string()
    }
}

/// Returns the transcripts that these paths name, without duplicates, sorted by name: the order of the paths changes nothing.
/// Errors are collected, so that one misspelt path does not hide another, and are sorted, too.
///
/// Relative paths start from `base`, which the names leave out; an empty `base` is the current folder.
pub fn find(base: &Path, paths: &[PathBuf]) -> (Vec<Input>, Vec<SourceError>) {
    find_listed(base, paths, &[])
}

/// The same with further paths of a list. A file of the list need not be a transcript, as one found in a folder, and no path of it is
/// a pattern.
pub fn find_listed(base: &Path, paths: &[PathBuf], listed: &[PathBuf]) -> (Vec<Input>, Vec<SourceError>) {
    let mut collector = InputCollector { base: base.to_owned(), ..InputCollector::default() };
    paths.iter().for_each(|path| collector.add(path));
    listed.iter().for_each(|path| collector.add_listed(path));
    collector.name_links();
    collector.drop_compressed_twins();
    let mut inputs: Vec<Input> = collector.inputs.into_values().collect();
    inputs.sort_by(|a, b| Path::new(&a.name).cmp(Path::new(&b.name)));
    collector.errors.sort_by(|a, b| Path::new(&a.path).cmp(Path::new(&b.path)));
    (inputs, collector.errors)
}

/// Returns the hash of bytes, in the form that saved results hold.
pub fn hash_of(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

#[derive(Default)]
struct InputCollector {
    base: PathBuf,
    /// By canonical path: two paths to one file are one input.
    inputs: HashMap<PathBuf, Input>,
    /// Links in folders that are named like transcripts.
    links: Vec<PathBuf>,
    errors: Vec<SourceError>,
}

impl InputCollector {
    fn add(&mut self, path: &Path) {
        if path.as_os_str() == STDIN {
            return self.push(path.to_owned(), true);
        }
        let full_path = self.base.join(path);
        match fs::metadata(&full_path) {
            Ok(metadata) if metadata.is_dir() => self.add_folder(&full_path),
            Ok(_) => self.add_file(full_path, true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match path.to_str().filter(|text| is_pattern(text)) {
                Some(pattern) => self.add_pattern(pattern),
                None if let Some((store, id)) = stored::split(&full_path) => self.add_session(&store, id),
                None => self.errors.push(SourceErrorKind::NotFound(suggestion(&full_path)).at(display_path(&full_path))),
            },
            Err(error) => self.errors.push(unreadable(display_path(&full_path), error)),
        }
    }

    fn add_listed(&mut self, path: &Path) {
        let full_path = self.base.join(path);
        match fs::metadata(&full_path) {
            Ok(metadata) if metadata.is_dir() => self.add_folder(&full_path),
            Ok(_) if is_part(&full_path) => {}
            Ok(_) => self.add_file(full_path, false),
            Err(_) if let Some((store, id)) = stored::split(&full_path) => self.add_session(&store, id),
            Err(error) => self.errors.push(unreadable(display_path(&full_path), error)),
        }
    }

    /// Drops each `.zst` file whose plain file is an input too, or is beside one that was only found: Codex may be about to remove one
    /// of them, and both are one session.
    fn drop_compressed_twins(&mut self) {
        let is_twin = |(path, input): &(&PathBuf, &Input)| {
            plain_name(path).is_some_and(|plain| self.inputs.contains_key(&plain) || !input.explicit && plain.is_file())
        };
        let twins: Vec<PathBuf> = self.inputs.iter().filter(is_twin).map(|(path, _)| path.clone()).collect();
        for twin in twins.iter().filter_map(|twin| self.inputs.remove(twin)) {
            log::info!("{} is left out: it is the compressed form of another transcript", twin.name);
        }
    }

    fn push(&mut self, path: PathBuf, explicit: bool) {
        // A path that cannot be resolved is kept as it is; reading it reports the error.
        let canonical = if path.as_os_str() == STDIN { None } else { fs::canonicalize(&path).ok() };
        let input = Input::new(&self.base, path.clone(), explicit);
        self.push_as(canonical.unwrap_or(path), input);
    }

    fn push_as(&mut self, key: PathBuf, input: Input) {
        match self.inputs.entry(key) {
            Entry::Vacant(place) => drop(place.insert(input)),
            Entry::Occupied(mut known) => {
                let explicit = input.explicit || known.get().explicit;
                if (input.name.len(), &input.name) < (known.get().name.len(), &known.get().name) {
                    known.insert(input);
                }
                known.get_mut().explicit = explicit;
            }
        }
    }

    /// Names the links to what was not found without them.
    fn name_links(&mut self) {
        let is_found = |link: &PathBuf| fs::canonicalize(link).is_ok_and(|target| self.inputs.contains_key(&target));
        let lost = self.links.iter().filter(|link| !is_found(link));
        self.errors.extend(lost.map(|link| SourceErrorKind::Link.at(display_path(link))));
    }

    /// Adds the files of a folder that are named like transcripts. Symbolic links are not followed: their targets are
    /// found anyway, or are outside of the folder.
    fn add_folder(&mut self, folder: &Path) {
        let (mut empty, mut has_links) = (true, false);
        let is_left_out = |entry: &DirEntry| entry.file_type().is_dir() && is_skipped(entry.file_name()) || is_part(entry.path());
        let wanted = |entry: &DirEntry| entry.depth() == 0 || !is_left_out(entry);
        for entry in WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(wanted) {
            match entry {
                Ok(entry) if entry.file_type().is_file() && is_transcript(entry.file_name()) => {
                    empty = false;
                    match of_folder(entry.file_name()) {
                        Some(_) => self.add_file(entry.into_path(), false),
                        None => self.push(entry.into_path(), false),
                    }
                }
                Ok(entry) if name::is_store(entry.file_name()) && stored::is_database(entry.path()) => {
                    empty = false;
                    self.add_file(entry.into_path(), false);
                }
                Ok(entry) if entry.path_is_symlink() && is_transcript(entry.file_name()) => {
                    empty = false;
                    self.links.push(entry.into_path());
                }
                Ok(entry) => has_links |= entry.path_is_symlink(),
                Err(error) => {
                    empty = false;
                    let path = display_path(error.path().unwrap_or(folder));
                    self.errors.push(unreadable(path, error.into()));
                }
            }
        }
        if empty {
            let links = if has_links { "; links in it are not followed: name them or their targets" } else { "" };
            self.errors.push(SourceErrorKind::EmptyFolder(links).at(display_path(folder)));
        }
    }

    /// Adds the matches of a pattern as if the user had named each, as a shell would.
    fn add_pattern(&mut self, pattern: &str) {
        // The base folder is escaped, because its name may contain pattern characters.
        let base = glob::Pattern::escape(&self.base.to_string_lossy());
        let full_pattern = Path::new(&base).join(pattern);
        let matches = match glob::glob(&full_pattern.to_string_lossy()) {
            Ok(matches) => matches,
            Err(error) => return self.errors.push(SourceErrorKind::BadPattern(error.to_string()).at(pattern)),
        };
        let mut is_empty = true;
        for path in matches {
            is_empty = false;
            match path {
                Ok(path) => self.add_match(path),
                Err(error) => {
                    let path = display_path(error.path());
                    self.errors.push(unreadable(path, error.into()));
                }
            }
        }
        if is_empty {
            self.errors.push(SourceErrorKind::NothingMatches.at(pattern));
        }
    }

    fn add_match(&mut self, path: PathBuf) {
        if path.is_dir() { self.add_folder(&path) } else { self.add_file(path, true) }
    }
}

/// Returns the files and folders below a folder that match a pattern. Pattern characters in the folder's own name mean themselves.
pub fn matches(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let full_pattern = Path::new(&glob::Pattern::escape(&folder.to_string_lossy())).join(pattern);
    let paths = glob::glob(&full_pattern.to_string_lossy()).into_iter().flatten();
    paths.filter_map(Result::ok).collect()
}

/// Replaces each pattern by the paths it matches.
pub fn expand_patterns(paths: &[PathBuf]) -> Vec<PathBuf> {
    let pattern =
        |path: &PathBuf| path.to_str().filter(|text| is_pattern(text) && fs::metadata(path).is_err()).map(str::to_owned);
    let expand = |path: &PathBuf| match pattern(path).and_then(|pattern| glob::glob(&pattern).ok()) {
        Some(matches) => matches.filter_map(Result::ok).collect(),
        None => vec![path.clone()],
    };
    paths.iter().flat_map(expand).collect()
}

/// Whether a path is a pipe, a socket or a device.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Whether a path is standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

fn unreadable(path: String, error: io::Error) -> SourceError {
    match error.kind() {
        io::ErrorKind::NotFound => SourceErrorKind::NotFound(String::new()),
        io::ErrorKind::PermissionDenied => SourceErrorKind::NoPermission,
        _ => SourceErrorKind::Unreadable(error),
    }
    .at(path)
}

#[cfg(test)]
mod tests;
