//! The files of sub-agents beside the file of their session.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::listings::Listings;
use crate::transcript::source::without_compression;

/// The names of the sub-agents that have a file in a folder.
#[derive(Default)]
pub(super) struct SubAgentFiles(Listings<HashSet<String>>);

impl SubAgentFiles {
    /// Returns the names of the sub-agents that may be of the session in a file: those in the folder that has its name, and those beside
    /// it, where old versions have them.
    pub(super) fn of(&self, session: &Path) -> Vec<Arc<HashSet<String>>> {
        let (Some(folder), Some(name)) = (session.parent(), session.file_name().and_then(|name| name.to_str())) else {
            return Vec::new();
        };
        let own = folder.join(stem(name)).join("subagents");
        [folder, &own].into_iter().map(|folder| self.0.of(folder, among)).filter(|names| !names.is_empty()).collect()
    }
}

fn among(folder: &Path) -> HashSet<String> {
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    files.filter(|file| file.starts_with("agent-")).map(|file| stem(&file).to_owned()).collect()
}

/// Returns a name without the endings of a transcript.
pub(super) fn stem(name: &str) -> &str {
    let name = without_compression(name);
    name.strip_suffix(".jsonl").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_agents_are_found_beside_their_session_whatever_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = folder.path().join("s1/subagents");
        fs::create_dir_all(&own).expect("a folder");
        for file in [own.join("agent-a.jsonl"), own.join("notes.txt"), folder.path().join("agent-b.jsonl.gz")] {
            fs::write(file, "").expect("a file");
        }
        let files = SubAgentFiles::default();
        let names = |session: &str| {
            let found = files.of(&folder.path().join(session));
            let mut names: Vec<String> = found.iter().flat_map(|names| names.iter().cloned()).collect();
            names.sort();
            names
        };
        assert_eq!(names("s1.jsonl"), ["agent-a", "agent-b"]);
        assert_eq!(names("s2.jsonl.zst"), ["agent-b"]);
        assert_eq!(files.of(Path::new("")).len(), 0);
    }
}
