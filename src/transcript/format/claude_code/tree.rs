//! Which records form the conversation. Records name their parent, and the parents form a tree: an edited prompt or a rewind
//! makes a second branch. Parallel tool calls look like branches and are none, so a branch is a path back from its last record
//! together with the other lines of each response on it, the results of all their tool calls, and what hangs on them.

use std::collections::{HashMap, HashSet};
use std::mem;

use super::kept::Kept;
use super::record::Record;
use super::text::Text;
use super::threads::Threads;

/// One path through the tree, from its root.
pub struct Branch {
    /// Its records, in the order of the file.
    pub records: Vec<usize>,
    /// Those that no branch ending later holds.
    pub own: Vec<usize>,
}

pub struct Tree<'a> {
    records: &'a [Record],
    threads: &'a Threads<'a>,
    parents: Vec<Option<usize>>,
    /// Attachments and system records that nothing said hangs on, by what they hang on.
    hanging: HashMap<usize, Vec<usize>>,
    /// Lines of one response, and answers to one tool call, by thread and id.
    lines: HashMap<(usize, &'a str), Vec<usize>>,
    answers: HashMap<(usize, &'a str), Vec<usize>>,
}

impl<'a> Tree<'a> {
    pub fn new(records: &'a [Record], threads: &'a Threads<'a>) -> Self {
        let parents = parents(records, threads);
        let mut tree = Self {
            records,
            threads,
            hanging: hanging(records, &parents),
            parents,
            lines: HashMap::new(),
            answers: HashMap::new(),
        };
        for (i, record) in records.iter().enumerate() {
            let Some(thread) = threads.of[i].filter(|_| record.is_said()) else { continue };
            if let Some(id) = record.response_id() {
                tree.lines.entry((thread, id)).or_default().push(i);
            }
            for id in &record.answers {
                tree.answers.entry((thread, id)).or_default().push(i);
            }
        }
        tree
    }

    /// The branches of every thread, the one that ends last first, the others by the line of their first own record.
    /// `records` of the others is their whole path only if `whole`: else it is what they have of their own.
    pub fn branches(&self, whole: bool) -> Vec<Vec<Branch>> {
        let mut threads: Vec<Vec<Branch>> = self.threads.names.iter().map(|_| Vec::new()).collect();
        let mut claimed = vec![false; self.records.len()];
        for (i, record) in self.records.iter().enumerate().rev() {
            let Some(thread) = self.threads.of[i].filter(|_| record.is_said() && !claimed[i]) else { continue };
            let own = self.path(i, |i| !mem::replace(&mut claimed[i], true));
            let first = threads[thread].is_empty();
            let records = if whole && !first {
                let mut seen = HashSet::new();
                self.path(i, |i| seen.insert(i))
            } else {
                own.clone()
            };
            threads[thread].push(Branch { records, own });
        }
        for branches in &mut threads {
            if let Some((_, others)) = branches.split_first_mut() {
                others.sort_by_key(|branch| branch.own.first().copied());
            }
        }
        threads
    }

    /// What is on the path from `leaf` to its root, in the order of the file. `enter` says whether a record is seen for the
    /// first time; the path does not go on behind the others.
    fn path(&self, leaf: usize, mut enter: impl FnMut(usize) -> bool) -> Vec<usize> {
        let mut path = Vec::new();
        let mut open = vec![leaf];
        while let Some(i) = open.pop() {
            if !enter(i) {
                continue;
            }
            path.push(i);
            open.extend(self.parents[i]);
            open.extend(self.hanging.get(&i).into_iter().flatten());
            let (record, Some(thread)) = (&self.records[i], self.threads.of[i]) else { continue };
            if record.is_said() {
                let lines = record.response_id().and_then(|id| self.lines.get(&(thread, id)));
                open.extend(lines.into_iter().flatten());
                open.extend(record.calls.iter().filter_map(|id| self.answers.get(&(thread, id.as_str()))).flatten());
            }
        }
        path.sort_unstable();
        path
    }
}

/// The parent of each record within its thread. Where the record names none that is in the file, what was said before it is its
/// parent, so that nothing is lost behind a record that was skipped.
fn parents(records: &[Record], threads: &Threads) -> Vec<Option<usize>> {
    let mut latest: Vec<Latest> = threads.names.iter().map(|_| Latest::default()).collect();
    let mut parents = Vec::with_capacity(records.len());
    for (i, record) in records.iter().enumerate() {
        let Some(thread) = threads.of[i] else {
            parents.push(None);
            continue;
        };
        let latest = &mut latest[thread];
        let known = |text: &Text| text.get().and_then(|uuid| threads.find(uuid, thread)).filter(|parent| *parent != i);
        parents.push(if record.is_compact_boundary() {
            let kept = Kept::of(record, thread, threads, latest.boundary.as_ref().map_or(0, |b| b.at));
            let before = [known(&record.parent_uuid), known(&record.logical_parent_uuid), kept.last()];
            let before = before.into_iter().flatten().filter(|parent| *parent < i).max();
            let parent = if kept.leads() { latest.said } else { before.or(latest.said) };
            latest.boundary = Some(Boundary { at: i, end: i, open: true, kept });
            parent
        } else {
            match known(&record.parent_uuid) {
                Some(parent) => Some(latest.relinked(i, parent)),
                // A summary whose boundary is not in the file continues what is.
                None if record.parent_uuid == Text::Null && !record.is_summary() => None,
                None => latest.said,
            }
        });
        latest.enter(i, record);
    }
    parents
}

/// What a thread has come to.
#[derive(Default)]
struct Latest {
    said: Option<usize>,
    boundary: Option<Boundary>,
}

struct Boundary {
    at: usize,
    /// The last record of what the compaction wrote: boundary, summary, restored attachments.
    end: usize,
    open: bool,
    kept: Kept,
}

impl Latest {
    /// What follows a compaction may hang on the kept tail, whose records stand before the boundary: then it hangs on what the
    /// compaction wrote.
    fn relinked(&self, i: usize, parent: usize) -> usize {
        match &self.boundary {
            Some(boundary) if parent < boundary.at && boundary.kept.contains(parent) => boundary.end.min(i),
            _ => parent,
        }
    }

    fn enter(&mut self, i: usize, record: &Record) {
        if record.is_said() {
            self.said = Some(i);
        }
        if let Some(boundary) = self.boundary.as_mut().filter(|boundary| boundary.open) {
            boundary.open = !record.is_said() || record.is_summary();
            if boundary.open {
                boundary.end = i;
            }
        }
    }
}

/// Records that are not said and that nothing said hangs on, by their parent.
fn hanging(records: &[Record], parents: &[Option<usize>]) -> HashMap<usize, Vec<usize>> {
    let mut carries = vec![false; records.len()];
    for (i, record) in records.iter().enumerate() {
        let mut next = if record.is_said() { parents[i] } else { None };
        while let Some(parent) = next.filter(|parent| !carries[*parent] && !records[*parent].is_said()) {
            carries[parent] = true;
            next = parents[parent];
        }
    }
    let mut hanging: HashMap<usize, Vec<usize>> = HashMap::new();
    for (i, record) in records.iter().enumerate() {
        if let Some(parent) = parents[i].filter(|_| !carries[i] && !record.is_said()) {
            hanging.entry(parent).or_default().push(i);
        }
    }
    hanging
}
