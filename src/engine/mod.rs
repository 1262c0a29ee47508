//! The replay: a conversation and a policy give a journal of what would have been sent.
//!
//! May import: every wing before it, [`util`](crate::util) to [`facts`](crate::facts). Offers [`policy`] (TOML to a list of
//! layers), [`layer`] (what proposes edits), [`context`] (the only place that applies them), [`summarizer`], [`size`] (thresholds
//! such as `0.8 * window`), [`replay`](mod@replay) (the loop over calls), [`journal`] (what happened, as plain data), and
//! [`replay_cache`] (work that the replays of one conversation share).

pub mod context;
pub mod journal;
pub mod layer;
pub mod policy;
pub mod replay;
pub mod replay_cache;
pub mod size;
pub mod summarizer;
