//! Connects the archives of a session, and finds missing history, as the page of
//! [`gap`](mod@crate::findings::rules::gap) describes.

mod group;
mod overwritten;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::message_digest::{ArchiveMarker, MessageDigest};
use super::tree::{EntryKind, Index, PathMatch, folder, last};
use crate::findings::rules::gap;
use crate::findings::{Finding, Level};

pub use group::groups;
pub use overwritten::overwritten;

/// One transcript, as a possible part of a chain.
pub struct Link<'a> {
    /// Path as reports name it.
    pub path: &'a str,
    /// Index of its tree.
    pub tree: usize,
    pub digests: &'a [MessageDigest],
}

/// Archives of one session, the earliest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chain {
    pub files: Vec<ChainFile>,
    pub bytes: u64,
    /// Bytes of messages that an earlier file of the chain has too.
    pub copied: u64,
}

/// One file of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChainFile {
    pub path: String,
    pub messages: usize,
    /// Messages that an earlier file has too.
    pub shared: usize,
    pub bytes: u64,
    pub copied: u64,
}

/// Where the history before a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PriorHistory {
    /// In the transcript with this index.
    Transcript(usize),
    /// In this file, which was not read as a transcript.
    UnreadFile(String),
    /// In no file, for this reason.
    Missing(String),
}

/// A message that replaces earlier messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    /// Index of the transcript with the message.
    pub from: usize,
    /// Index of the message.
    pub message: usize,
    /// Path of the archive that the message names.
    pub path: Option<String>,
    pub history: PriorHistory,
}

/// Returns every message of the transcripts that replaces earlier messages.
pub fn pointers(links: &[Link], trees: &[Index]) -> Vec<Pointer> {
    let by_path: HashMap<&str, usize> = links.iter().enumerate().map(|(at, link)| (link.path, at)).collect();
    let pointer = |from: usize, message: usize| {
        let link = &links[from];
        let (path, history) = match link.digests[message].archive_marker.as_ref()? {
            ArchiveMarker::Archived(path) => (Some(path.clone()), named_archive(path, link, &trees[link.tree], &by_path)),
            // Without a path, only the first message of a transcript replaces messages that the transcript does not hold.
            ArchiveMarker::Unnamed if message > 0 => return None,
            ArchiveMarker::Unnamed => (None, previous_archive(from, links)),
        };
        Some(Pointer { from, message, path, history })
    };
    let messages = links.iter().enumerate().flat_map(|(from, link)| (0..link.digests.len()).map(move |message| (from, message)));
    messages.filter_map(|(from, message)| pointer(from, message)).collect()
}

/// Finds the archive that a message names by its path.
fn named_archive(path: &str, link: &Link, tree: &Index, by_path: &HashMap<&str, usize>) -> PriorHistory {
    match tree.find(path, link.path) {
        // An archive is in the folder of the archive that names it. An archive of the same name in another folder belongs to another
        // session.
        PathMatch::At { entry, .. }
            if folder_name(path) == folder_name(link.path) && folder(&tree.shown(entry)) != folder(link.path) =>
        {
            PriorHistory::Missing("is not in the same folder".to_owned())
        }
        PathMatch::At { entry, .. } if entry.kind == EntryKind::File => {
            let shown = tree.shown(entry);
            let transcript = by_path.get(shown.as_str()).copied();
            transcript.map_or(PriorHistory::UnreadFile(shown), PriorHistory::Transcript)
        }
        PathMatch::At { .. } => PriorHistory::Missing("is a link or not a regular file, and was not opened".to_owned()),
        PathMatch::Nowhere => PriorHistory::Missing("is not in the tree".to_owned()),
        PathMatch::Outside => PriorHistory::Missing("is not in the tree, and files outside the tree are not opened".to_owned()),
    }
}

/// Returns the name of the folder of a file, with slashes or backslashes.
fn folder_name(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\']).nth(1)
}

/// Finds the archive with the next lower number in the same folder.
fn previous_archive(from: usize, links: &[Link]) -> PriorHistory {
    let own = links[from].path;
    let Some(number) = number(own) else {
        return PriorHistory::Missing("and the name of this file has no number".to_owned());
    };
    let siblings = links.iter().enumerate().filter(|(_, link)| folder(link.path) == folder(own) && stem(link.path) == stem(own));
    let earlier = siblings.filter_map(|(at, link)| Some((self::number(link.path)?, at))).filter(|(other, _)| *other < number);
    let missing = || PriorHistory::Missing("and its folder has no archive with a lower number".to_owned());
    earlier.max().map_or_else(missing, |(_, at)| PriorHistory::Transcript(at))
}

