//! The rows of results, session by session: what intervals and comparisons are drawn from.

use std::collections::HashMap;

use crate::metrics::column::Column;
use crate::metrics::column_map::Values;
use crate::results::saved::{Accumulator, Row, Session};

/// A policy, and what it is a bound of.
type Named<'a> = (&'a str, Option<&'a str>);

/// The rows of every policy and bound, with the session of each.
#[derive(Debug, Default)]
pub struct Samples<'a> {
    sessions: usize,
    rows: HashMap<Named<'a>, Vec<(usize, &'a Values)>>,
}

impl<'a> Samples<'a> {
    /// Sessions come in the order of their first rows, whatever policy those are of.
    pub fn new(rows: &'a [Row]) -> Self {
        let mut places: HashMap<Session, usize> = HashMap::new();
        let mut samples = Self::default();
        for row in rows {
            let next = places.len();
            let place = *places.entry(row.session()).or_insert(next);
            samples.rows.entry((&row.policy, row.bound_of.as_deref())).or_default().push((place, &row.values));
        }
        Self { sessions: places.len(), ..samples }
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.sessions
    }

    /// What each session adds to a column of a policy, or of one of its bounds; `None` where it has no value.
    pub fn added(&self, policy: &str, bound_of: Option<&str>, column: &Column) -> Vec<Option<Accumulator>> {
        let mut added = vec![None; self.sessions];
        for (session, values) in self.rows.get(&(policy, bound_of)).into_iter().flatten() {
            column.put(&mut added[*session], column.adds(values));
        }
        added
    }
}
