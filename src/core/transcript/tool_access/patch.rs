//! Finds the files that a patch changes: in Codex's notation (`*** Update File: …`) and in unified diffs.

use std::borrow::Cow;

use super::is_path;

/// First line of a patch in Codex's notation.
pub const BEGIN: &str = "*** Begin Patch";

const FILE_HEADERS: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

/// Returns the files that a patch in either notation changes; nothing if the text is not a patch.
pub fn targets(text: &str) -> Vec<Cow<'_, str>> {
    if text.contains(BEGIN) {
        let named = text.lines().filter_map(|line| FILE_HEADERS.iter().find_map(|change| line.strip_prefix(change)));
        return named.map(str::trim).filter(|path| is_path(path)).map(Cow::Borrowed).collect();
    }
    targets_of_diff(text)
}

/// Returns the files in the headers of a unified diff (`--- a/old`, then `+++ b/new`). For a deleted file, it returns the old name.
pub fn targets_of_diff(text: &str) -> Vec<Cow<'_, str>> {
    let mut paths = Vec::new();
    let mut previous = "";
    for line in text.lines() {
        if let (Some(old), Some(new)) = (previous.strip_prefix("--- "), line.strip_prefix("+++ ")) {
            let (old, new) = (header_path(old, "a/"), header_path(new, "b/"));
            paths.extend(Some(if new == "/dev/null" { old } else { new }).filter(|path| is_path(path)).map(Cow::Borrowed));
        }
        previous = line;
    }
    paths
}

/// Returns the path in a header, without the time stamp and without the prefix that `git diff` adds (`a/` or `b/`).
fn header_path<'a>(header: &'a str, prefix: &str) -> &'a str {
    let name = header.split('\t').next().unwrap_or_default().trim();
    name.strip_prefix(prefix).unwrap_or(name)
}
