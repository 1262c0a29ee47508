//! Stores: files that hold many sessions, such as databases. None is read whole: its sessions are listed, and each is read by itself.

use std::path::Path;
use std::time::SystemTime;

/// How the sessions of a store are listed and read.
pub struct Store {
    /// Lists the sessions of a file, or only the one with this id; `None` if the file is no such store.
    pub sessions: fn(&Path, Option<&str>) -> Sessions,
    /// Returns a session as the bytes that the reader of the format takes. They hold its own rows and nothing of the others, so their hash
    /// is its stamp. Stops behind this number of bytes.
    pub read: fn(&Path, &str, u64) -> Result<Vec<u8>, StoreError>,
}

/// The sessions of a file; `None` if it is no such store.
pub type Sessions = Result<Option<Vec<StoredSession>>, StoreError>;

/// A session of a store that is not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// The format whose store it is in.
    pub format: &'static str,
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
