//! What a search measured of one candidate.

use crate::analysis::sweep::candidate::Candidate;
use crate::analysis::sweep::dominance_probability::BySession;
use crate::metrics::column::Column;
use crate::results::saved::Accumulator;

/// A candidate, and what was measured of it.
#[derive(Debug)]
pub struct Trial {
    pub candidate: Candidate,
    /// The search did not drop it.
    pub is_alive: bool,
    /// On the sessions to develop on.
    pub develop: Measured,
    /// On the held-out sessions, after their round. Only the default conditions use it.
    pub held_out: Measured,
    /// Totals by column after the first rung, which is on the same sessions for all candidates.
    pub first_totals: Vec<Option<f64>>,
}

impl Trial {
    pub fn new(candidate: Candidate) -> Self {
        let (develop, held_out) = (Measured::default(), Measured::default());
        Self { candidate, is_alive: true, develop, held_out, first_totals: Vec::new() }
    }

    /// Returns what was measured on one side of the split.
    pub fn measured_on(&mut self, side: Side) -> &mut Measured {
        match side {
            Side::Develop => &mut self.develop,
            Side::HeldOut => &mut self.held_out,
        }
    }
}

/// The sides of the split of the sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Develop,
    HeldOut,
}

/// What was measured of one candidate on some sessions.
#[derive(Debug, Default)]
pub struct Measured {
    /// What each session adds, in the order of the split.
    sessions: Vec<SessionSums>,
    /// Recorded calls of these sessions.
    pub requests: u64,
}

/// What a session adds to each column, in the order of the columns.
#[derive(Debug, Clone)]
struct SessionSums(Vec<Option<Accumulator>>);

impl Measured {
    /// Returns the number of sessions.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Appends sessions that have these recorded calls together, and that add nothing yet.
    pub fn append(&mut self, sessions: usize, requests: u64, columns: &[Column]) {
        self.sessions.resize(self.sessions.len() + sessions, SessionSums(vec![None; columns.len()]));
        self.requests += requests;
    }

    /// Adds what a conversation adds to each column to the sums of its session, which is the one at this place.
    pub fn add(&mut self, place: usize, columns: &[Column], added: &[Option<Accumulator>]) {
        let SessionSums(sums) = &mut self.sessions[place];
        for ((column, sum), added) in columns.iter().zip(sums).zip(added) {
            column.combine_into(sum, *added);
        }
    }

    /// Returns the total of one of the columns over all sessions.
    pub fn total(&self, columns: &[Column], at: usize) -> Option<f64> {
        columns[at].total_of_all(self.sessions.iter().filter_map(|SessionSums(sums)| sums[at]))
    }

    /// Returns the totals of all columns.
    pub fn totals(&self, columns: &[Column]) -> Vec<Option<f64>> {
        (0..columns.len()).map(|at| self.total(columns, at)).collect()
    }

    /// Returns what the sessions add to each of the first columns.
    pub fn by_session(&self, columns: usize) -> BySession {
        let of_column = |at: usize| self.sessions.iter().map(|SessionSums(sums)| sums[at]).collect();
        (0..columns).map(of_column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::column::{Aggregation, Direction, Unit};

    /// What one conversation adds.
    fn one(numerator: f64) -> Option<Accumulator> {
        Some(Accumulator { numerator, denominator: 1.0 })
    }

    /// Two sessions have ten calls together, and the first of them has two conversations. A third session has five calls and adds nothing.
    #[test]
    fn conversations_add_to_their_session() {
        let column = |id, how| Column::counted(id, Unit::Count, Direction::Lower, how, "");
        let columns = [column("sum", Aggregation::Sum), column("largest", Aggregation::Max)];
        let mut measured = Measured::default();
        assert_eq!(measured.totals(&columns), [None, None]);
        measured.append(2, 10, &columns);
        measured.add(0, &columns, &[one(1.0), None]);
        measured.add(0, &columns, &[one(2.0), one(7.0)]);
        measured.add(1, &columns, &[one(4.0), one(5.0)]);
        measured.append(1, 5, &columns);
        assert_eq!(measured.totals(&columns), [Some(7.0), Some(7.0)]);
        let two = Some(Accumulator { numerator: 3.0, denominator: 2.0 });
        assert_eq!(measured.by_session(1), [[two, one(4.0), None]]);
        assert_eq!((measured.sessions(), measured.requests), (3, 15));
    }
}
