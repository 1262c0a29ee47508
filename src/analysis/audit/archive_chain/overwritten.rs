//! Archives that another was written over.

use std::collections::{BTreeMap, HashSet};

use super::{Before, Link, Pointer, finding};
use crate::analysis::audit::tree::folder;
use crate::findings::Finding;

/// What `overwrite` means in files: an archive that does not hold what its pointers were written for.
pub fn overwritten(links: &[Link], pointers: &[Pointer]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut told: HashSet<usize> = HashSet::new();
    // Of two that were written under one name the later is left: it begins with the summary of the earlier, and points to itself.
    for pointer in pointers.iter().filter(|pointer| pointer.before == Before::In(pointer.from)) {
        if told.insert(pointer.from) {
            let path = links[pointer.from].path;
            let what = format!("{path} says that the history before it is in itself: a later archive was written over it");
            found.push(finding("overwrite", &links[pointer.from], pointer.message, what, data(path)));
        }
    }
    for ((_, path), of) in by_archive(links, pointers) {
        let different: HashSet<u64> = of.iter().map(|pointer| said(links, pointer)).collect();
        let before = match &of[0].before {
            Before::In(at) => Some(*at),
            Before::Unread(_) | Before::Nowhere(_) => None,
        };
        if different.len() > 1 && before.is_none_or(|at| told.insert(at)) {
            let later = of.iter().rev().find(|pointer| said(links, pointer) != said(links, of[0])).unwrap_or(&of[0]);
            let what =
                format!("{} different compactions name the archive {path}, which can hold the history of one", different.len());
            found.push(finding("overwrite", &links[later.from], later.message, what, data(&path)));
        }
    }
    for pointer in pointers {
        let Before::In(at) = pointer.before else { continue };
        let lacks = lacking(&links[at], &links[pointer.from], pointer.message);
        if lacks > 0 && told.insert(at) {
            let path = links[at].path;
            let what = format!("{path} lacks {lacks} answers that stand before the pointer to it: it holds another history");
            found.push(finding("overwrite", &links[pointer.from], pointer.message, what, data(path)));
        }
    }
    found
}

fn data(path: &str) -> [(&'static str, serde_json::Value); 1] {
    [("path", path.into())]
}

fn said(links: &[Link], pointer: &Pointer) -> u64 {
    links[pointer.from].said[pointer.message].digest
}

/// The pointers to each archive, by where it is; where it is not, by the folder of who names it.
fn by_archive<'a>(links: &[Link], pointers: &'a [Pointer]) -> BTreeMap<(String, String), Vec<&'a Pointer>> {
    let mut by: BTreeMap<(String, String), Vec<&Pointer>> = BTreeMap::new();
    for pointer in pointers {
        let Some(path) = &pointer.path else { continue };
        let key = match &pointer.before {
            Before::In(at) => (String::new(), links[*at].path.to_owned()),
            Before::Unread(shown) => (String::new(), shown.clone()),
            Before::Nowhere(_) => (folder(links[pointer.from].path).to_owned(), path.clone()),
        };
        by.entry(key).or_default().push(pointer);
    }
    by
}

/// How many answers before a pointer its archive lacks. The archive was written when they had been given.
fn lacking(archive: &Link, from: &Link, message: usize) -> usize {
    let holds: HashSet<u64> = archive.said.iter().map(|said| said.digest).collect();
    from.said[..message].iter().filter(|said| said.answer && !holds.contains(&said.digest)).count()
}
