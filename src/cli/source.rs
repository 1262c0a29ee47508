//! Paths as a user gives them → transcripts, and their bytes. The one reader of the disk.
//!
//! [`find`] only lists; [`read`] reads one transcript when its turn has come, so that a study holds what is in flight and no
//! more. Compressed transcripts (gzip, by name or by their first bytes) are read as if they were not.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Component, Path, PathBuf};

use flate2::read::MultiGzDecoder;
use walkdir::{DirEntry, WalkDir};
use xxhash_rust::xxh3::xxh3_128;

/// What a transcript's name ends with, in folders; each may be followed by `.gz`.
const ENDINGS: [&str; 3] = ["jsonl", "json", "traj"];

/// Folders that hold no transcripts of the user's own, however many `.json` files they have.
const SKIPPED: [&str; 3] = [".git", "node_modules", "target"];

/// The most bytes one transcript may have, decompressed: a few kilobytes of gzip can unfold to more than any memory.
const MOST: u64 = 4 << 30;

/// What gzip begins with (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The path that is standard input. A file of this name is `./-`.
const STDIN: &str = "-";

/// One transcript, not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// As reports show it: the path as it was given, with forward slashes; `-` is standard input.
    pub name: String,
    /// Whether it was named by itself (or by a pattern), not found in a folder: what was asked for must be readable.
    pub explicit: bool,
    path: PathBuf,
}

/// Why a path leads to no bytes. The first field is the path.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("{0}: no such file or folder{1}")]
    NotFound(String, String),
    #[error("{0}: no file has a name like this (`*` stands for any part of a name, `**` for any folders)")]
    NothingMatches(String),
    #[error("{0}: not a valid pattern: {1}")]
    BadPattern(String, String),
    #[error("{0}: no permission to read it")]
    NoPermission(String),
    #[error("{0}: no transcripts (*.jsonl, *.json, *.traj, also with .gz) found in this folder")]
    EmptyFolder(String),
    #[error("{0}: cannot be decompressed: {1} (is the .gz file complete?)")]
    NotGzip(String, io::Error),
    #[error("{0}: larger than {1} bytes{2}")]
    TooLarge(String, u64, &'static str),
    #[error("{0}: cannot be read: {1}")]
    Unreadable(String, io::Error),
}

/// The transcripts that these paths name, in the order of the paths, within a folder by name; each once. What leads nowhere
/// is listed beside them, so that one misspelt path does not hide another.
///
/// Relative paths start from `base`, which the names leave out; an empty one is the current folder.
pub fn find(base: &Path, paths: &[PathBuf]) -> (Vec<Input>, Vec<SourceError>) {
    let mut found = Found { base: base.to_owned(), ..Found::default() };
    for path in paths {
        found.add(path);
    }
    (found.inputs, found.errors)
}

