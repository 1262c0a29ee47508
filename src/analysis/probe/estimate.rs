//! Numbers with intervals over sessions.

use serde::Serialize;

use crate::results::stats::{LEVEL, MIN_SESSIONS, RESAMPLES, Resamples, interval};

/// A number with its confidence interval over sessions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// `None` if the number is undefined, for example a mean without values.
    pub value: Option<f64>,
    /// Bootstrap interval at [`LEVEL`]; `None` with fewer sessions than [`MIN_SESSIONS`].
    pub interval: Option<[f64; 2]>,
}

impl Estimate {
    /// Computes a statistic of sums: of what all sessions add, and of each resample.
    pub(super) fn new<const N: usize>(
        added: &[[f64; N]],
        resamples: &Resamples,
        statistic: impl Fn([f64; N]) -> Option<f64>,
    ) -> Self {
        let of_sum = |at: usize| added.iter().map(move |session| session[at]);
        let value = statistic(std::array::from_fn(|at| of_sum(at).sum()));
        let resampled: [Vec<f64>; N] = std::array::from_fn(|at| resamples.sums(&of_sum(at).collect::<Vec<_>>()));
        let of_draw = |draw: usize| statistic(std::array::from_fn(|at| resampled[at][draw]));
        Self { value, interval: value.and_then(|_| interval((0..resamples.count()).filter_map(of_draw), LEVEL)) }
    }
}

/// Draws resamples of this number of sessions; none if they are too few.
pub(super) fn resamples(sessions: usize, seed: u64) -> Resamples {
    Resamples::new(sessions, if sessions < MIN_SESSIONS { 0 } else { RESAMPLES }, seed)
}
