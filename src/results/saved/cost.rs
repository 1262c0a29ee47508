//! What edits cost in the provider's prompt cache, and how well the cache's simulation stands up to the record, as rows.

use serde::{Deserialize, Serialize};

/// The prefixes that one layer of one policy made unreadable while they were still cached.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BreakRow {
    pub policy: String,
    /// The layer's id.
    pub layer: String,
    pub breaks: u64,
    /// Tokens written that were not new: what had been sent before, and what the edits put in.
    pub rebilled: u64,
    /// Tokens the edits took out; negative where they put some in.
    pub freed: i64,
    /// What writing again cost more than reading would have, where the price is known; none where no price is.
    #[serde(default)]
    pub usd: Option<f64>,
    /// Calls after which a break has saved what it cost, the median; none where that never comes.
    #[serde(default)]
    pub break_even: Option<f64>,
    /// How many had that many calls before the next break or the end.
    pub paid: u64,
}

/// One break.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CostlyBreak {
    pub policy: String,
    pub transcript: String,
    pub conversation: String,
    /// The call whose request was broken, from 1.
    pub call: usize,
    /// The line of its response.
    pub line: u32,
    pub layer: String,
    pub rebilled: u64,
    pub freed: i64,
    /// What writing again cost more than reading would have, in tokens at the price of input.
    pub tokens: f64,
    #[serde(default)]
    pub usd: Option<f64>,
    /// Calls after which it has saved what it cost; none: never.
    #[serde(default)]
    pub break_even: Option<f64>,
    /// Calls until the next break or the end.
    pub followed: u64,
}

/// One conversation's record replayed, against what the provider billed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckRow {
    pub transcript: String,
    pub conversation: String,
    /// Calls with recorded usage.
    pub calls: usize,
    /// Of those, calls that read from the cache what the record says, to a twentieth of the request.
    pub alike: usize,
    pub recorded_read: u64,
    pub simulated_read: u64,
    /// Tokens of the requests: recorded, and as the report's counter sees them.
    pub tokens: u64,
    pub counted_tokens: u64,
    /// Input and recorded output: in USD, or in tokens at the price of input.
    pub recorded_cost: f64,
    pub simulated_cost: f64,
    pub in_usd: bool,
    /// Simulated ÷ recorded − 1.
    pub residual: f64,
    /// The call that differs most, from 1.
    #[serde(default)]
    pub worst_call: Option<usize>,
    /// What the record shows of the reason.
    #[serde(default)]
    pub why: Option<String>,
    /// The residual is within the limit, and the conversation has costs.
    pub priced: bool,
}
