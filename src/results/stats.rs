//! Confidence intervals and significance tests. The session is the unit, because conversations of one session and calls of one
//! conversation are not independent.
//!
//! Totals are ratios of sums, so the total of a bootstrap resample is computed from the
//! [contributions](crate::results::saved::Accumulator) of the drawn sessions. All policies use the same resamples (*paired*), because
//! sessions differ much more than policies do.
//!
//! Two numbers describe a difference. The interval says how large it may be; it comes from the bootstrap. The p-value says whether it
//! may be chance; it comes from swapping the two policies within sessions, and is adjusted for the number of policies. `keep-all` and
//! `drop-all` are bounds, not candidates: they get intervals, but are not compared with the baseline.

mod holm;
mod inference;
mod permutation;
mod resample;
mod samples;

pub use holm::holm;
pub use inference::infer;
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

/// With fewer sessions, reports warn that intervals are too narrow.
pub const FEW_SESSIONS: usize = 40;

/// Actual coverage of intervals with nominal 95 %, as `(sessions, coverage of totals, coverage of differences)`.
///
/// Measured on 2,000 simulated studies for each row (`RECOMPACT_LONG=1 cargo test inference -- --include-ignored --nocapture`). Their sessions differ in size as
/// recorded sessions do, and larger sessions save more. Intervals are too narrow for two reasons: percentiles of few sessions are too
/// close together, and most studies lack the rare long sessions that dominate a total. Those dominate a difference less.
pub const COVERAGE: [(usize, f64, f64); 5] =
    [(6, 0.71, 0.84), (10, 0.77, 0.89), (20, 0.84, 0.92), (40, 0.88, 0.92), (100, 0.91, 0.94)];

/// Default seed. Any number would do; the results contain it.
pub const SEED: u64 = 1;
