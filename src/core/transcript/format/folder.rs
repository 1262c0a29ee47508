//! Sessions that are a folder: the files in it, their sizes and their times.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::store::{StoreError, StoredSession};

/// Returns the session of a folder, as it is listed, by the files that it has.
pub fn session(format: &'static str, files: &[PathBuf]) -> StoredSession {
    let found: Vec<Metadata> = files.iter().filter_map(|file| fs::metadata(file).ok()).collect();
    let changed = found.iter().filter_map(|metadata| metadata.modified().ok()).max();
    StoredSession {
        format,
        id: String::new(),
        family: String::new(),
        changed: changed.unwrap_or(SystemTime::UNIX_EPOCH),
        size: found.iter().map(Metadata::len).sum(),
    }
}

/// Reads a file of a session, which is no pipe and no device.
///
/// # Errors
///
/// Fails with the name of the file and the reason, also if it has more bytes than the limit.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, StoreError> {
    let failed = |why: String| StoreError(format!("{}: {why}", path.file_name().unwrap_or_default().to_string_lossy()));
    if !fs::metadata(path).map_err(|error| failed(error.to_string()))?.is_file() {
        return Err(failed("not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    if bytes.len() as u64 > limit {
        return Err(failed(format!("more than the {limit} bytes that are left for it; --max-file allows more")));
    }
    Ok(bytes)
}

/// Writes JSON on one line. A line break is no part of a text in JSON.
pub fn on_one_line(json: &[u8]) -> Vec<u8> {
    let json = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
    json.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}
