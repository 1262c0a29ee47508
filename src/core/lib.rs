//! The instrument of `recompact`: it reads transcripts, replays them under a policy, and measures the replay.
//!
//! The crate `recompact` offers all of it under its own name, and its page describes the architecture of all crates. They are several
//! so that a change of a report or of the command line does not compile the engine again.

pub use recompact_text as text;

pub mod engine;
pub mod facts;
pub mod findings;
pub mod llm;
pub mod metrics;
pub mod programs;
pub mod results;
pub mod tokens;
pub mod transcript;
pub mod util;
