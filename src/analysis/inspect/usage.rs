//! What a provider billed for the recorded calls of a conversation.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Inspection;
use crate::metrics::prices::{Bill, Ledger};
use crate::transcript::conversation::Conversation;

/// What a provider billed for the recorded calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedUsage {
    /// Calls with recorded usage.
    pub calls: usize,
    /// Calls that are not counted here, because an earlier conversation also has them.
    pub repeated_calls: usize,
    pub input: u64,
    pub cache_read: u64,
    /// Tokens written to the cache, for any lifetime.
    pub cache_write: u64,
    /// Tokens written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Tokens written to the cache for an hour.
    pub cache_write_1h: u64,
    pub output: u64,
    /// US dollars at list prices; `None` if the price of a model is unknown, or nothing was recorded.
    pub usd: Option<f64>,
    /// The output, counted where the record has only the first tokens of a stream; and US dollars with it.
    pub output_counted: u64,
    pub usd_counted: Option<f64>,
    /// Calls of branches that are not read. They are in all sums here, and in no request of a replay.
    pub other_branches: usize,
    /// What has no known price and is not in `usd`.
    pub unpriced: BTreeSet<String>,
    /// Tokens of the largest request.
    pub peak_request: u64,
    /// Bill of each model. [`count_calls_once`] makes it anew.
    #[serde(skip_deserializing)]
    pub by_model: Vec<ModelBill>,
}

/// What the calls of one model cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelBill {
    pub model: Option<String>,
    #[serde(flatten)]
    pub bill: Bill,
}

impl RecordedUsage {
    /// Returns what the conversation says itself. [`count_calls_once`] adds the bills.
    pub(super) fn without_bills(conversation: &Conversation) -> Self {
        let requests = conversation.calls.iter().filter_map(|call| call.usage).map(|usage| usage.request());
        let peak_request = requests.max().unwrap_or(0);
        Self { peak_request, other_branches: conversation.other_branches.len(), ..Self::default() }
    }
}

/// Sets the recorded usage of inspections. A call that is in several of them counts only in the first one: resumed and forked
/// sessions begin with the calls of another file.
pub fn count_calls_once(inspections: &mut [Inspection]) {
    let mut ledger = Ledger::default();
    for inspection in inspections {
        let (bills, repeated) = ledger.add(&inspection.call_bills);
        let bill = Bill::sum(bills.values());
        let Bill { calls, input, cache_read, cache_write_5m, cache_write_1h, output, usd, output_counted, usd_counted, .. } =
            bill;
        inspection.recorded_usage = RecordedUsage {
            calls,
            repeated_calls: repeated,
            input,
            cache_read,
            cache_write: cache_write_5m + cache_write_1h,
            cache_write_5m,
            cache_write_1h,
            output,
            usd,
            output_counted,
            usd_counted,
            unpriced: bill.unpriced,
            other_branches: inspection.recorded_usage.other_branches,
            peak_request: inspection.recorded_usage.peak_request,
            by_model: bills.into_iter().map(|(model, bill)| ModelBill { model, bill }).collect(),
        };
    }
}
