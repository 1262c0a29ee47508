//! Estimates the size of the context as the harness does: by its own meter, or by the last recorded usage plus an estimate of the
//! newer messages, or by that usage alone.

use super::layer_runner::LayerRunner;
use super::{ReplaySetup, replay};
use crate::engine::context::Context;
use crate::engine::journal::{Journal, Request};
use crate::engine::policy::Policy;
use crate::tokens::meter::Meter;

/// Recorded usage of the requests that the recorded agent sent, one entry per call.
#[derive(Debug, Clone)]
pub struct RecordedRequests(Vec<Option<RecordedUsage>>);

#[derive(Debug, Clone, Copy)]
struct RecordedUsage {
    /// Tokens of the request by the provider's count.
    usage: u64,
    /// Tokens of the same messages by this program's count, without overhead.
    counted: u64,
    /// The provider's tokens per counted token, measured at the largest request up to this call.
    scale: f64,
}

/// The recorded session, replayed with its own compactions.
pub struct RecordedReplay {
    pub policy: Policy,
    pub journal: Journal,
}

impl RecordedReplay {
    /// Replays the conversation through the preset `recorded`.
    pub fn replay(setup: &ReplaySetup) -> Self {
        let policy = Policy::recorded();
        let journal = replay(&ReplaySetup { policy: &policy, ..*setup }, &mut super::NoObserver);
        Self { policy, journal }
    }
}

impl RecordedRequests {
    /// Combines the recorded usage with this program's token counts of the replayed recording.
    pub fn new(setup: &ReplaySetup, record: &RecordedReplay) -> Self {
        let calls = &setup.conversation.calls;
        let mut recorded = vec![None; calls.len()];
        let (mut largest, mut scale) = (0, 1.0);
        for request in &record.journal.requests {
            let Some(usage) = calls[request.call].billed().map(|usage| usage.request()) else { continue };
            let counted = request.tokens - setup.overhead;
            if counted > largest {
                (largest, scale) = (counted, usage.saturating_sub(setup.overhead) as f64 / counted as f64);
            }
            recorded[request.call] = Some(RecordedUsage { usage, counted, scale });
        }
        Self(recorded)
    }

    /// Returns the tokens of a request that counts `counted` tokens, without overhead, at a call with recorded usage. If a policy
    /// has edited the context, the usage belongs to a different request: then the difference between both requests, as this
    /// program counts them, is added, scaled to the provider's tokens.
    fn size(&self, call: usize, counted: u64) -> Option<u64> {
        let recorded = self.0[call]?;
        let difference = (counted as f64 - recorded.counted as f64) * recorded.scale;
        Some((recorded.usage as f64 + difference).round().max(0.0) as u64)
    }

    /// Returns the tokens of each request of a replay by the provider's count: exact where the recorded agent sent the same
    /// request, an estimate where it sent another one, and the count of this program where nothing is recorded.
    pub fn sizes_of(&self, journal: &Journal) -> Vec<u64> {
        let size = |request: &Request| self.size(request.call, request.tokens - journal.overhead).unwrap_or(request.tokens);
        journal.requests.iter().map(size).collect()
    }
}

impl LayerRunner<'_, '_> {
    /// Returns the size of the context by a meter.
    ///
    /// A meter of recorded usage starts with the provider's count of the last request ([`RecordedRequests`]). It is exact while this
    /// policy and the recorded one send the same request, and an estimate afterwards. Newer messages are added by the
    /// meter's own estimate. This includes the last response, because the output usage in most recordings is a placeholder of the
    /// stream.
    pub fn estimate(&self, meter: Meter, context: &Context) -> u64 {
        let by_usage = if meter.recorded { self.estimate_by_usage(meter, context) } else { None };
        by_usage.unwrap_or_else(|| {
            let overhead = if meter.recorded { self.setup.overhead } else { 0 };
            overhead + meter.apply(context.size(meter.unit))
        })
    }

    fn estimate_by_usage(&self, meter: Meter, context: &Context) -> Option<u64> {
        let last = self.last_sent.as_ref()?;
        let request_tokens = self.setup.recorded?.size(last.call, last.tokens)?;
        if meter.usage_only {
            return Some(request_tokens + self.setup.conversation.calls[last.call].recorded_output());
        }
        let unit_index = self.setup.sizes.units().iter().position(|unit| *unit == meter.unit)?;
        let newer = context.appended(meter.unit) - last.appended[unit_index];
        Some(request_tokens + meter.apply(newer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The provider counted 1,000 tokens for the recorded request. This program counts 500 and an overhead of 100, and one counted
    /// token is 1.5 tokens of the provider. A request with 200 counted tokens less has 300 less. The second call has no usage.
    #[test]
    fn request_has_the_recorded_size_and_what_differs_is_counted() {
        let recorded = RecordedRequests(vec![Some(RecordedUsage { usage: 1_000, counted: 500, scale: 1.5 }), None]);
        let sizes = |requests: &[(usize, u64)]| {
            let request = |(call, tokens): &(usize, u64)| Request { call: *call, tokens: *tokens, ..Request::default() };
            recorded.sizes_of(&Journal { requests: requests.iter().map(request).collect(), overhead: 100, ..Journal::default() })
        };
        assert_eq!(sizes(&[(0, 600), (1, 250)]), [1_000, 250]);
        assert_eq!(sizes(&[(0, 400), (1, 250)]), [700, 250]);
        assert_eq!(sizes(&[(0, 100)]), [250]);
    }
}
