//! How sure a comparison is. The session is the unit: conversations of one session, and calls of one conversation, depend on
//! each other.
//!
//! Totals are ratios of sums, so a draw of sessions is a sum over the drawn sessions of what each [adds](crate::results::Added).
//! All policies are drawn alike (*paired*): sessions differ much more than policies do.

mod resample;

pub use resample::{Resamples, interval};

/// Draws of sessions, unless someone asks for more: enough that the ends of a 95 % interval stand to a tenth of its width.
pub const DRAWS: usize = 2_000;

/// What intervals are to cover.
pub const LEVEL: f64 = 0.95;

/// The seed where none was given. Any would do; it is in the results.
pub const SEED: u64 = 1;
