//! The files that a patch changes: Codex's own notation (`*** Update File: …`), and unified diffs.

use std::borrow::Cow;

use super::is_path;

/// What a patch in Codex's notation begins with.
pub const BEGIN: &str = "*** Begin Patch";

const CHANGES: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

/// The files a text changes if it is a patch in either notation.
pub fn targets(text: &str) -> Vec<Cow<'_, str>> {
    if text.contains(BEGIN) {
        let named = text.lines().filter_map(|line| CHANGES.iter().find_map(|change| line.strip_prefix(change)));
        return named.map(str::trim).filter(|path| is_path(path)).map(Cow::Borrowed).collect();
    }
    targets_of_diff(text)
}

/// The files that the headers of a unified diff name (`--- a/old`, then `+++ b/new`). A file that is removed has no new name.
pub fn targets_of_diff(text: &str) -> Vec<Cow<'_, str>> {
    let mut found = Vec::new();
    let mut before = "";
    for line in text.lines() {
        if let (Some(old), Some(new)) = (before.strip_prefix("--- "), line.strip_prefix("+++ ")) {
            let (old, new) = (name(old, "a/"), name(new, "b/"));
            found.extend(Some(if new == "/dev/null" { old } else { new }).filter(|path| is_path(path)).map(Cow::Borrowed));
        }
        before = line;
    }
    found
}

/// The file's name in a header: no time stamp behind it, and not the folder that `git diff` invents.
fn name<'a>(header: &'a str, invented: &str) -> &'a str {
    let name = header.split('\t').next().unwrap_or_default().trim();
    name.strip_prefix(invented).unwrap_or(name)
}
