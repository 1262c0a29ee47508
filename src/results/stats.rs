//! How sure a comparison is. The session is the unit: conversations of one session, and calls of one conversation, depend on
//! each other.
//!
//! Totals are ratios of sums, so a draw of sessions is a sum over the drawn sessions of what each [adds](crate::results::saved::Accumulator).
//! All policies are drawn alike (*paired*): sessions differ much more than policies do.
//!
//! Two questions are asked of a difference. How large may it be? An interval from drawn sessions. Could it be chance? A p-value
//! from swapping the two policies within sessions, adjusted for the number of policies. `keep-all` and `drop-all` are bounds
//! and no candidates: they have intervals, and are compared with nothing unless one of them is the baseline.

mod holm;
mod inference;
mod permutation;
mod resample;
mod samples;

pub use holm::holm;
pub use inference::infer;
pub use resample::{Resamples, interval};
pub use samples::Samples;

/// Draws of sessions, unless someone asks for more: enough that the ends of a 95 % interval stand to a tenth of its width.
pub const DRAWS: usize = 2_000;

/// Draws of swaps, where not all of them are tried: a p-value of .05 is then good to .002.
pub const FLIPS: usize = 10_000;

/// What intervals are to cover.
pub const LEVEL: f64 = 0.95;

/// With fewer sessions nothing is said: the smallest p-value that five sign flips can give is 2 ÷ 2⁵ = .0625.
pub const FEWEST: usize = 6;

/// With fewer sessions, reports say how narrow intervals are.
pub const FEW: usize = 40;

/// How often intervals that are to cover 95 % do: sessions, totals, differences of totals. Of 2,000 simulated studies each, whose
/// sessions differ in size as recorded ones do, the larger the more is saved (`RECOMPACT_LONG=1 cargo test certainty` measures it).
/// Percentiles of few draws are too close together, and most studies lack the rare long sessions that totals hang on; a
/// difference hangs on them less.
pub const COVERAGE: [(usize, f64, f64); 5] =
    [(6, 0.71, 0.84), (10, 0.77, 0.89), (20, 0.84, 0.92), (40, 0.88, 0.92), (100, 0.91, 0.94)];

/// The seed where none was given. Any would do; it is in the results.
pub const SEED: u64 = 1;
