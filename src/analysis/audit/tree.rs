//! The files that transcripts speak of. A path from a transcript is only held against what was listed; it is never opened.

use std::collections::{BTreeSet, HashMap};

/// What stands at a place of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    /// A symbolic link. It is not followed.
    Link,
    /// A pipe, a socket, a device. It is not opened.
    Special,
}

/// One thing in a tree; folders are not listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path below the root, with forward slashes.
    pub name: String,
    /// As the file system says.
    pub bytes: u64,
    pub kind: EntryKind,
}

/// A folder that was listed once.
pub trait Tree: Sync {
    /// How reports name a path below it: with this in front. Empty, or with a slash at its end.
    fn prefix(&self) -> &str;
    /// Where it is, absolute and with forward slashes: what harnesses wrote down of it begins so.
    fn place(&self) -> &str;
    /// In the order of their names.
    fn entries(&self) -> &[Entry];
    /// The bytes of one of its files, by the name of its entry; or why there are none.
    fn read(&self, name: &str) -> Result<Vec<u8>, String>;
}

/// A tree whose entries can be found by the end of a path.
pub struct Index<'a> {
    pub tree: &'a dyn Tree,
    by_name: HashMap<&'a str, Vec<&'a Entry>>,
    /// The folders of agents, with their slash: those around a `.transcripts`.
    homes: BTreeSet<&'a str>,
}

/// Where learn-claude-code keeps its archives, below the folder that an agent works in.
const ARCHIVES: &str = ".transcripts/";

/// Where a path of a transcript leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathMatch<'a> {
    /// To this entry, whose last components are the path's.
    At { entry: &'a Entry, components: usize },
    /// It may be in the tree, but nothing is there.
    Nowhere,
    /// Out of the tree.
    Outside,
}

impl<'a> Index<'a> {
    pub fn new(tree: &'a dyn Tree) -> Self {
        let mut by_name: HashMap<&str, Vec<&Entry>> = HashMap::new();
        for entry in tree.entries() {
            by_name.entry(last(&entry.name)).or_default().push(entry);
        }
        let homes = tree.entries().iter().filter_map(|entry| folder(&entry.name).strip_suffix(ARCHIVES));
        Self { tree, by_name, homes: homes.collect() }
    }

    /// How a report names an entry.
    pub fn shown(&self, entry: &Entry) -> String {
        format!("{}{}", self.tree.prefix(), entry.name)
    }

    /// The name below the root of a file that a report names so.
    pub fn name_of<'b>(&self, shown: &'b str) -> Option<&'b str> {
        shown.strip_prefix(self.tree.prefix())
    }

    /// The entry that a path in the transcript `near` (as reports name it) means: the one with the most of the path's last components,
    /// for folders are moved and copied; of several, the one nearest to the transcript. What lies in another agent's folder is that
    /// agent's.
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
        // Of equals the first by name.
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

    /// The folder of the agent that a file belongs to, the innermost.
    fn home(&self, name: &str) -> Option<&'a str> {
        self.homes.iter().copied().filter(|home| name.starts_with(home)).max_by_key(|home| home.len())
    }
}

/// The last component of a path.
pub fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folder a path is in, with its slash; empty where it is in none.
pub fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

fn same_end(name: &str, parts: &[&str]) -> usize {
    name.rsplit('/').zip(parts.iter().rev()).take_while(|(a, b)| a == *b).count()
}

fn same_begin(name: &str, other: &str) -> usize {
    folder(name).split('/').zip(folder(other).split('/')).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Files and what is in them.
    pub struct Made(pub Vec<Entry>, pub Vec<(&'static str, &'static str)>);

    pub fn tree(files: &[(&'static str, &'static str)]) -> Made {
        let entry = |(name, text): &(&str, &str)| Entry {
            name: (*name).to_owned(),
            bytes: text.len() as u64,
            kind: if *text == "->" { EntryKind::Link } else { EntryKind::File },
        };
        Made(files.iter().map(entry).collect(), files.to_vec())
    }

    impl Tree for Made {
        fn prefix(&self) -> &str {
            "runs/"
        }

        fn place(&self) -> &str {
            "/home/dev/runs"
        }

        fn entries(&self) -> &[Entry] {
            &self.0
        }

        fn read(&self, name: &str) -> Result<Vec<u8>, String> {
            let found = self.1.iter().find(|(known, _)| *known == name);
            found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "it is gone".to_owned())
        }
    }

    #[test]
    fn a_path_leads_to_what_was_listed() {
        let tree = tree(&[("a/out/1.txt", ""), ("b/out/1.txt", ""), ("b/2.txt", ""), ("etc/passwd", "")]);
        let index = Index::new(&tree);
        let found = |path: &str| match index.find(path, "runs/b/.transcripts/t.jsonl") {
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
            assert_eq!(found(path), expected, "{path}");
        }
    }

    #[test]
    fn what_another_agent_keeps_is_not_taken_for_ones_own() {
        let tree =
            tree(&[("a/.transcripts/1.jsonl", ""), ("a/out/x.txt", ""), ("b/.transcripts/2.jsonl", ""), ("all/y.txt", "")]);
        let index = Index::new(&tree);
        let is_there = |path: &str, near: &str| matches!(index.find(path, near), PathMatch::At { .. });
        assert!(is_there(".transcripts/1.jsonl", "runs/a/.transcripts/3.jsonl"));
        assert!(!is_there(".transcripts/1.jsonl", "runs/b/.transcripts/2.jsonl"));
        assert!(!is_there("/old/out/x.txt", "runs/b/.transcripts/2.jsonl"));
        assert!(is_there("/old/y.txt", "runs/b/.transcripts/2.jsonl"), "it is nobody's");
    }
}
