//! The rows of results, grouped by policy and session: the input of intervals and comparisons.

use std::collections::HashMap;

use crate::metrics::column::Column;
use crate::metrics::column_map::Values;
use crate::results::saved::{Accumulator, Row, Session};

/// Name of a policy, and the policy it bounds if it is a bound.
type PolicyKey<'a> = (&'a str, Option<&'a str>);

/// The rows of each policy and bound, each row with the index of its session.
#[derive(Debug, Default)]
pub struct Samples<'a> {
    sessions: usize,
    rows: HashMap<PolicyKey<'a>, Vec<(usize, &'a Values)>>,
}

impl<'a> Samples<'a> {
    /// Groups rows. Sessions are numbered in the order of their first rows, of any policy.
    pub fn new(rows: &'a [Row]) -> Self {
        let mut session_indices: HashMap<Session, usize> = HashMap::new();
        let mut samples = Self::default();
        for row in rows {
            let next = session_indices.len();
            let session = *session_indices.entry(row.session()).or_insert(next);
            samples.rows.entry((&row.policy, row.bound_of.as_deref())).or_default().push((session, &row.values));
        }
        Self { sessions: session_indices.len(), ..samples }
    }

    /// Returns the number of sessions.
    pub fn sessions(&self) -> usize {
        self.sessions
    }

    /// Returns the contribution of each session to a column of a policy or bound; `None` for a session without a value.
    pub fn added(&self, policy: &str, bound_of: Option<&str>, column: &Column) -> Vec<Option<Accumulator>> {
        let (mut added, mut contribution) = (vec![None; self.sessions], column.contributions());
        for (session, values) in self.rows.get(&(policy, bound_of)).into_iter().flatten() {
            column.combine_into(&mut added[*session], contribution(values));
        }
        added
    }

    /// Returns what each session adds to the ratio of a policy to another one; `None` for a session without values of both. The
    /// column is a ratio of a policy's amount to one that is the same for all policies, which leaves the result.
    pub fn added_against(&self, policy: &str, other: &str, column: &Column) -> Vec<Option<Accumulator>> {
        let [own, theirs] = [policy, other].map(|policy| self.added(policy, None, column));
        let pair = |(own, theirs): (Option<Accumulator>, Option<Accumulator>)| {
            Some(Accumulator { numerator: own?.numerator, denominator: theirs?.numerator })
        };
        own.into_iter().zip(theirs).map(pair).collect()
    }
}
