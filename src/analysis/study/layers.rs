//! Totals of what the layers of a policy did over many replays.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use serde::{Deserialize, Serialize};

use crate::engine::context::{Cause, FaultKind};
use crate::engine::journal::{EventKind, FaultTally, Journal};
use crate::engine::policy::Policy;
use crate::results::saved::LayerRow;
use crate::util::text::plural;

/// Totals of one policy's layers, by index.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LayerWork(Vec<LayerTotals>);

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct LayerTotals {
    fired: u64,
    skipped: u64,
    failed: u64,
    edits: u64,
    tokens_freed: i64,
    /// Why it was skipped or failed, and how often.
    reasons: BTreeMap<String, u64>,
    /// Number of requests it broke, and the kinds of faults.
    broken: usize,
    faults: BTreeSet<FaultKind>,
}

impl LayerWork {
    fn layer(&mut self, index: usize) -> &mut LayerTotals {
        if self.0.len() <= index {
            self.0.reserve_exact(index + 1 - self.0.len());
            self.0.resize_with(index + 1, LayerTotals::default);
        }
        &mut self.0[index]
    }

    pub fn add_journal(&mut self, journal: &Journal) {
        for event in &journal.events {
            let work = self.layer(event.layer);
            match &event.kind {
                EventKind::Fired { edits, before, after } => {
                    work.fired += 1;
                    work.edits += *edits as u64;
                    work.tokens_freed += *before as i64 - *after as i64;
                }
                EventKind::Wrote => work.fired += 1,
                EventKind::Failed { why } => {
                    work.failed += 1;
                    *work.reasons.entry(format!("failed: {why}")).or_default() += 1;
                }
                EventKind::Skipped { why } => {
                    work.skipped += 1;
                    *work.reasons.entry(format!("skipped: {why}")).or_default() += 1;
                }
            }
        }
        let mut tally = FaultTally::default();
        for request in &journal.requests {
            tally.advance(request);
            let mut layers = BTreeSet::new();
            for (kind, cause) in tally.kinds() {
                if let Cause::Layer(layer) = cause {
                    self.layer(layer).faults.insert(kind);
                    layers.insert(layer);
                }
            }
            for layer in layers {
                self.layer(layer).broken += 1;
            }
        }
    }

    pub fn add(&mut self, other: LayerWork) {
        for (layer, work) in other.0.into_iter().enumerate() {
            let sum = self.layer(layer);
            sum.fired += work.fired;
            sum.skipped += work.skipped;
            sum.failed += work.failed;
            sum.edits += work.edits;
            sum.tokens_freed += work.tokens_freed;
            sum.broken += work.broken;
            sum.faults.extend(work.faults);
            for (reason, times) in work.reasons {
                *sum.reasons.entry(reason).or_default() += times;
            }
        }
    }

    /// Returns one row per layer, in the order of the policy; disabled layers have none.
    pub fn rows(self, policy: &Policy) -> Vec<LayerRow> {
        let mut work = self.0;
        let enabled = policy.layers.iter().enumerate().filter(|(_, layer)| layer.enabled);
        let row = |(index, layer): (usize, &crate::engine::layer::Layer)| {
            let work = work.get_mut(index).map(mem::take).unwrap_or_default();
            LayerRow {
                policy: policy.name.clone(),
                layer: layer.id.clone(),
                fired: work.fired,
                skipped: work.skipped,
                failed: work.failed,
                edits: work.edits,
                tokens_freed: work.tokens_freed,
                note: work.note(),
            }
        };
        enabled.map(row).collect()
    }
}

impl LayerTotals {
    fn note(&self) -> Option<String> {
        let mut notes = Vec::new();
        if self.broken > 0 {
            let faults: Vec<_> = self.faults.iter().map(|fault| fault.name()).collect();
            notes.push(format!("broke {}: {}", plural(self.broken, "request"), faults.join(", ")));
        }
        notes.extend(self.reasons.iter().map(|(reason, times)| format!("{reason} (×{times})")));
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}
