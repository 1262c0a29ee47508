//! Finds what the page of [`gap`](mod@crate::findings::rules::gap) describes.

mod group;
mod overwritten;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::message_digest::{Fold, MessageDigest};
use super::tree::{EntryKind, Index, PathMatch, folder, last};
use crate::findings::rules::gap;
use crate::findings::{Finding, Level};

pub use group::groups;
pub use overwritten::overwritten;

/// What a chain is made of: one transcript.
pub struct Link<'a> {
    /// As reports name it.
    pub path: &'a str,
    /// Which tree it is of.
    pub tree: usize,
    pub said: &'a [MessageDigest],
}

/// Archives of one session, the earliest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chain {
    pub files: Vec<Part>,
    pub bytes: u64,
    /// Bytes of messages that an earlier file of the chain has too.
    pub copied: u64,
}

/// One file of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    pub path: String,
    pub messages: usize,
    /// Messages that an earlier file has too.
    pub shared: usize,
    pub bytes: u64,
    pub copied: u64,
}

/// Where the history before a transcript is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// In this transcript, by its index.
    In(usize),
    /// In a file that was not read as a transcript.
    Unread(String),
    /// In no file; this is why.
    Nowhere(String),
}

/// One place of a transcript that stands for earlier messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    pub from: usize,
    /// Index of the message.
    pub message: usize,
    pub path: Option<String>,
    pub before: Before,
}

/// Every place of the transcripts that stands for earlier messages.
pub fn pointers(links: &[Link], trees: &[Index]) -> Vec<Pointer> {
    let by_path: HashMap<&str, usize> = links.iter().enumerate().map(|(at, link)| (link.path, at)).collect();
    let lead = |from: usize, message: usize| {
        let link = &links[from];
        let (path, before) = match link.said[message].fold.as_ref()? {
            Fold::Archived(path) => (Some(path.clone()), named(path, link, &trees[link.tree], &by_path)),
            // Only what a transcript begins with stands for messages that it does not hold.
            Fold::Unnamed if message > 0 => return None,
            Fold::Unnamed => (None, unnamed(from, links)),
        };
        Some(Pointer { from, message, path, before })
    };
    let lead = &lead;
    let messages = links.iter().enumerate().flat_map(|(from, link)| (0..link.said.len()).map(move |message| (from, message)));
    messages.filter_map(|(from, message)| lead(from, message)).collect()
}

fn named(path: &str, link: &Link, tree: &Index, by_path: &HashMap<&str, usize>) -> Before {
    match tree.find(path, link.path) {
        // An archive that another names is of its folder; another folder has another session's, of the same name.
        PathMatch::At { entry, .. }
            if last_folder(path) == last_folder(link.path) && folder(&tree.shown(entry)) != folder(link.path) =>
        {
            Before::Nowhere("does not lie beside it".to_owned())
        }
        PathMatch::At { entry, .. } if entry.kind == EntryKind::File => {
            let shown = tree.shown(entry);
            by_path.get(shown.as_str()).map_or(Before::Unread(shown.clone()), |at| Before::In(*at))
        }
        PathMatch::At { .. } => Before::Nowhere("is a link or no file there, and was not opened".to_owned()),
        PathMatch::Nowhere => Before::Nowhere("is not in the tree".to_owned()),
        PathMatch::Outside => Before::Nowhere("is not in the tree, and nothing outside of it is opened".to_owned()),
    }
}

/// The name of the folder a file is in, as either system writes it.
fn last_folder(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\']).nth(1)
}

/// The archive with the next lower number beside it.
fn unnamed(from: usize, links: &[Link]) -> Before {
    let own = links[from].path;
    let Some(number) = number(own) else { return Before::Nowhere("and its name has no number".to_owned()) };
    let beside = links.iter().enumerate().filter(|(_, link)| folder(link.path) == folder(own) && stem(link.path) == stem(own));
    let lower = beside.filter_map(|(at, link)| Some((self::number(link.path)?, at))).filter(|(other, _)| *other < number);
    let none = || Before::Nowhere("and no archive with a lower number lies beside it".to_owned());
    lower.max().map_or_else(none, |(_, at)| Before::In(at))
}

