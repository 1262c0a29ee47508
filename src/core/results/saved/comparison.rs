//! Comparisons of policies with the baseline, with intervals and p-values, as rows of results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::column::ColumnId;

/// How intervals and p-values were computed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    /// Number of sessions; a session with its sub-agents is one unit.
    pub sessions: usize,
    /// Number of bootstrap resamples.
    #[serde(alias = "draws")]
    pub resamples: usize,
    /// Nominal coverage of the intervals: 0.95.
    pub level: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// One column of one policy compared with the baseline, over the same sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonRow {
    pub policy: String,
    /// The baseline policy.
    pub against: String,
    pub column: ColumnId,
    /// Sessions in which both have a value.
    pub sessions: usize,
    /// This policy's total minus the baseline's total.
    pub difference: f64,
    /// Interval of the difference, from a paired bootstrap over sessions.
    #[serde(default)]
    pub interval: Option<[f64; 2]>,
    /// p-value: the share of random swaps of the two policies within sessions that give a difference at least as large.
    #[serde(default)]
    pub p: Option<f64>,
    /// The p-value after Holm's adjustment over all policies compared in this column.
    #[serde(default)]
    pub p_holm: Option<f64>,
}
