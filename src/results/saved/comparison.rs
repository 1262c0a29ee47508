//! Policies against the one they are compared with, and how sure that is, as rows.

use serde::{Deserialize, Serialize};

use crate::metrics::column::ColumnId;

/// How intervals and p-values were drawn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Sessions that were drawn from: a session with its sub-agents is one unit.
    pub sessions: usize,
    /// Bootstrap draws.
    pub draws: usize,
    /// What the intervals are to cover: 0.95.
    pub level: f64,
    pub seed: u64,
}

/// One column of one policy against the baseline, over the same sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    pub policy: String,
    /// The policy it is compared with.
    pub against: String,
    pub column: ColumnId,
    /// Sessions in which both have a value.
    pub sessions: usize,
    /// This policy's total less the other's.
    pub difference: f64,
    /// Of the difference, by paired draws of sessions.
    #[serde(default)]
    pub interval: Option<[f64; 2]>,
    /// How often chance alone, swapping the two policies within sessions, gives a difference as large.
    #[serde(default)]
    pub p: Option<f64>,
    /// The same, adjusted after Holm for all policies that are compared by this column.
    #[serde(default)]
    pub p_holm: Option<f64>,
}
