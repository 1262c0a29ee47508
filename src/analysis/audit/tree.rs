//! The files that transcripts name. A path in a transcript is only compared with listed files; it is never opened.

use std::collections::{BTreeSet, HashMap};

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    /// A symbolic link, which is never followed.
    Link,
    /// A pipe, a socket or a device, which is never opened.
    Special,
}

/// One entry of a tree. Folders are not listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Path below the root, with forward slashes.
    pub name: String,
    /// Size in bytes, from the file system.
    pub bytes: u64,
    pub kind: EntryKind,
}

/// Why a file cannot be read; it follows the name of the file: `is no longer a file`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnreadableFile(String);

impl From<String> for UnreadableFile {
    fn from(why: String) -> Self {
        Self(why)
    }
}

/// A folder that was listed once.
pub trait Tree: Sync {
    /// Returns what reports put before the names of its entries: empty, or a path with a slash at the end.
    fn prefix(&self) -> &str;
    /// Returns its absolute path with forward slashes. Paths that harnesses wrote begin with it.
    fn place(&self) -> &str;
    /// Returns its entries, sorted by name.
    fn entries(&self) -> &[Entry];
    /// Reads a file by the name of its entry.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or is too large.
    fn read(&self, name: &str) -> Result<Vec<u8>, UnreadableFile>;
}

/// Index of a tree that finds entries by the end of a path.
pub struct Index<'a> {
    pub tree: &'a dyn Tree,
    by_name: HashMap<&'a str, Vec<&'a Entry>>,
    /// Working folders of agents, with a slash at the end: the parents of `.transcripts` folders.
    homes: BTreeSet<&'a str>,
}

/// Folder of learn-claude-code's archives, in the working folder of an agent.
const ARCHIVES: &str = ".transcripts/";

/// Result of looking up a path of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathMatch<'a> {
    /// The path leads to this entry. Both have this number of last components in common.
    At { entry: &'a Entry, components: usize },
    /// The path may be in the tree, but no entry matches.
    Nowhere,
    /// The path leads out of the tree.
    Outside,
}

impl<'a> Index<'a> {
    /// Indexes the entries of a folder by their names.
    pub fn new(tree: &'a dyn Tree) -> Self {
        let mut by_name: HashMap<&str, Vec<&Entry>> = HashMap::new();
        for entry in tree.entries() {
            by_name.entry(last(&entry.name)).or_default().push(entry);
        }
        let homes = tree.entries().iter().filter_map(|entry| folder(&entry.name).strip_suffix(ARCHIVES));
        Self { tree, by_name, homes: homes.collect() }
    }

    /// Returns the path of an entry as reports name it.
    pub fn shown(&self, entry: &Entry) -> String {
        format!("{}{}", self.tree.prefix(), entry.name)
    }

    /// Returns the name below the root for a path that reports name.
    pub fn name_of<'b>(&self, shown: &'b str) -> Option<&'b str> {
        shown.strip_prefix(self.tree.prefix())
    }

    /// Finds the entry that a path in the transcript `near` (as reports name it) means. Folders may have been moved or copied, so this is
    /// the entry that shares most of the path's last components; of several, the one nearest to the transcript. Entries in the working
    /// folder of another agent do not match.
    pub fn find(&self, path: &str, near: &str) -> PathMatch<'a> {
        let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
        let Some(name) = parts.last() else { return PathMatch::Nowhere };
        if parts.contains(&"..") {
            return PathMatch::Outside;
        }
        let absolute = path.starts_with(['/', '\\', '~']) || parts[0].ends_with(':');
        let candidates = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let own: Vec<&str> = self.tree.place().split('/').filter(|part| !part.is_empty()).collect();
        if absolute && parts.len() > own.len() && parts.starts_with(&own) {
            let below = parts[own.len()..].join("/");
            let exact = candidates.iter().find(|entry| entry.name == below);
            return exact.map_or(PathMatch::Nowhere, |entry| PathMatch::At { entry, components: parts.len() });
        }
        let near = self.name_of(near).unwrap_or_default();
        let rank = |entry: &&&Entry| (same_end(&entry.name, &parts), same_begin(&entry.name, near));
        // Of several equal ones, the first by name matches.
        let candidates = candidates.iter().rev().filter(|entry| {
            let home = self.home(&entry.name);
            home.is_none() || home == self.home(near)
        });
        match candidates.max_by_key(rank) {
            Some(entry) => PathMatch::At { entry, components: same_end(&entry.name, &parts) },
            None if absolute => PathMatch::Outside,
            None => PathMatch::Nowhere,
        }
    }

    /// Returns the working folder of the agent that a file belongs to: the innermost one.
    fn home(&self, name: &str) -> Option<&'a str> {
        self.homes.iter().copied().filter(|home| name.starts_with(home)).max_by_key(|home| home.len())
    }
}