/// Returns the last number in a file's name: `transcript_1719400000.jsonl`.
pub fn number(path: &str) -> Option<u128> {
    let (begin, end) = digits(path)?;
    last(path)[begin..end].parse().ok()
}

/// Returns the parts of a file's name before and after that number.
fn stem(path: &str) -> (&str, &str) {
    let name = last(path);
    digits(path).map_or((name, ""), |(begin, end)| (&name[..begin], &name[end..]))
}

/// Returns a key for natural order, which compares numbers as numbers: `t_2` comes before `t_10`.
pub fn natural_key(path: &str) -> Vec<(bool, u128, &str)> {
    let mut parts = Vec::new();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(rest.len());
        let (part, tail) = rest.split_at(end);
        // Numbers come before letters; numbers that overflow come last.
        parts.push((!is_number, if is_number { part.parse().unwrap_or(u128::MAX) } else { 0 }, part));
        rest = tail;
    }
    parts
}

/// Returns the range of the last number in a file's name.
fn digits(path: &str) -> Option<(usize, usize)> {
    let name = last(path);
    let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
    let begin = name[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |before| before + name[before..].chars().next().map_or(1, char::len_utf8));
    Some((begin, end))
}

/// Builds the chain of a group in order, with the messages that each file shares with the files before it.
pub fn chain(links: &[Link], order: &[usize]) -> Chain {
    let mut known: HashSet<u64> = HashSet::new();
    let chain_file = |at: &usize| {
        let Link { path, digests, .. } = &links[*at];
        let shared: Vec<&MessageDigest> = digests.iter().filter(|message| known.contains(&message.digest)).collect();
        let file = ChainFile {
            path: (*path).to_owned(),
            messages: digests.len(),
            shared: shared.len(),
            bytes: digests.iter().map(|message| message.bytes).sum(),
            copied: shared.iter().map(|message| message.bytes).sum(),
        };
        known.extend(digests.iter().map(|message| message.digest));
        file
    };
    let files: Vec<ChainFile> = order.iter().map(chain_file).collect();
    Chain { bytes: files.iter().map(|file| file.bytes).sum(), copied: files.iter().map(|file| file.copied).sum(), files }
}

/// Reports missing histories: one finding for each missing archive, at the first message that needs it.
pub fn gaps(links: &[Link], pointers: &[Pointer]) -> Vec<Finding> {
    let mut missing: BTreeMap<(usize, &str, &str), (&Pointer, usize)> = BTreeMap::new();
    for pointer in pointers.iter().filter(|pointer| matches!(pointer.history, PriorHistory::Missing(_))) {
        // A pointer without a path counts as a missing archive of its own.
        let name = pointer.path.as_deref().unwrap_or(links[pointer.from].path);
        let Link { path, tree, .. } = links[pointer.from];
        // A relative path is unique only within the folder of the session.
        let folder = if name.starts_with('/') { "" } else { folder(path) };
        missing.entry((tree, folder, name)).or_insert((pointer, 0)).1 += 1;
    }
    let gap = |(pointer, times): (&Pointer, usize)| {
        let PriorHistory::Missing(why) = &pointer.history else { return None };
        let message = match &pointer.path {
            Some(path) => format!("the history before this message is in {path}, which {why}"),
            None => format!("the history before this message was removed without the path of an archive, {why}"),
        };
        let data = [("archive", pointer.path.clone().into()), ("times", times.into())];
        Some(finding(gap::ID, &links[pointer.from], pointer.message, message, data))
    };
    missing.into_values().filter_map(gap).collect()
}

/// Creates a finding about an archive, at a message of a transcript.
fn finding(
    id: &str,
    link: &Link,
    message: usize,
    text: String,
    data: impl IntoIterator<Item = (&'static str, serde_json::Value)>,
) -> Finding {
    Finding {
        id: id.to_owned(),
        level: Level::Error,
        path: link.path.to_owned(),
        line: link.digests.get(message).map(|digest| digest.line),
        call: None,
        message: text,
        data: data.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        conversation: None,
        policy: None,
    }
}

#[cfg(test)]
mod tests;
