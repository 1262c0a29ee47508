//! A transcript, before it is read: where its bytes are, and its name.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::name::{display_path, is_transcript, plain_name};
use super::{STDIN, is_special};
use crate::transcript::format::store::StoredSession;

/// A transcript that is not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The name in reports: the path as given, with forward slashes, and `#` with the id of a session of a store; `-` is standard input.
    pub name: String,
    /// Whether the user named it, directly or by a pattern. A named file must be readable; one found in a folder need
    /// not be.
    pub explicit: bool,
    pub(super) path: PathBuf,
    /// The bytes of one that has no path.
    pub(super) held: Option<Held>,
    /// The session of the store at this path.
    pub(super) session: Option<StoredSession>,
}

/// The bytes of a transcript without a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Held {
    /// A part of the program, deflated.
    BuiltIn(&'static [u8]),
    /// What another program read, which may be compressed as a file.
    Given(Arc<[u8]>),
}

impl Input {
    /// The path of the file; `-` for standard input; empty for a part of the program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size on disk in bytes; 0 if it is unknown before reading.
    pub fn size(&self) -> u64 {
        if let Some(session) = &self.session {
            return session.size;
        }
        if let Some(Held::Given(bytes)) = &self.held {
            return bytes.len() as u64;
        }
        if self.is_stdin() { 0 } else { fs::metadata(&self.path).map_or(0, |metadata| metadata.len()) }
    }

    /// Time of the last change of the file or of the session; the beginning of time if it is unknown.
    pub fn changed(&self) -> SystemTime {
        if let Some(session) = &self.session {
            return session.changed;
        }
        let metadata = if self.is_stdin() { None } else { fs::metadata(&self.path).ok() };
        metadata.and_then(|metadata| metadata.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    pub(super) fn new(base: &Path, path: PathBuf, explicit: bool) -> Self {
        Self { name: display_path(path.strip_prefix(base).unwrap_or(&path)), explicit, path, held: None, session: None }
    }

    /// The transcripts in the folder of this file, itself among them, by name; none for one without a path.
    pub fn beside(&self) -> Vec<Self> {
        if self.held.is_some() {
            return Vec::new();
        }
        let in_folder = self.name.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let is_twin = |path: &Path| plain_name(path).is_some_and(|plain| plain.is_file());
        let of = |entry: fs::DirEntry| {
            let (path, name) = (entry.path(), entry.file_name());
            let is_wanted = entry.file_type().is_ok_and(|kind| kind.is_file()) && is_transcript(&name) && !is_twin(&path);
            let name = in_folder.clone() + name.to_str().filter(|_| is_wanted)?;
            Some(Self { name, explicit: false, path, held: None, session: None })
        };
        let mut found: Vec<Self> = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| of(entry.ok()?)).collect();
        found.sort_by(|a, b| Path::new(&a.name).cmp(Path::new(&b.name)));
        found
    }

    /// A transcript that is a part of the program, deflated. No file is read for it.
    pub fn built_in(name: String, deflated: &'static [u8]) -> Self {
        Self { name, explicit: true, path: PathBuf::new(), held: Some(Held::BuiltIn(deflated)), session: None }
    }

    /// A transcript that another program read. It need not be one, as a file that is found in a folder.
    pub fn given(name: String, bytes: Arc<[u8]>) -> Self {
        Self { name, explicit: false, path: PathBuf::new(), held: Some(Held::Given(bytes)), session: None }
    }

    /// The session of a store.
    pub fn session(&self) -> Option<&StoredSession> {
        self.session.as_ref()
    }

    /// Whether it is a pipe, a socket or a device: reading those may block or never end.
    pub fn is_special(&self) -> bool {
        !self.is_stdin() && is_special(&self.path)
    }

    /// Whether this path leads to the same file.
    pub fn is_at(&self, path: &Path) -> bool {
        !self.is_stdin() && fs::canonicalize(path).is_ok_and(|other| fs::canonicalize(&self.path).is_ok_and(|own| own == other))
    }

    /// Whether reading it may wait for another program: standard input, or a pipe.
    pub fn may_wait(&self) -> bool {
        self.is_stdin() || is_special(&self.path)
    }

    pub(super) fn is_stdin(&self) -> bool {
        self.path.as_os_str() == STDIN
    }
}