/// Returns the last component of a path.
pub fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the folder of a path, with a slash at the end; empty if the path has no folder.
pub fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

/// Counts the components that a name and a path share at the end.
fn same_end(name: &str, parts: &[&str]) -> usize {
    name.rsplit('/').zip(parts.iter().rev()).take_while(|(a, b)| a == *b).count()
}

/// Counts the folders that two names share at the beginning.
fn same_begin(name: &str, other: &str) -> usize {
    folder(name).split('/').zip(folder(other).split('/')).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Entries, and names and contents of the files.
    pub struct TestTree(pub Vec<Entry>, pub Vec<(&'static str, &'static str)>);

    pub fn tree(files: &[(&'static str, &'static str)]) -> TestTree {
        let entry = |(name, text): &(&str, &str)| Entry {
            name: (*name).to_owned(),
            bytes: text.len() as u64,
            kind: if *text == "->" { EntryKind::Link } else { EntryKind::File },
        };
        TestTree(files.iter().map(entry).collect(), files.to_vec())
    }

    impl Tree for TestTree {
        fn prefix(&self) -> &str {
            "runs/"
        }

        fn place(&self) -> &str {
            "/home/dev/runs"
        }

        fn entries(&self) -> &[Entry] {
            &self.0
        }

        fn read(&self, name: &str) -> Result<Vec<u8>, UnreadableFile> {
            let file = self.1.iter().find(|(known, _)| *known == name);
            file.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "it is gone".to_owned().into())
        }
    }

    #[test]
    fn tree_resolves_paths_to_listed_files() {
        let tree = tree(&[("a/out/1.txt", ""), ("b/out/1.txt", ""), ("b/2.txt", ""), ("etc/passwd", "")]);
        let index = Index::new(&tree);
        let find = |path: &str| match index.find(path, "runs/b/.transcripts/t.jsonl") {
            PathMatch::At { entry, components } => format!("{} {components}", entry.name),
            other => format!("{other:?}"),
        };
        for (path, expected) in [
            ("out/1.txt", "b/out/1.txt 2"),
            ("a/out/1.txt", "a/out/1.txt 3"),
            ("./out//1.txt", "b/out/1.txt 2"),
            ("/home/dev/runs/a/out/1.txt", "a/out/1.txt 6"),
            ("/home/dev/runs/out/1.txt", "Nowhere"),
            ("/elsewhere/a/out/1.txt", "a/out/1.txt 3"),
            (r"C:\work\out\1.txt", "b/out/1.txt 2"),
            ("3.txt", "Nowhere"),
            ("", "Nowhere"),
            ("/elsewhere/3.txt", "Outside"),
            ("~/3.txt", "Outside"),
            ("../2.txt", "Outside"),
            ("b/../../2.txt", "Outside"),
        ] {
            assert_eq!(find(path), expected, "{path}");
        }
    }

    #[test]
    fn tree_does_not_mix_files_of_agents() {
        let tree =
            tree(&[("a/.transcripts/1.jsonl", ""), ("a/out/x.txt", ""), ("b/.transcripts/2.jsonl", ""), ("all/y.txt", "")]);
        let index = Index::new(&tree);
        let is_there = |path: &str, near: &str| matches!(index.find(path, near), PathMatch::At { .. });
        assert!(is_there(".transcripts/1.jsonl", "runs/a/.transcripts/3.jsonl"));
        assert!(!is_there(".transcripts/1.jsonl", "runs/b/.transcripts/2.jsonl"));
        assert!(!is_there("/old/out/x.txt", "runs/b/.transcripts/2.jsonl"));
        assert!(is_there("/old/y.txt", "runs/b/.transcripts/2.jsonl"), "it belongs to no agent");
    }
}
