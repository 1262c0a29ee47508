//! Stores: sources that are no single file. A database holds many sessions; a session may also be several files beside each other. None is
//! read whole: its sessions are listed, and each is read by itself.

use std::ffi::OsStr;
use std::path::Path;
use std::time::SystemTime;

use super::FORMATS;

/// How the sessions of a store are listed and read.
pub struct Store {
    /// Which files are such stores.
    pub files: StoreFiles,
    /// Lists the sessions of a file, or only the one with this id; `None` if the file is no such store.
    pub sessions: fn(&Path, Option<&str>) -> Sessions,
    /// Returns a session as the bytes that the reader of the format takes. They hold its own rows and nothing of the others, so their hash
    /// is its stamp. Stops behind this number of bytes.
    pub read: fn(&Path, &str, u64) -> Result<Vec<u8>, StoreError>,
}

/// Which files are stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreFiles {
    /// SQLite databases.
    Databases,
    /// A file with this name, of a folder that holds one session.
    Folder {
        main: &'static str,
        /// Names of the other files and folders beside it that the session has. They are no transcripts of their own.
        others: &'static [&'static str],
    },
}

/// The sessions of a file; `None` if it is no such store.
pub type Sessions = Result<Option<Vec<StoredSession>>, StoreError>;

/// A session of a store that is not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// The format whose store it is in.
    pub format: &'static str,
    /// Empty if it is the only one of its store.
    pub id: String,
    /// The id of the session at the head of its parents; its own id, if it has none.
    pub family: String,
    /// When it was changed last.
    pub changed: SystemTime,
    /// About how many bytes it has.
    pub size: u64,
}

/// Why a store or one of its sessions cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

/// Returns the store whose sessions are folders with a file of this name.
pub fn of_folder(name: &OsStr) -> Option<&'static Store> {
    let mut stores = FORMATS.iter().filter_map(|format| format.store.as_ref());
    stores.find(|store| matches!(store.files, StoreFiles::Folder { main, .. } if name == main))
}

/// Whether a file or a folder is a part of a session that is read by the main file beside it.
pub fn is_part(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    FORMATS.iter().filter_map(|format| format.store.as_ref()).any(|store| match store.files {
        StoreFiles::Folder { main, others } => others.iter().any(|other| name == *other) && path.with_file_name(main).is_file(),
        StoreFiles::Databases => false,
    })
}
