//! What the name of a file says: whether it is a transcript, is compressed, is a pattern; and how it is shown; and what a wrong one may mean.

use std::ffi::OsStr;
use std::fs;
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

/// Whether a file with this name, found in a folder, may be a database.
pub(super) fn is_store(name: &OsStr) -> bool {
    name.to_string_lossy().to_ascii_lowercase().ends_with(".db")
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
    without_compression(&name).rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// Returns the name of a file without the ending of its compression.
pub fn without_compression(name: &str) -> &str {
    name.strip_suffix(".gz").or_else(|| name.strip_suffix(ZSTANDARD)).unwrap_or(name)
}

/// Returns the path of a `.zst` file without that ending; `None` for other files.
pub(super) fn plain_name(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let at = name.len().checked_sub(ZSTANDARD.len()).filter(|at| name.is_char_boundary(*at))?;
    name[at..].eq_ignore_ascii_case(ZSTANDARD).then(|| path.with_file_name(&name[..at]))
}

/// Suggests what a path that does not exist may mean.
pub(super) fn suggestion(path: &Path) -> String {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = fs::read_dir(folder) else {
        return format!("; its folder {} cannot be opened either", display_path(folder));
    };
    // Same name with another extension or case: `run7` for `run7.jsonl.gz`.
    let stem = |name: &OsStr| name.to_string_lossy().split('.').next().unwrap_or_default().to_lowercase();
    let Some(wanted) = path.file_name().map(stem).filter(|stem| !stem.is_empty()) else { return String::new() };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    match names.filter(|name| stem(name) == wanted).min() {
        Some(name) => format!("; did you mean {}?", display_path(&path.with_file_name(name))),
        None => "; give a file, a folder, a pattern in quotes ('runs/*.jsonl') or -".to_owned(),
    }
}
