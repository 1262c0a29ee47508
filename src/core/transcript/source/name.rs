//! What the name of a file says: whether it is a transcript, is compressed, is a pattern; and how it is shown.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// File extensions of transcripts in folders; each may be followed by `.gz` or `.zst`.
const ENDINGS: [&str; 3] = ["jsonl", "json", "traj"];

/// What Codex appends to the name of a rollout that it compresses.
const ZSTANDARD: &str = ".zst";

/// Folders that are not searched, because they hold no transcripts, only other `.json` files.
const SKIPPED: [&str; 3] = [".git", "node_modules", "target"];

/// Formats a path for reports: no leading `./`, forward slashes, the same on every system.
pub fn display_path(path: &Path) -> String {
    let mut parts = path.components().peekable();
    if path != Path::new(".") {
        parts.next_if_eq(&Component::CurDir);
    }
    let path = parts.collect::<PathBuf>();
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether a folder with this name is not searched.
pub fn is_skipped(name: &OsStr) -> bool {
    SKIPPED.iter().any(|skipped| name == *skipped)
}

/// Whether a file with this name, found in a folder, counts as a transcript.
pub fn is_transcript(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(ZSTANDARD)).unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// Returns the path of a `.zst` file without that ending; `None` for other files.
pub(super) fn plain_name(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let at = name.len().checked_sub(ZSTANDARD.len()).filter(|at| name.is_char_boundary(*at))?;
    name[at..].eq_ignore_ascii_case(ZSTANDARD).then(|| path.with_file_name(&name[..at]))
}
