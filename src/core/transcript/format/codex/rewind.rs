//! Finds what the user went back from (`thread_rolled_back`): each is a branch that ends there.
//!
//! Codex counts each message that the user typed as a turn, also one that the user sent while the agent worked. What the harness wrote
//! directly before that message belongs to the turn. If there are fewer turns than the user went back, what is before the first message
//! stays.

use std::collections::HashMap;

use super::super::Note;
use super::item::Item;
use super::meter::{Counted, TokenEvent};
use super::record::{Record, RecordKind};
use super::wire;
use crate::transcript::conversation::Call;

/// Which records are on which branch. A `thread_rolled_back` is on none.
pub struct Rewinds {
    /// For each record, the position of the `thread_rolled_back` that took it out of the conversation.
    left_by: Vec<Option<usize>>,
    /// For each record, the one before it on its branch; for a `thread_rolled_back`, the last one of the branch that it left.
    before: Vec<Option<usize>>,
    /// The positions of each `thread_rolled_back`, in order.
    ends: Vec<usize>,
    /// The last record of the branch that the file ends with.
    last: Option<usize>,
}

impl Rewinds {
    pub fn new(records: &[Record]) -> Self {
        let left_by = vec![None; records.len()];
        let mut rewinds = Self { left_by, before: Vec::with_capacity(records.len()), ends: Vec::new(), last: None };
        // The records of the branch so far, where in it the turns begin, and where the latest text of the harness begins.
        let (mut branch, mut turns, mut context) = (Vec::new(), Vec::new(), None);
        for (i, record) in records.iter().enumerate() {
            rewinds.before.push(branch.last().copied());
            match &record.kind {
                RecordKind::Item(Item::Message(message)) if wire::is_typed(message) => {
                    let start = context.take().filter(|_| !turns.is_empty());
                    turns.push(start.unwrap_or(branch.len()));
                }
                RecordKind::Item(Item::Message(message)) if message.role != "assistant" => {
                    context.get_or_insert(branch.len());
                }
                RecordKind::TurnStarted(_) | RecordKind::Turn(_) => _ = context.get_or_insert(branch.len()),
                RecordKind::Item(_) | RecordKind::Compacted(_) => context = None,
                RecordKind::RolledBack(count) => {
                    let kept = turns.len().saturating_sub(usize::try_from(*count).unwrap_or(usize::MAX));
                    let end = turns.get(kept).copied().unwrap_or(branch.len());
                    branch.drain(end..).for_each(|left: usize| rewinds.left_by[left] = Some(i));
                    turns.truncate(kept);
                    rewinds.ends.push(i);
                    context = None;
                    continue;
                }
                _ => {}
            }
            branch.push(i);
        }
        rewinds.last = branch.last().copied();
        rewinds
    }

    /// Returns the records of the branch that ends before a `thread_rolled_back`, in order; without one, of the branch that the file
    /// ends with.
    pub fn branch(&self, end: Option<usize>) -> Vec<usize> {
        let last = end.map_or(self.last, |end| self.before[end]);
        let mut branch: Vec<usize> = std::iter::successors(last, |record| self.before[*record]).collect();
        branch.reverse();
        branch
    }

    /// Returns where the branches end that the user left, in order. Only the session's own records make a branch: what it inherited
    /// belongs to the parent. Going back twice in a row leaves one branch.
    pub fn left_branches(&self, records: &[Record], inherited: usize) -> impl Iterator<Item = usize> {
        let begins = std::iter::once(inherited).chain(self.ends.iter().map(move |end| inherited.max(*end)));
        let is_left = move |record: usize, end: usize| self.left_by[record] == Some(end) && is_message(&records[record]);
        begins.zip(&self.ends).filter_map(move |(begin, end)| (begin..*end).any(|record| is_left(record, *end)).then_some(*end))
    }

    /// Returns what was billed on the branches that the user left. The calls that a session inherited are billed to its parent.
    pub fn billed(&self, records: &[Record], inherited: usize) -> Vec<Call> {
        let (mut calls, mut model) = (Vec::new(), None);
        for (i, record) in records.iter().enumerate() {
            match &record.kind {
                RecordKind::Turn(turn) => model = turn.model.clone().or(model),
                RecordKind::Counted(Counted { event: TokenEvent::Used(usage), .. })
                    if i >= inherited && self.left_by[i].is_some() =>
                {
                    calls.push(Call { usage: Some(*usage), model: model.clone(), time: record.at.time, ..Call::default() });
                }
                _ => {}
            }
        }
        calls
    }

    /// Returns a note about each time the user of this session went back.
    pub fn notes(&self, records: &[Record], inherited: usize, is_read: bool) -> Vec<Note> {
        let mut left: HashMap<usize, (usize, usize)> = HashMap::new();
        for (record, end) in self.left_by.iter().enumerate().filter_map(|(record, end)| Some((record, (*end)?))) {
            if is_message(&records[record]) {
                left.entry(end).or_insert((record, 0)).1 += 1;
            }
        }
        let note = |end: usize| {
            let RecordKind::RolledBack(turns) = records[end].kind else { return None };
            let Some((first, count)) = left.get(&end) else {
                let text = format!("the user went back {turns} turn(s) here, but no turn is before it; nothing was left out");
                return Some(Note::info(records[end].at.line, text));
            };
            let what = if is_read { "read as a separate conversation" } else { "left out (--branches all reads it)" };
            let text = format!(
                "the user went back {turns} turn(s), to before this: main has another branch of {count} records here: {what}"
            );
            Some(Note::info(records[*first].at.line, text))
        };
        self.ends.iter().copied().filter(|end| *end >= inherited).filter_map(note).collect()
    }
}

fn is_message(record: &Record) -> bool {
    matches!(record.kind, RecordKind::Item(_) | RecordKind::Compacted(_))
}
