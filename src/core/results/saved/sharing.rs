//! Lets rows share what repeats: a large study keeps hundreds of thousands of rows.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::{Recording, Row};
use crate::metrics::column_map::KnownIds;
use crate::util::spill::Spill;

/// What rows have had so far.
#[derive(Debug, Default)]
pub struct Sharing {
    /// Transcript, conversation and recording of the last row.
    last: (Arc<str>, Arc<str>, Arc<Recording>),
    /// Names of policies and bounds, with the file of their values: what reads one column reads the rows of one policy.
    names: HashMap<Arc<str>, Spill>,
    ids: KnownIds,
}

impl Sharing {
    /// Lets rows have one name of each policy, rows with values of the same columns one list of their ids, and consecutive rows of one
    /// conversation what they say about it.
    pub fn add(&mut self, rows: &mut [Row]) {
        for row in rows {
            share(&mut row.transcript, &mut self.last.0);
            share(&mut row.conversation, &mut self.last.1);
            share(&mut row.recording, &mut self.last.2);
            for name in [Some(&mut row.policy), row.bound_of.as_mut()].into_iter().flatten() {
                match self.names.get_key_value(name) {
                    Some((known, _)) => *name = known.clone(),
                    None => drop(self.names.insert(name.clone(), Spill::after(0))),
                }
            }
            row.values.share_ids(&mut self.ids);
        }
    }

    /// Lets what else is said about a conversation have the names of its rows.
    pub fn add_names(&mut self, transcript: &mut Arc<str>, conversation: &mut Arc<str>) {
        share(transcript, &mut self.last.0);
        share(conversation, &mut self.last.1);
    }

    /// Moves the values of shared rows to files.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be written. The rest stays in memory.
    pub fn spill(&self, rows: &mut [Row]) -> io::Result<()> {
        rows.iter_mut().try_for_each(|row| self.names.get(&row.policy).map_or(Ok(()), |file| row.values.spill(file)))
    }
}

/// Lets both be one if they are equal, and makes its own the last one otherwise.
fn share<T: PartialEq + ?Sized>(own: &mut Arc<T>, last: &mut Arc<T>) {
    if own == last { *own = last.clone() } else { *last = own.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_share_equal_recordings_and_equal_lists_of_ids() {
        let row = |session: &str, ids: &[&'static str]| Row {
            recording: Recording { session: session.to_owned(), ..Recording::default() }.into(),
            values: ids.iter().map(|id| (*id, Some(1.0))).collect(),
            ..Row::default()
        };
        let mut rows = [row("a", &["x", "y"]), row("a", &["x"]), row("b", &["x", "y"]), row("a", &["x"])];
        let before = rows.clone();
        let mut sharing = Sharing::default();
        let (first, rest) = rows.split_at_mut(1);
        sharing.add(first);
        sharing.add(rest);
        assert_eq!(rows, before);
        let same = |one: usize, other: usize| Arc::ptr_eq(&rows[one].recording, &rows[other].recording);
        assert_eq!([same(0, 1), same(1, 2), same(0, 3)], [true, false, false], "only consecutive ones are compared");
        let same_ids = |one: usize, other: usize| rows[one].values.shares_ids_with(&rows[other].values);
        assert_eq!([same_ids(0, 2), same_ids(1, 3), same_ids(0, 1)], [true, true, false]);
    }
}
