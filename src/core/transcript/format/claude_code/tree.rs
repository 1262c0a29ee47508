//! Finds the branches of a session. Records name their parent, and so form a tree: an edited prompt or a rewind makes a new branch.
//!
//! Parallel tool calls look like branches but are not. So a branch is the path from its last record to the root, plus the other lines of
//! each response on the path, the results of all their tool calls, and records attached to these.

use std::collections::{HashMap, HashSet};
use std::{iter, mem};

use super::kept::Kept;
use super::record::Record;
use super::text::Text;
use super::threads::Threads;

/// One path through the tree, from its root.
pub struct Branch {
    /// The records of the branch, in the order of the file.
    pub records: Vec<usize>,
    /// The records that are not in a branch that ends later.
    pub own: Vec<usize>,
}

/// The records of a file as a tree.
pub struct Tree<'a> {
    records: &'a [Record],
    threads: &'a Threads<'a>,
    parents: Vec<Option<usize>>,
    /// Attachments and system records without a message below them, by parent.
    attached: HashMap<usize, Vec<usize>>,
    /// Lines of one response, by thread and response id.
    response_records: HashMap<(usize, &'a str), Vec<usize>>,
    /// Results of one tool call, by thread and call id.
    result_records: HashMap<(usize, &'a str), Vec<usize>>,
}

impl<'a> Tree<'a> {
    pub fn new(records: &'a [Record], threads: &'a Threads<'a>) -> Self {
        let parents = parents(records, threads);
        let mut tree = Self {
            records,
            threads,
            attached: attached(records, &parents),
            parents,
            response_records: HashMap::new(),
            result_records: HashMap::new(),
        };
        for (i, record) in records.iter().enumerate() {
            let Some(thread) = threads.thread_of[i].filter(|_| record.is_conversation()) else { continue };
            if let Some(id) = record.response_id() {
                tree.response_records.entry((thread, id)).or_default().push(i);
            }
            for id in &record.answers {
                tree.result_records.entry((thread, id)).or_default().push(i);
            }
        }
        tree
    }

    /// Returns the branches of each thread: first the one that ends last, then the others in the order of their first own record.
    /// [`Branch::records`] of these others is the whole path with `whole`; otherwise only their own records.
    pub fn branches(&self, whole: bool) -> Vec<Vec<Branch>> {
        let mut threads: Vec<Vec<Branch>> = self.threads.names.iter().map(|_| Vec::new()).collect();
        let mut claimed = vec![false; self.records.len()];
        for (i, record) in self.records.iter().enumerate().rev() {
            let Some(thread) = self.threads.thread_of[i].filter(|_| record.is_conversation() && !claimed[i]) else { continue };
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

    /// Returns the records on the path from `leaf` to its root, in the order of the file. `enter` returns whether a record is visited
    /// for the first time; the path stops at records visited before.
    fn path(&self, leaf: usize, mut enter: impl FnMut(usize) -> bool) -> Vec<usize> {
        let mut path = Vec::new();
        let mut open = vec![leaf];
        // Each response and each tool call adds its records once, however many records name it.
        let (mut responses, mut calls) = (HashSet::new(), HashSet::new());
        while let Some(i) = open.pop() {
            if !enter(i) {
                continue;
            }
            path.push(i);
            open.extend(self.parents[i]);
            open.extend(self.attached.get(&i).into_iter().flatten());
            let (record, Some(thread)) = (&self.records[i], self.threads.thread_of[i]) else { continue };
            if record.is_conversation() {
                let response = record.response_id().map(|id| (thread, id)).filter(|response| responses.insert(*response));
                open.extend(response.and_then(|response| self.response_records.get(&response)).into_iter().flatten());
                let calls = record.calls.iter().map(|id| (thread, id.as_str())).filter(|call| calls.insert(*call));
                open.extend(calls.filter_map(|call| self.result_records.get(&call)).flatten());
            }
        }
        path.sort_unstable();
        path
    }
}

/// Returns the parent of each record within its thread. If the named parent is not in the file, the parent is the previous message of
/// the thread, so that a skipped record does not cut off the history.
fn parents(records: &[Record], threads: &Threads) -> Vec<Option<usize>> {
    let mut states: Vec<ThreadState> = threads.names.iter().map(|_| ThreadState::default()).collect();
    let mut parents = Vec::with_capacity(records.len());
    for (i, record) in records.iter().enumerate() {
        let Some(thread) = threads.thread_of[i] else {
            parents.push(None);
            continue;
        };
        let state = &mut states[thread];
        let known = |text: &Text| text.get().and_then(|uuid| threads.find(uuid, thread)).filter(|parent| *parent != i);
        parents.push(if record.is_compact_boundary() {
            let latest = state.boundary.as_ref().map(|boundary| boundary.at);
            let kept = Kept::from_boundary(record, thread, threads, latest.unwrap_or(0));
            let before = [known(&record.parent_uuid), known(&record.logical_parent_uuid), kept.last()];
            let before = before.into_iter().flatten().filter(|parent| *parent < i).max();
            // A boundary continues its thread, even where what it names hangs on a message from before the boundary before it.
            let continues = |parent: &usize| {
                // A broken record may name one that comes later.
                let earlier = |record: &usize| parents[*record].filter(|before| before < record);
                let chain = iter::successors(Some(*parent), earlier);
                let message = chain.into_iter().find(|record| records[*record].is_conversation());
                latest.is_none() || message >= latest
            };
            let before = before.filter(|parent| !kept.precedes_summary() && continues(parent));
            let previous = latest.unwrap_or(0);
            state.boundary = Some(Boundary { at: i, end: i, open: true, kept, previous });
            before.or(state.last_message)
        } else {
            match known(&record.parent_uuid) {
                Some(parent) => Some(state.effective_parent(i, parent)),
                // A summary without a boundary in the file continues the thread, and so does a record of a file without ids.
                None if record.parent_uuid == Text::Null && !record.is_summary() && record.uuid != Text::Null => None,
                None => state.last_message,
            }
        });
        state.update(i, record);
    }
    parents
}

/// The state of a thread while its records are read.
#[derive(Default)]
struct ThreadState {
    last_message: Option<usize>,
    boundary: Option<Boundary>,
}

struct Boundary {
    at: usize,
    /// The last record that the compaction wrote: boundary, summary or restored attachment.
    end: usize,
    /// More records of the compaction may follow.
    open: bool,
    kept: Kept,
    /// The boundary before this one; 0 if it is the first.
    previous: usize,
}

impl ThreadState {
    /// Returns the parent to use. A record after a compaction may name a record of the kept tail, which is before the boundary, and some
    /// versions name one from before an earlier boundary, which no session can go back to. Its parent is then the last record that the
    /// compaction wrote.
    fn effective_parent(&self, i: usize, parent: usize) -> usize {
        match &self.boundary {
            Some(boundary) if parent < boundary.at && (boundary.kept.contains(parent) || parent < boundary.previous) => {
                boundary.end.min(i)
            }
            _ => parent,
        }
    }

    fn update(&mut self, i: usize, record: &Record) {
        if record.is_conversation() {
            self.last_message = Some(i);
        }
        if let Some(boundary) = self.boundary.as_mut().filter(|boundary| boundary.open) {
            boundary.open = !record.is_conversation() || record.is_summary();
            if boundary.open {
                boundary.end = i;
            }
        }
    }
}

/// Returns the records that are not messages and have no message below them, by parent.
fn attached(records: &[Record], parents: &[Option<usize>]) -> HashMap<usize, Vec<usize>> {
    let mut has_message_below = vec![false; records.len()];
    for (i, record) in records.iter().enumerate() {
        let mut next = if record.is_conversation() { parents[i] } else { None };
        while let Some(parent) = next.filter(|parent| !has_message_below[*parent] && !records[*parent].is_conversation()) {
            has_message_below[parent] = true;
            next = parents[parent];
        }
    }
    let mut attached: HashMap<usize, Vec<usize>> = HashMap::new();
    for (i, record) in records.iter().enumerate() {
        if let Some(parent) = parents[i].filter(|_| !has_message_below[i] && !record.is_conversation()) {
            attached.entry(parent).or_default().push(i);
        }
    }
    attached
}
