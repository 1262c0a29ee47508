//! Detects archives that were overwritten by a later archive.

use std::collections::{BTreeMap, HashSet};

use super::{Link, Pointer, PriorHistory, finding};
use crate::analysis::audit::tree::folder;
use crate::findings::Finding;

/// Reports the finding `overwrite` for files: an archive that does not hold the history that its pointers refer to.
pub fn overwritten(links: &[Link], pointers: &[Pointer]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut reported: HashSet<usize> = HashSet::new();
    // If two archives had one name, only the later is left. It begins with the summary of the earlier one, so it points to itself.
    for pointer in pointers.iter().filter(|pointer| pointer.history == PriorHistory::Transcript(pointer.from)) {
        if reported.insert(pointer.from) {
            let path = links[pointer.from].path;
            let text = format!(
                "{path} names itself as the archive of its earlier history, so a later archive overwrote the earlier one"
            );
            findings.push(finding("overwrite", &links[pointer.from], pointer.message, text, data(path)));
        }
    }
    for ((_, path), pointers) in pointers_by_archive(links, pointers) {
        let different: HashSet<u64> = pointers.iter().map(|pointer| digest(links, pointer)).collect();
        let archive = match &pointers[0].history {
            PriorHistory::Transcript(at) => Some(*at),
            PriorHistory::UnreadFile(_) | PriorHistory::Missing(_) => None,
        };
        if different.len() > 1 && archive.is_none_or(|at| reported.insert(at)) {
            let later = pointers.iter().rev().find(|pointer| digest(links, pointer) != digest(links, pointers[0]));
            let later = later.unwrap_or(&pointers[0]);
            let text = format!(
                "{} different compactions name the archive {path}, which can hold the history of only one",
                different.len()
            );
            findings.push(finding("overwrite", &links[later.from], later.message, text, data(&path)));
        }
    }
    for pointer in pointers {
        let PriorHistory::Transcript(at) = pointer.history else { continue };
        let missing = count_missing_answers(&links[at], &links[pointer.from], pointer.message);
        if missing > 0 && reported.insert(at) {
            let path = links[at].path;
            let text = format!("{path} lacks {missing} answers that come before the pointer to it, so it holds another history");
            findings.push(finding("overwrite", &links[pointer.from], pointer.message, text, data(path)));
        }
    }
    findings
}

fn data(path: &str) -> [(&'static str, serde_json::Value); 1] {
    [("path", path.into())]
}

/// Returns the digest of a pointer's message.
fn digest(links: &[Link], pointer: &Pointer) -> u64 {
    links[pointer.from].digests[pointer.message].digest
}

/// Groups pointers by the path of their archive. A missing archive is identified by the folder of its pointers and the path they name.
fn pointers_by_archive<'a>(links: &[Link], pointers: &'a [Pointer]) -> BTreeMap<(String, String), Vec<&'a Pointer>> {
    let mut by_archive: BTreeMap<(String, String), Vec<&Pointer>> = BTreeMap::new();
    for pointer in pointers {
        let Some(path) = &pointer.path else { continue };
        let key = match &pointer.history {
            PriorHistory::Transcript(at) => (String::new(), links[*at].path.to_owned()),
            PriorHistory::UnreadFile(shown) => (String::new(), shown.clone()),
            PriorHistory::Missing(_) => (folder(links[pointer.from].path).to_owned(), path.clone()),
        };
        by_archive.entry(key).or_default().push(pointer);
    }
    by_archive
}

/// Counts the answers before a pointer that its archive lacks. The archive was written after these answers.
fn count_missing_answers(archive: &Link, from: &Link, message: usize) -> usize {
    let archived: HashSet<u64> = archive.digests.iter().map(|message| message.digest).collect();
    from.digests[..message].iter().filter(|message| message.answer && !archived.contains(&message.digest)).count()
}
