//! Cache invalidations and cost checks, as rows of results.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Cache invalidations by one layer of one policy: edits to a prefix that the provider still had in its prompt cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InvalidationRow {
    pub policy: String,
    /// The layer's id.
    pub layer: String,
    /// Number of cache invalidations.
    #[serde(alias = "breaks")]
    pub count: u64,
    /// Tokens written to the cache again: content that had been sent before, and content that the edits inserted.
    #[serde(alias = "rebilled")]
    pub tokens_rewritten: u64,
    /// Tokens that the edits removed; negative if they added tokens.
    #[serde(alias = "freed")]
    pub tokens_freed: i64,
    /// Extra cost in USD: the price of writing these tokens again, minus the price of reading them. `None` if no price is known.
    #[serde(default)]
    pub usd: Option<f64>,
    /// Median number of calls after which an invalidation has saved what it cost; `None` if it never does.
    #[serde(default)]
    pub break_even: Option<f64>,
    /// Number of invalidations that had saved their cost before the next invalidation or the end.
    pub paid: u64,
}

/// One cache invalidation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostlyInvalidation {
    pub policy: String,
    pub transcript: String,
    pub conversation: String,
    /// The call whose request no longer matched the cached prefix, from 1.
    pub call: usize,
    /// The line of the response in the transcript.
    pub line: u32,
    /// The id of the layer that made the edit.
    pub layer: String,
    /// Tokens written to the cache again.
    #[serde(alias = "rebilled")]
    pub tokens_rewritten: u64,
    /// Tokens that the edits removed; negative if they added tokens.
    #[serde(alias = "freed")]
    pub tokens_freed: i64,
    /// Extra cost, as a number of input tokens that cost the same.
    pub tokens: f64,
    /// Extra cost in USD; `None` if the price is unknown.
    #[serde(default)]
    pub usd: Option<f64>,
    /// Calls after which the edit has saved what it cost; `None` if it never does.
    #[serde(default)]
    pub break_even: Option<f64>,
    /// Calls until the next invalidation or the end.
    pub followed: u64,
}

/// The cost check of one conversation: the recorded session replayed, compared with what the provider billed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckRow {
    pub transcript: Arc<str>,
    pub conversation: Arc<str>,
    /// Calls with recorded usage.
    pub calls: usize,
    /// Calls that match: simulated and recorded cache reads differ by at most a twentieth of the request.
    #[serde(alias = "alike")]
    pub matching_calls: usize,
    /// Tokens read from the cache, as recorded.
    pub recorded_read: u64,
    /// Tokens read from the cache, as simulated.
    pub simulated_read: u64,
    /// Tokens of the requests, as recorded.
    pub tokens: u64,
    /// Tokens of the requests, by the token counter of the report.
    pub counted_tokens: u64,
    /// Cost of input and recorded output as billed: in USD, or in input tokens that cost the same.
    pub recorded_cost: f64,
    /// The same cost with the simulated prompt cache.
    pub simulated_cost: f64,
    /// The same with the tokens that the token counter of the report finds in the requests.
    #[serde(default)]
    pub counted_cost: f64,
    /// Cost of the recorded usage as it is, as ccusage computes it. `recorded_cost` also has cache writes that the record calls input.
    #[serde(default)]
    pub usage_cost: f64,
    /// Whether the two costs are in USD.
    pub in_usd: bool,
    /// Error against the bill: simulated ÷ recorded − 1.
    #[serde(alias = "residual")]
    pub error: f64,
    /// The same cost and error without cache events; results of older versions have no cache events.
    #[serde(default)]
    pub ideal_cost: f64,
    #[serde(alias = "ideal_residual", default)]
    pub ideal_error: f64,
    #[serde(default)]
    pub events: EventCounts,
    /// The call with the largest difference, from 1.
    #[serde(default)]
    pub worst_call: Option<usize>,
    /// The reason for the difference, as far as the record shows it.
    #[serde(default)]
    pub why: Option<String>,
    /// Whether the error is within the limit, so that the conversation gets costs.
    pub priced: bool,
}

/// Requests of a recorded session that read something else from the prompt cache than the provider's rules say. Saved results may hold
/// any number, so sums stop at the largest one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventCounts {
    /// Less was cached than the session had sent.
    pub evicted: usize,
    /// Something was cached after the lifetime that was paid for.
    pub lived_on: usize,
    /// More was cached than the recorded requests had sent.
    pub extended: usize,
    /// How many of them the replays took over.
    pub replayed: usize,
}

impl EventCounts {
    /// Returns the number of calls of all kinds.
    pub fn total(&self) -> usize {
        self.evicted.saturating_add(self.lived_on).saturating_add(self.extended)
    }

    /// Returns the sums of both.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            evicted: self.evicted.saturating_add(other.evicted),
            lived_on: self.lived_on.saturating_add(other.lived_on),
            extended: self.extended.saturating_add(other.extended),
            replayed: self.replayed.saturating_add(other.replayed),
        }
    }
}
