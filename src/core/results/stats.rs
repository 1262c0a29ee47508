//! Confidence intervals and significance tests. The session is the unit, because conversations of one session and calls of one
//! conversation are not independent.
//!
//! Totals are ratios of sums, so what each session adds to the error of a total is computed from its
//! [contribution](crate::results::saved::Accumulator); intervals come from these influences. All policies use the same
//! resamples (*paired*), because sessions differ much more than policies do. Of more than 1,000 sessions, groups are drawn and swapped.
//!
//! Two numbers describe a difference. The interval says how large it may be. The p-value says whether it
//! may be chance; it comes from swapping the two policies within sessions, and is adjusted for the number of policies. `keep-all` and
//! `drop-all` are bounds, not candidates: they get intervals, but are not compared with the baseline.

mod estimate;
mod groups;
mod halves;
mod holm;
mod inference;
mod permutation;
mod resample;
mod samples;

pub use halves::halves;
pub use holm::holm;
pub use inference::{infer, predicted_interval, total_interval};
pub use resample::{Resamples, interval};
pub use samples::Samples;

/// Number of bootstrap resamples. With this many, the ends of a 95 % interval are exact to a tenth of its width.
pub const RESAMPLES: usize = 2_000;

/// Number of random swap patterns in the permutation test if not all patterns are tried. A p-value of .05 is then exact to .002.
pub const SIGN_PATTERNS: usize = 10_000;

/// Nominal coverage of the intervals.
pub const LEVEL: f64 = 0.95;

/// Minimum number of sessions for intervals and tests. The smallest p-value that five sessions can give is 2 ÷ 2⁵ = .0625.
pub const MIN_SESSIONS: usize = 6;

/// Minimum number of sessions that say how far the next ones may be: two have one difference, which is no spread.
pub const MIN_PREDICTING: usize = 3;

/// Default seed. Any number would do; the results contain it.
pub const SEED: u64 = 1;
