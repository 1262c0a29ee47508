//! What a harness believes its context to be: its own meter, or the provider's last usage and an estimate of what came after.

use super::clerk::Clerk;
use super::{Setup, replay};
use crate::context::Context;
use crate::meter::Meter;
use crate::policy::preset;

/// Counted tokens of the requests that the recorded agent sent, one a call: overhead not included.
#[derive(Debug, Clone)]
pub struct RecordedRequests {
    tokens: Vec<Option<u64>>,
}

impl RecordedRequests {
    /// Replays the recorded compactions to count them.
    pub fn of(setup: &Setup) -> Self {
        let policy = preset("recorded").and_then(|preset| preset.policy(&[]).ok());
        let mut tokens = vec![None; setup.conversation.calls.len()];
        if let Some(policy) = policy {
            for request in replay(&Setup { policy: &policy, ..*setup }, &mut super::NoObserver).requests {
                tokens[request.call] = Some(request.tokens - setup.overhead);
            }
        }
        Self { tokens }
    }
}

impl Clerk<'_, '_> {
    /// The context's size by a meter.
    ///
    /// A meter of recorded usage reads the usage of the last recorded call. That call answered another request where this
    /// policy has edited the context, so the usage is scaled by what both requests count: exact as long as they are the
    /// same, an estimate afterwards. What was appended since is added by the meter's own estimate, the last response
    /// included: the output that most records hold is the placeholder of a stream.
    pub fn estimate(&self, meter: Meter, context: &Context) -> u64 {
        let by_usage = if meter.recorded { self.by_usage(meter, context) } else { None };
        by_usage.unwrap_or_else(|| {
            let overhead = if meter.recorded { self.setup.overhead } else { 0 };
            overhead + meter.apply(context.size(meter.measure))
        })
    }

    fn by_usage(&self, meter: Meter, context: &Context) -> Option<u64> {
        let last = self.last_sent.as_ref()?;
        let usage = self.setup.conversation.calls[last.call].usage?.request();
        let counted = self.setup.recorded?.tokens[last.call]?.max(1);
        let scale = usage.saturating_sub(self.setup.overhead) as f64 / counted as f64;
        let sent = self.setup.overhead + (scale * last.tokens as f64).round() as u64;
        let slot = self.setup.sizes.measures().iter().position(|m| *m == meter.measure)?;
        let newer = context.appended(meter.measure) - last.appended[slot];
        Some(sent + meter.apply(newer))
    }
}
