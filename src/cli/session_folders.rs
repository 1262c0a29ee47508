//! The places in which harnesses save their sessions on this machine.

use std::env;
use std::path::{Path, PathBuf};

use recompact::transcript::format::{FORMATS, SessionFolder};

use recompact::transcript::source::{self, Input};

use crate::cli::error::Failure;
use crate::cli::user_files::named_path;

/// A shorter beginning of an id is more likely a wrong path.
const SHORTEST_ID: usize = 8;

/// Returns the folders and files that exist.
///
/// # Errors
///
/// Fails with the places that were looked at, if none exists.
pub fn find() -> Result<Vec<PathBuf>, Failure> {
    let known = FORMATS.iter().flat_map(|format| format.folders);
    let mut places: Vec<(PathBuf, &str)> = known.filter_map(|folder| Some((home(folder)?, folder.sessions))).collect();
    places.dedup();
    let found: Vec<PathBuf> = places.iter().flat_map(|(home, sessions)| source::matches(home, sessions)).collect();
    if found.is_empty() {
        let looked: String = places.iter().map(|(home, sessions)| format!("\n  {}", shown(&home.join(sessions)))).collect();
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
    // Codex writes the time before the id, and a store comes before its sessions.
    let has_id = |input: &&Input| {
        let name = input.name.rsplit('/').next().unwrap_or_default();
        name.starts_with(id) || ["-", "#"].iter().any(|before| name.contains(&format!("{before}{id}")))
    };
    let mut found = inputs.iter().filter(has_id);
    found
        .next()
        .filter(|_| found.next().is_none())
        .map(|input| input.session().map_or_else(|| input.path().to_owned(), |_| PathBuf::from(&input.name)))
}

/// The folder of a harness on this machine; `None` if the home folder is unknown.
fn home(folder: &SessionFolder) -> Option<PathBuf> {
    match (folder.variable.and_then(named_path), folder.home) {
        (Some(path), _) => Some(path),
        (None, Some(home)) => Some(env::home_dir()?.join(home)),
        (None, None) => Some(PathBuf::new()),
    }
}

/// A path as people write it: `~/.claude/projects`.
pub fn shown(path: &Path) -> String {
    let in_home = env::home_dir().and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned));
    in_home.map_or_else(|| path.display().to_string(), |path| format!("~/{}", path.display()))
}
