//! The limits that a policy must keep to be shipped, for replays and for sweeps.

use schemars::JsonSchema;
use serde::Serialize;

use crate::metrics::metric::{broken, cost, overflow, retention};

/// Largest share of the facts used again that a fit policy may lose for good. One in twenty is our choice: in recordings, policies that
/// clear or move tool results lose less, and policies that drop messages lose more.
pub const MAX_LOST: f64 = 0.05;

/// Largest share of requests that cannot be sent. One in two hundred is about one in a long session.
pub const MAX_REFUSED: f64 = 0.005;

/// Why a policy is not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Flaw {
    /// Its user cannot switch it on: the provider decides whether it acts.
    NotYours,
    /// An API would refuse too many of its requests, because the policy made them malformed.
    Malformed,
    /// Too many of its requests do not fit the context window.
    Overflows,
    /// It costs as much as the yardstick, or more.
    CostsMore,
    /// It loses too many facts for good.
    LosesFacts,
    /// It cuts instructions out of what a person typed.
    CutsInstructions,
    /// No conversation could be priced.
    NoCost,
}

/// The most that a policy may have in a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// What a policy is that has more.
    pub flaw: Flaw,
    pub column: &'static str,
    pub most: f64,
    /// Whether the limit itself is too much: nothing is saved at the cost of the yardstick.
    pub is_excluded: bool,
}

impl Limit {
    /// Whether a policy with this total has the flaw.
    pub fn is_exceeded_by(&self, total: f64) -> bool {
        total > self.most || self.is_excluded && total >= self.most
    }
}

/// Returns the limits of a policy that makes this number of requests; `yardstick` is the `cost.ratio` of the yardstick, if there is one.
pub fn limits(requests: u64, yardstick: Option<f64>) -> impl Iterator<Item = Limit> {
    let limit = |flaw, column, most| Limit { flaw, column, most, is_excluded: flaw == Flaw::CostsMore };
    let refused = MAX_REFUSED * requests as f64;
    let cost = yardstick.map(|ratio| limit(Flaw::CostsMore, cost::RATIO, ratio));
    [limit(Flaw::Malformed, broken::CAUSED, refused), limit(Flaw::Overflows, overflow::FAILED_CALLS, refused)]
        .into_iter()
        .chain(cost)
        .chain([limit(Flaw::LosesFacts, retention::HARD, MAX_LOST), limit(Flaw::CutsInstructions, retention::RULES_CUT, 0.0)])
}
