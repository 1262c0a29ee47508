//! Lets rows share what repeats: a large study keeps hundreds of thousands of rows.

use std::sync::Arc;

use super::{Recording, Row};
use crate::metrics::column_map::KnownIds;

/// What rows have had so far.
#[derive(Debug, Default)]
pub struct Sharing {
    last: Option<Arc<Recording>>,
    ids: KnownIds,
}

impl Sharing {
    /// Lets consecutive rows with the same recording share one, and rows with values of the same columns the ids of these.
    pub fn add(&mut self, rows: &mut [Row]) {
        for row in rows {
            match &self.last {
                Some(last) if *last == row.recording => row.recording = last.clone(),
                _ => self.last = Some(row.recording.clone()),
            }
            row.values.share_ids(&mut self.ids);
        }
    }
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
