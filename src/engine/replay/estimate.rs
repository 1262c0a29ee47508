//! What a harness believes its context to be: its own meter, or the provider's last usage and an estimate of what came after.

use super::layer_runner::LayerRunner;
use super::{Setup, replay};
use crate::engine::context::Context;
use crate::engine::journal::Journal;
use crate::engine::policy::{Policy, preset};
use crate::tokens::meter::Meter;

/// What the record says of the requests that the recorded agent sent, one a call.
#[derive(Debug, Clone)]
pub struct RecordedRequests(Vec<Option<Recorded>>);

#[derive(Debug, Clone, Copy)]
struct Recorded {
    /// Tokens the provider read.
    usage: u64,
    /// Tokens this program counts in the same messages; overhead not included.
    counted: u64,
    /// Tokens of the provider for each one counted, as far as the record had told by then: at its largest request.
    scale: f64,
}

/// The record, replayed with its own compactions.
pub struct Record {
    pub policy: Policy,
    pub journal: Journal,
}

impl Record {
    pub fn replay(setup: &Setup) -> Option<Self> {
        let policy = preset("recorded")?.policy(&[]).ok()?;
        let journal = replay(&Setup { policy: &policy, ..*setup }, &mut super::NoObserver);
        Some(Self { policy, journal })
    }
}

impl RecordedRequests {
    /// By the requests of the replayed record, which count what was sent.
    pub fn of(setup: &Setup, record: &Record) -> Self {
        let calls = &setup.conversation.calls;
        let mut recorded = vec![None; calls.len()];
        let (mut largest, mut scale) = (0, 1.0);
        for request in &record.journal.requests {
            let Some(usage) = calls[request.call].billed().map(|usage| usage.request()) else { continue };
            let counted = request.tokens - setup.overhead;
            if counted > largest {
                (largest, scale) = (counted, usage.saturating_sub(setup.overhead) as f64 / counted as f64);
            }
            recorded[request.call] = Some(Recorded { usage, counted, scale });
        }
        Self(recorded)
    }
}

impl LayerRunner<'_, '_> {
    /// The context's size by a meter.
    ///
    /// A meter of recorded usage reads the usage of the last recorded call. That call answered another request where this
    /// policy, or the recorded one, has edited the context: then what this program counts more or less in its own request is
    /// added, in the provider's tokens. So it is exact as long as both requests are the same, an estimate afterwards. What was
    /// appended since is added by the meter's own estimate, the last response included: the output that most records hold
    /// is the placeholder of a stream.
    pub fn estimate(&self, meter: Meter, context: &Context) -> u64 {
        let by_usage = if meter.recorded { self.by_usage(meter, context) } else { None };
        by_usage.unwrap_or_else(|| {
            let overhead = if meter.recorded { self.setup.overhead } else { 0 };
            overhead + meter.apply(context.size(meter.measure))
        })
    }

    fn by_usage(&self, meter: Meter, context: &Context) -> Option<u64> {
        let last = self.last_sent.as_ref()?;
        let recorded = self.setup.recorded?.0[last.call]?;
        let difference = (last.tokens as f64 - recorded.counted as f64) * recorded.scale;
        let sent = (recorded.usage as f64 + difference).round().max(0.0) as u64;
        let slot = self.setup.sizes.measures().iter().position(|m| *m == meter.measure)?;
        let newer = context.appended(meter.measure) - last.appended[slot];
        Some(sent + meter.apply(newer))
    }
}
