//! Parameter sweeps: tries settings of a policy, computes the Pareto front, and recommends one configuration.
//!
//! ```text
//!  policies × parameters ──space (grid, or sobol)──▶ candidates
//!  transcripts ──session table──▶ sessions, some held out
//!  candidates × sessions ──search, halving──▶ totals ──pareto──▶ the front ──recommend──▶ one, and its neighbours
//!  the recommended one and the unchanged policy × held-out sessions ──held_out──▶ ship it, or keep what you have
//! ```
//!
//! A [`Search`] is a state machine: it says what to replay next and takes the results; the caller reads the transcripts. It
//! stores what each session adds to the totals of a few columns, and nothing about single calls. If sessions are held out,
//! the results of the chosen policies are reported on those, by an ordinary [`Study`](crate::analysis::study::Study). On many machines,
//! [`parts`](SweepOfParts) of the transcripts give the results of each stage.

mod candidate;
mod compared;
mod criteria;
mod dominance_probability;
mod halving;
mod held_out;
mod load;
mod objective;
mod parameter;
mod pareto;
mod parts;
mod recommend;
mod rules;
mod run;
mod search;
mod sensitivity;
mod sessions;
mod sobol;
mod space;

pub use candidate::{Candidate, CandidateId, Choice, MOST, Point, TriedSpace, candidates};
pub use criteria::Criteria;
pub use held_out::confirm;
pub use load::LoadedSweep;
pub use parameter::{Parameter, Values};
pub use parts::{NextStage, SizeOutcomes, SweepOfParts};
use recommend::add_file;
pub(in crate::analysis) use recommend::{Member, minimax_choice};
pub use rules::{Against, UNSENDABLE, describe as describe_conditions};
pub use run::{Continuation, StageError, SweepEnd, SweepRun, measure};
pub use search::{Round, Search, SearchResult};
pub use sessions::{SessionId, SessionTable, Split};
pub use space::{Space, spaces};

use super::spec::SpecError;
use crate::engine::policy::PolicyError;
use crate::util::ValueError;

/// Why there is nothing to search.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A parameter or a condition is wrong.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// What is wrong, and what to do.
    #[error("{0}")]
    Wrong(String),
}
