//! Comparisons of summarizers, as rows of results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Quality of one summarizer's summaries under one policy, over the whole study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummarizerRow {
    /// Name of the policy, without the name of the summarizer.
    pub policy: String,
    /// Name of the summarizer; `recorded` for the summaries in the record, whose spans the recorded agent's harness chose.
    pub summarizer: String,
    /// Samples per summary: how often each request was sent.
    pub replicates: usize,
    /// Sessions with at least one attempt or recorded summary.
    pub sessions: usize,
    /// Number of summaries, in all replicates together.
    pub summaries: u64,
    /// Attempts that gave no summary, in all replicates together.
    pub failed: u64,
    /// Paths, file names and identifiers in the summaries, in all replicates together.
    pub facts: u64,
    /// Those of `facts` that do not occur in the summarised text.
    pub false_facts: u64,
    /// Tokens per summary.
    pub tokens: Spread,
    /// Tokens per summary ÷ the maximum that the layer allows; empty for recorded summaries.
    pub fill: Spread,
    /// Share of facts that the summary kept, by weight of their later uses. Counts facts that only a summary could still hold.
    pub needed: Spread,
    /// Share of the user's rules that the summary repeats word for word. Counts rules that only a summary could still hold.
    pub constraints: Spread,
    /// `false_facts` ÷ `facts`.
    pub false_share: Spread,
}

/// A total over all replicates, and its range over single replicates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Total over all replicates; `None` if the denominator is 0.
    #[serde(default)]
    pub all: Option<f64>,
    /// Smallest and largest total of one replicate; `None` with fewer than two replicates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<[f64; 2]>,
}
