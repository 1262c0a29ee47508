//! The replay engine: replays a conversation through a policy and returns a journal of the requests it would have sent.
//!
//! May import: every wing before it, [`text`](crate::text) to [`facts`](crate::facts). Offers [`policy`] (reads TOML into a list
//! of layers), [`layer`] (layers propose edits), [`context`] (the only place that applies edits), [`summarizer`], [`size`]
//! (thresholds such as `0.8 * window`), [`replay`](mod@replay) (the loop over calls), [`journal`] (the result, as plain data),
//! [`external`] (policies that are programs), [`replay_cache`] (work that the replays of one conversation share), and [`alike`] (one
//! replay for several policies).

pub mod alike;
pub mod context;
pub mod external;
pub mod journal;
pub mod layer;
pub mod policy;
pub mod replay;
pub mod replay_cache;
pub mod size;
pub mod summarizer;
