//! Findings of replays.

pub mod page;