/// The bytes of a transcript, decompressed.
pub fn read(input: &Input) -> Result<Vec<u8>, SourceError> {
    if input.is_stdin() {
        return read_within(&input.name, io::stdin().lock(), 0, MOST);
    }
    let unreadable = |error| unreadable(input.name.clone(), error);
    let file = File::open(&input.path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    read_within(&input.name, file, size, MOST)
}

/// Of any bytes, as it is saved: other bytes have another.
pub fn hash_of(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

impl Input {
    /// Its bytes on disk, as far as they are known before it is read.
    pub fn size(&self) -> u64 {
        if self.is_stdin() { 0 } else { fs::metadata(&self.path).map_or(0, |metadata| metadata.len()) }
    }

    fn new(base: &Path, path: PathBuf, explicit: bool) -> Self {
        Self { name: shown(path.strip_prefix(base).unwrap_or(&path)), explicit, path }
    }

    /// Whether it is no file but something that may never end, or never begin: a pipe, a socket, a device.
    pub fn is_special(&self) -> bool {
        !self.is_stdin() && fs::metadata(&self.path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
    }

    /// Whether this path leads to it.
    pub fn is_at(&self, path: &Path) -> bool {
        !self.is_stdin() && fs::canonicalize(path).is_ok_and(|place| fs::canonicalize(&self.path).is_ok_and(|own| own == place))
    }

    fn is_stdin(&self) -> bool {
        self.path.as_os_str() == STDIN
    }
}

#[derive(Default)]
struct Found {
    base: PathBuf,
    inputs: Vec<Input>,
    errors: Vec<SourceError>,
    /// Where the inputs really are: two ways to one file are one input.
    places: HashSet<PathBuf>,
}

impl Found {
    fn add(&mut self, path: &Path) {
        if path.as_os_str() == STDIN {
            return self.push(path.to_owned(), true);
        }
        let place = self.base.join(path);
        match fs::metadata(&place) {
            Ok(metadata) if metadata.is_dir() => self.folder(&place),
            Ok(_) => self.push(place, true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match path.to_str().filter(|text| is_pattern(text)) {
                Some(pattern) => self.pattern(pattern),
                None => self.errors.push(SourceError::NotFound(shown(&place), suggestion(&place))),
            },
            Err(error) => self.errors.push(unreadable(shown(&place), error)),
        }
    }

    fn push(&mut self, path: PathBuf, explicit: bool) {
        // What cannot be resolved is kept under its own name, and says why when it is read.
        let place = if path.as_os_str() == STDIN { None } else { fs::canonicalize(&path).ok() };
        if self.places.insert(place.unwrap_or_else(|| path.clone())) {
            self.inputs.push(Input::new(&self.base, path, explicit));
        }
    }

    /// Everything in a folder that is named like a transcript. Symbolic links in it are not followed: they lead to what is
    /// found anyway, or out of the folder.
    fn folder(&mut self, folder: &Path) {
        let mut empty = true;
        let wanted = |entry: &DirEntry| entry.depth() == 0 || !(entry.file_type().is_dir() && is_skipped(entry.file_name()));
        for entry in WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(wanted) {
            match entry {
                Ok(entry) if entry.file_type().is_file() && is_transcript(entry.file_name()) => {
                    empty = false;
                    self.push(entry.into_path(), false);
                }
                Ok(_) => {}
                Err(error) => {
                    empty = false;
                    let path = shown(error.path().unwrap_or(folder));
                    self.errors.push(unreadable(path, error.into()));
                }
            }
        }
        if empty {
            self.errors.push(SourceError::EmptyFolder(shown(folder)));
        }
    }

    /// A pattern means what it would mean to a shell: as if every match had been named.
    fn pattern(&mut self, pattern: &str) {
        // The folder it starts from is one folder, whatever is in its name.
        let base = glob::Pattern::escape(&self.base.to_string_lossy());
        let whole = Path::new(&base).join(pattern);
        let matches = match glob::glob(&whole.to_string_lossy()) {
            Ok(matches) => matches,
            Err(error) => return self.errors.push(SourceError::BadPattern(pattern.to_owned(), error.to_string())),
        };
        let mut none = true;
        for path in matches {
            none = false;
            match path {
                Ok(path) => self.add_match(path),
                Err(error) => {
                    let path = shown(error.path());
                    self.errors.push(unreadable(path, error.into()));
                }
            }
        }
        if none {
            self.errors.push(SourceError::NothingMatches(pattern.to_owned()));
        }
    }

    fn add_match(&mut self, path: PathBuf) {
        if path.is_dir() { self.folder(&path) } else { self.push(path, true) }
    }
}

/// The paths with every pattern in place of what it matches.
pub fn matches(paths: &[PathBuf]) -> Vec<PathBuf> {
    let pattern =
        |path: &PathBuf| path.to_str().filter(|text| is_pattern(text) && fs::metadata(path).is_err()).map(str::to_owned);
    let of = |path: &PathBuf| match pattern(path).and_then(|pattern| glob::glob(&pattern).ok()) {
        Some(matches) => matches.filter_map(Result::ok).collect(),
        None => vec![path.clone()],
    };
    paths.iter().flat_map(of).collect()
}

/// Whether a path is standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// A path as reports show it: no `./` in front, forward slashes, the same on every system.
pub fn shown(path: &Path) -> String {
    let mut parts = path.components().peekable();
    if path != Path::new(".") {
        parts.next_if_eq(&Component::CurDir);
    }
    let path = parts.collect::<PathBuf>();
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether a folder of this name holds no transcripts of the user's own.
pub fn is_skipped(name: &OsStr) -> bool {
    SKIPPED.iter().any(|skipped| name == *skipped)
}

/// Whether a file of this name is taken for a transcript where it is found in a folder.
pub fn is_transcript(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// What may have been meant by a path that does not exist.
fn suggestion(path: &Path) -> String {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = fs::read_dir(folder) else {
        return format!("; its folder {} cannot be opened either", shown(folder));
    };
    // The same name with another ending or in other letters: `run7` for `run7.jsonl.gz`.
    let stem = |name: &OsStr| name.to_string_lossy().split('.').next().unwrap_or_default().to_lowercase();
    let Some(wanted) = path.file_name().map(stem).filter(|stem| !stem.is_empty()) else { return String::new() };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    match names.filter(|name| stem(name) == wanted).min() {
        Some(name) => format!("; did you mean {}?", shown(&path.with_file_name(name))),
        None => "; a file, a folder, a pattern in quotes ('runs/*.jsonl') or - can be given".to_owned(),
    }
}

/// Reads all of a reader that is thought to have `size` bytes and may have no more than `most`.
fn read_within(name: &str, mut reader: impl Read, size: u64, most: u64) -> Result<Vec<u8>, SourceError> {
    let error = |error| unreadable(name.to_owned(), error);
    let mut head = Vec::new();
    reader.by_ref().take(GZIP.len() as u64).read_to_end(&mut head).map_err(error)?;
    let zipped = head == GZIP || name.to_ascii_lowercase().ends_with(".gz");
    let too_large = || SourceError::TooLarge(name.to_owned(), most, if zipped { " when decompressed" } else { "" });
    let whole = Cursor::new(head).chain(reader);
    let mut bytes = Vec::new();
    // One more than may be: to see that there is more.
    let limit = most.saturating_add(1);
    if zipped {
        let read = MultiGzDecoder::new(whole).take(limit).read_to_end(&mut bytes);
        read.map_err(|error| SourceError::NotGzip(name.to_owned(), error))?;
    } else if size > most {
        return Err(too_large());
    } else {
        bytes.reserve(usize::try_from(size).unwrap_or(0));
        whole.take(limit).read_to_end(&mut bytes).map_err(error)?;
    }
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

fn unreadable(path: String, error: io::Error) -> SourceError {
    match error.kind() {
        io::ErrorKind::NotFound => SourceError::NotFound(path, String::new()),
        io::ErrorKind::PermissionDenied => SourceError::NoPermission(path),
        _ => SourceError::Unreadable(path, error),
    }
}

#[cfg(test)]
mod tests;
