//! A policy's parameters → configurations → a Pareto front, and which of it to take.
//!
//! ```text
//!  policies × parameters ──space (grid, or sobol)──▶ candidates
//!  transcripts ──roster──▶ sessions, some held out
//!  candidates × sessions ──search, halving──▶ totals ──pareto──▶ the front ──recommend──▶ one, and its neighbours
//! ```
//!
//! A [`Search`] says what is to be replayed next and takes what came of it; whoever drives it reads the transcripts. It holds what
//! each session adds to the totals of a few columns, and nothing of single calls. What is found on some sessions is reported on
//! others, by an ordinary [`Study`](crate::analysis::study::Study), where some were held out.

mod candidate;
mod criteria;
mod dominance_probability;
mod halving;
mod objective;
mod parameter;
mod pareto;
mod recommend;
mod search;
mod sensitivity;
mod sessions;
mod sobol;
mod space;

pub use candidate::{Candidate, MOST, Point, candidates};
pub use criteria::Criteria;
pub use parameter::{Parameter, Values};
pub use search::{Round, Search, SearchResult};
pub use sessions::{SessionSize, SessionTable, Split};
pub use space::{Source, Space, spaces};

use crate::engine::policy::PolicyError;

/// Why there is nothing to search.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// What was given, and what to do.
    #[error("{0}")]
    Wrong(String),
}
