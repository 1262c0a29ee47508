//! Records that name their parent: an edited prompt or a rewind makes the file a tree, and each of its ends is a branch.

use super::notes::Notes;
use super::{Branches, Note};
use crate::transcript::conversation::Conversation;

/// One path through the tree, from its root.
#[derive(Debug, PartialEq, Eq)]
pub struct Branch {
    /// The records of the path, in the order of the file; of other branches than the first only with `whole`.
    pub records: Vec<usize>,
    /// The records that are not in a branch before this one.
    pub own: Vec<usize>,
}

/// Returns the branches: first the path to `last`, then those that end in another message, by their first own record. A parent comes
/// before its child; a record that names none that is in the file must have the record before it as its parent. With `whole`,
/// [`Branch::records`] is the whole path of every branch.
pub fn branches(parents: &[Option<usize>], last: usize, is_message: impl Fn(usize) -> bool, whole: bool) -> Vec<Branch> {
    let mut claimed = vec![false; parents.len()];
    let mut branches: Vec<Branch> = Vec::new();
    let ends = std::iter::once(last).chain((0..parents.len()).rev().filter(|end| is_message(*end)));
    for end in ends.filter(|end| *end < parents.len()) {
        if claimed[end] {
            continue;
        }
        let own = path(parents, end, |record| std::mem::replace(&mut claimed[record], true));
        if branches.is_empty() || own.iter().any(|record| is_message(*record)) {
            let records = if whole && !branches.is_empty() { path(parents, end, |_| false) } else { own.clone() };
            branches.push(Branch { records, own });
        }
    }
    if let Some((_, others)) = branches.split_first_mut() {
        others.sort_by_key(|branch| branch.own.first().copied());
    }
    branches
}

/// Records of a file that is a tree.
pub struct Tree<'a> {
    /// For each record, its parent, as [`branches`] needs it.
    pub parents: &'a [Option<usize>],
    pub is_message: &'a dyn Fn(usize) -> bool,
    /// The line of a record, from 1.
    pub line: &'a dyn Fn(usize) -> u32,
}

impl Tree<'_> {
    /// Reads the branches that are wanted, with a note on each but the first, which ends in the last record. `read` is given the name of
    /// a branch, its records, and the records that are only on branches that are not read.
    pub fn read(
        &self,
        wanted: Branches,
        notes: &mut Notes,
        mut read: impl FnMut(String, &[usize], &[usize], &mut Notes) -> Option<Conversation>,
    ) -> Vec<Conversation> {
        let all = wanted == Branches::All;
        let branches = branches(self.parents, self.parents.len().wrapping_sub(1), self.is_message, all);
        let left: Vec<usize> = branches.iter().skip(1).filter(|_| !all).flat_map(|branch| branch.own.iter().copied()).collect();
        let mut conversations = Vec::new();
        for (n, branch) in branches.iter().enumerate() {
            let own = || branch.own.iter().copied().filter(|record| (self.is_message)(*record));
            if let Some(first) = own().next().filter(|_| n > 0) {
                notes.lines.push(note((self.line)(first), "main", own().count(), all));
            }
            if n == 0 || all {
                conversations.extend(read(name(n), &branch.records, &left, notes));
            }
        }
        conversations
    }
}

/// Returns the path to a record, up to the first record that is already taken.
fn path(parents: &[Option<usize>], end: usize, mut is_taken: impl FnMut(usize) -> bool) -> Vec<usize> {
    let mut path = Vec::new();
    let mut next = Some(end);
    while let Some(record) = next.filter(|record| !is_taken(*record)) {
        path.push(record);
        next = parents[record].filter(|parent| *parent < record);
    }
    path.reverse();
    path
}

/// Returns the name of the conversation of a branch: `main`, `main~2`.
pub fn name(branch: usize) -> String {
    if branch == 0 { "main".to_owned() } else { format!("main~{}", branch + 1) }
}

/// Returns a note about another branch of a thread, which begins on this line.
pub fn note(line: u32, thread: &str, records: usize, is_read: bool) -> Note {
    let what = if is_read { "read as a separate conversation" } else { "left out (--branches all reads it)" };
    Note::info(line, format!("{thread} has another branch of {records} records here: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewind_makes_a_branch() {
        // 0 ─ 1 ─ 2 ─ 3, and 1 ─ 4 ─ 5; 5 is a setting.
        let parents = [None, Some(0), Some(1), Some(2), Some(1), Some(4)];
        let branch = |records: &[usize], own: &[usize]| Branch { records: records.into(), own: own.into() };
        let is_message = |record| record != 5;
        assert_eq!(branches(&parents, 5, is_message, false), [branch(&[0, 1, 4, 5], &[0, 1, 4, 5]), branch(&[2, 3], &[2, 3])]);
        assert_eq!(branches(&parents, 5, is_message, true)[1], branch(&[0, 1, 2, 3], &[2, 3]));
    }

    #[test]
    fn hostile_parents_end_the_path() {
        assert_eq!(branches(&[Some(1), Some(0), Some(2)], 2, |_| true, true).len(), 2);
        assert_eq!(branches(&[], 0, |_| true, true), []);
    }
}
