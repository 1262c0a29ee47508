//! The folders in which harnesses save their sessions on this machine.

use std::env;
use std::path::{Path, PathBuf};

use recompact::transcript::format::{FORMATS, SessionFolder};

use recompact::transcript::source::{self, Input};

use crate::cli::error::Failure;

/// A shorter beginning of an id is more likely a wrong path.
const SHORTEST_ID: usize = 8;

/// Returns the folders that exist.
///
/// # Errors
///
/// Fails with the folders that were looked for, if none exists.
pub fn find() -> Result<Vec<PathBuf>, Failure> {
    let known = FORMATS.iter().flat_map(|format| format.folders);
    let mut folders: Vec<PathBuf> = known.filter_map(place).collect();
    folders.dedup();
    let found: Vec<PathBuf> = folders.iter().filter(|folder| folder.is_dir()).cloned().collect();
    if found.is_empty() {
        let looked: String = folders.iter().map(|folder| format!("\n  {}", shown(folder))).collect();
        return Err(Failure::Usage(format!(
            "no path was named, and there are no sessions in the usual folders:{looked}\nName a file or a folder, or \
             try `recompact demo`"
        )));
    }
    Ok(found)
}

/// Returns the file of the session with this id, or with the only id that begins so: `5f1c2a80` for `5f1c2a80-….jsonl`.
pub fn session(id: &str) -> Option<PathBuf> {
    if id.len() < SHORTEST_ID || id.contains(['/', '\\', '*']) {
        return None;
    }
    let (inputs, _) = source::find(Path::new(""), &find().ok()?);
    // Codex writes the time before the id.
    let has_id = |input: &&Input| {
        input.name.rsplit('/').next().is_some_and(|name| name.starts_with(id) || name.contains(&format!("-{id}")))
    };
    let mut found = inputs.iter().filter(has_id);
    found.next().filter(|_| found.next().is_none()).map(|input| input.path().to_owned())
}

/// The path of a folder on this machine; `None` if the home folder is unknown.
fn place(folder: &SessionFolder) -> Option<PathBuf> {
    let named = folder.variable.and_then(env::var_os).filter(|path| !path.is_empty());
    let harness = match (named, folder.home) {
        (Some(path), _) => PathBuf::from(path),
        (None, Some(home)) => env::home_dir()?.join(home),
        (None, None) => PathBuf::new(),
    };
    Some(harness.join(folder.sessions))
}

/// A path as people write it: `~/.claude/projects`.
pub fn shown(path: &Path) -> String {
    let in_home = env::home_dir().and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned));
    in_home.map_or_else(|| path.display().to_string(), |path| format!("~/{}", path.display()))
}
