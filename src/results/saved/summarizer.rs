//! Summarizers side by side, as rows of results.

use serde::{Deserialize, Serialize};

/// What one summarizer's summaries were worth to one policy, over the whole study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SummarizerRow {
    /// As it was asked for, without the summarizer's name.
    pub policy: String,
    /// As it was asked for; `recorded`: the summaries that the record holds, of the spans that the recorded agent's harness chose.
    pub summarizer: String,
    /// How often it was asked each question.
    pub replicates: usize,
    /// Sessions in which it was asked, or in which a recorded summary stands.
    pub sessions: usize,
    /// Of all replicates together; so are the next three.
    pub summaries: u64,
    /// Attempts that gave none.
    pub failed: u64,
    /// Paths, file names and identifiers in them; and those that stand nowhere in what they were made of.
    pub facts: u64,
    pub false_facts: u64,
    /// Tokens a summary.
    pub tokens: Spread,
    /// These tokens ÷ what the layers allow; none for those of the record.
    pub fill: Spread,
    /// Of the weight of later uses of facts that only a summary could still hold: those it held.
    pub needed: Spread,
    /// Of the users' rules that only a summary could still hold: those it repeats word for word.
    pub constraints: Spread,
    /// `false_facts` ÷ `facts`.
    pub false_share: Spread,
}

/// The total over all replicates, and how far theirs are apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// None where there is nothing to divide by.
    #[serde(default)]
    pub all: Option<f64>,
    /// The least and the most of one replicate's total; none with fewer than two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<[f64; 2]>,
}
