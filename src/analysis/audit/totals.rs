//! Totals of an audit: bytes in all, bytes that exist twice, and files that no marker names.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::archive_chain::{Pointer, PriorHistory};
use super::tree::{EntryKind, Index};
use super::{Audit, TranscriptAudit};

/// Folders that harnesses move tool results to: `tool-results` of learn-claude-code and Claude Code, `tool-outputs` of gemini-cli.
const RESULTS: [&str; 2] = ["tool-results", "tool-outputs"];
/// Folder of learn-claude-code's archives.
pub const ARCHIVES: &str = ".transcripts";

/// Sums over everything that was audited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    pub transcripts: usize,
    /// Bytes of all transcripts, decompressed.
    pub bytes: u64,
    /// Transcripts that a harness wrote as copies before it removed something.
    pub archives: usize,
    pub archive_bytes: u64,
    /// Bytes of messages that an earlier file of the same session has too.
    pub copied_bytes: u64,
    /// Files that markers name and that exist.
    pub persisted: usize,
    pub persisted_bytes: u64,
    /// Files in the folders of tool results that no marker of the audited transcripts names.
    pub orphans: Vec<Orphan>,
    pub orphan_bytes: u64,
}

/// A tool result on disk that no marker names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Orphan {
    pub path: String,
    pub bytes: u64,
}

impl Totals {
    pub(super) fn new(
        audit: &Audit,
        archives: &BTreeSet<String>,
        trees: &[Index],
        persisted: &BTreeMap<(usize, String), u64>,
    ) -> Self {
        let bytes = |transcript: &&super::Transcript| transcript.bytes;
        let of_archives = audit.transcripts.iter().filter(|transcript| archives.contains(&transcript.path));
        // One tree may be inside another, so that both list the same file under different names.
        let shown = |tree: usize, name: &str| format!("{}{name}", trees[tree].tree.prefix());
        let named: BTreeMap<String, u64> = persisted.iter().map(|((tree, name), bytes)| (shown(*tree, name), *bytes)).collect();
        let files = trees.iter().flat_map(|tree| tree.tree.entries().iter().map(move |entry| (tree, entry)));
        let results = files.filter(|(_, entry)| entry.kind == EntryKind::File && in_results(&entry.name));
        let orphans = results.map(|(tree, entry)| Orphan { path: tree.shown(entry), bytes: entry.bytes });
        let orphans: BTreeSet<Orphan> = orphans.filter(|orphan| !named.contains_key(&orphan.path)).collect();
        Self {
            transcripts: audit.transcripts.len(),
            bytes: audit.transcripts.iter().map(|transcript| transcript.bytes).sum(),
            archives: of_archives.clone().count(),
            archive_bytes: of_archives.map(|transcript| bytes(&transcript)).sum(),
            copied_bytes: audit.chains.iter().map(|chain| chain.copied).sum(),
            persisted: named.len(),
            persisted_bytes: named.values().sum(),
            orphan_bytes: orphans.iter().map(|orphan| orphan.bytes).sum(),
            orphans: orphans.into_iter().collect(),
        }
    }
}

/// Returns the paths of the transcripts that are archives: they are in a folder of archives, or other transcripts name them.
pub fn archives(transcripts: &[TranscriptAudit], pointers: &[Pointer]) -> BTreeSet<String> {
    let named = pointers.iter().filter_map(|pointer| match pointer.history {
        PriorHistory::Transcript(at) => Some(transcripts[at].transcript.path.as_str()),
        _ => None,
    });
    let paths = transcripts.iter().map(|transcript_audit| transcript_audit.transcript.path.as_str());
    let in_archive_folder = paths.filter(|path| path.split('/').rev().nth(1) == Some(ARCHIVES));
    named.chain(in_archive_folder).map(str::to_owned).collect()
}

fn in_results(name: &str) -> bool {
    name.split('/').rev().nth(1).is_some_and(|folder| RESULTS.contains(&folder))
}