/// The last number in a file's name: `transcript_1719400000.jsonl`.
pub fn number(path: &str) -> Option<u128> {
    let (begin, end) = digits(path)?;
    last(path)[begin..end].parse().ok()
}

/// A file's name without that number.
fn stem(path: &str) -> (&str, &str) {
    let name = last(path);
    digits(path).map_or((name, ""), |(begin, end)| (&name[..begin], &name[end..]))
}

/// A path in parts, its numbers as numbers: `t_2` stands before `t_10`.
pub fn natural(path: &str) -> Vec<(bool, u128, &str)> {
    let mut parts = Vec::new();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(rest.len());
        let (part, tail) = rest.split_at(end);
        // Numbers before letters; what is too large for a number comes last.
        parts.push((!is_number, if is_number { part.parse().unwrap_or(u128::MAX) } else { 0 }, part));
        rest = tail;
    }
    parts
}

fn digits(path: &str) -> Option<(usize, usize)> {
    let name = last(path);
    let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
    let begin = name[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |before| before + name[before..].chars().next().map_or(1, char::len_utf8));
    Some((begin, end))
}

/// The chains of a group that is in order: what each file has of the files before it.
pub fn chain(links: &[Link], order: &[usize]) -> Chain {
    let mut known: HashSet<u64> = HashSet::new();
    let part = |at: &usize| {
        let Link { path, said, .. } = &links[*at];
        let shared: Vec<&MessageDigest> = said.iter().filter(|one| known.contains(&one.digest)).collect();
        let part = Part {
            path: (*path).to_owned(),
            messages: said.len(),
            shared: shared.len(),
            bytes: said.iter().map(|one| one.bytes).sum(),
            copied: shared.iter().map(|one| one.bytes).sum(),
        };
        known.extend(said.iter().map(|one| one.digest));
        part
    };
    let files: Vec<Part> = order.iter().map(part).collect();
    Chain { bytes: files.iter().map(|file| file.bytes).sum(), copied: files.iter().map(|file| file.copied).sum(), files }
}

/// The histories that are nowhere: one for each archive that is missing, at the first place that needs it.
pub fn gaps(links: &[Link], pointers: &[Pointer]) -> Vec<Finding> {
    let mut missing: BTreeMap<(usize, &str, &str), (&Pointer, usize)> = BTreeMap::new();
    for pointer in pointers.iter().filter(|pointer| matches!(pointer.before, Before::Nowhere(_))) {
        // One that names nothing is missing for itself.
        let name = pointer.path.as_deref().unwrap_or(links[pointer.from].path);
        let Link { path, tree, .. } = links[pointer.from];
        // Where a path begins is the session's own affair, unless it begins at the root.
        let folder = if name.starts_with('/') { "" } else { folder(path) };
        missing.entry((tree, folder, name)).or_insert((pointer, 0)).1 += 1;
    }
    let gap = |(pointer, times): (&Pointer, usize)| {
        let Before::Nowhere(why) = &pointer.before else { return None };
        let message = match &pointer.path {
            Some(path) => format!("the history before this is in {path}, which {why}"),
            None => format!("the history before this was taken away without a path, {why}"),
        };
        let data = [("archive", pointer.path.clone().into()), ("times", times.into())];
        Some(finding(gap::ID, &links[pointer.from], pointer.message, message, data))
    };
    missing.into_values().filter_map(gap).collect()
}

/// A finding about what an archive should hold.
fn finding(
    id: &str,
    link: &Link,
    message: usize,
    what: String,
    data: impl IntoIterator<Item = (&'static str, serde_json::Value)>,
) -> Finding {
    Finding {
        id: id.to_owned(),
        level: Level::Error,
        path: link.path.to_owned(),
        line: link.said.get(message).map(|said| said.line),
        call: None,
        message: what,
        data: data.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        conversation: None,
        policy: None,
    }
}

#[cfg(test)]
mod tests;
