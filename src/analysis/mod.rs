//! Analyses that answer users' questions; each calls the engine and the metrics.
//!
//! May import: every wing before it, [`text`](crate::text) to [`results`](crate::results). Offers:
//!
//! - [`corpus`]: the transcripts, and the loop over them;
//! - [`spec`]: what to replay and how, as plain data; [`settings`]: the settings of layers as data;
//! - [`study`]: many transcripts through many policies; [`resume`]: continues what was stopped; [`part`]: what one of
//!   many machines replayed;
//! - [`usual`]: what is replayed if no policy is named; [`mod@verdict`]: which of the replayed policies to ship; [`mod@changes`]: what changed between two results;
//! - [`mod@show`]: one request, part by part; [`missed`]: the requests of the worst misses; [`comparison`]: whether two policies send
//!   the same requests;
//! - [`sweep`]: many settings of one policy, and which to ship; [`policy_check`]: mistakes in policies; [`idle`]: programs that
//!   changed nothing; [`stand_ins`]: whether a model wrote the summaries;
//! - [`mod@export`]: the numbers of a policy as the configuration of a harness; [`mod@recommended`]: those that results recommend;
//! - [`gate`]: limits and a baseline for continuous integration;
//! - [`probe`]: does a model need what [`retention`](crate::metrics::retention) says is gone? Asked by
//!   [`questions`](probe::questions), or in bits by [`surprise`](probe::surprise);
//! - [`inspect`]: what a transcript contains; [`audit`](mod@audit): what is wrong with saved transcripts.

pub mod audit;
pub mod changes;
pub mod comparison;
pub mod corpus;
mod error;
pub mod export;
pub mod gate;
pub mod idle;
pub mod inspect;
pub mod limits;
pub mod missed;
pub mod part;
pub mod policy_check;
pub mod probe;
pub mod recommended;
pub mod resume;
mod run;
pub mod secrets;
pub mod settings;
pub mod show;
pub mod spec;
pub mod stand_ins;
pub mod study;
pub mod sweep;
pub mod usual;
pub mod verdict;

pub use error::Error;
pub use run::{ReplayHooks, ReplayOutcomes, Replayed};
