//! Follows the faults of a replay from request to request.

use std::collections::BTreeMap;

use super::Request;
use crate::engine::context::{Cause, Fault, FaultKind};

/// The faults of the current request, counted by kind and cause. A step takes time in proportion to what changed.
#[derive(Debug, Default)]
pub struct FaultTally {
    faults: Vec<Fault>,
    counts: BTreeMap<(FaultKind, Cause), usize>,
}

impl FaultTally {
    /// Advances to the next request. Visit all requests in order, because each is a difference from the one before.
    pub fn advance(&mut self, request: &Request) {
        for gone in self.faults.drain(request.faults.shared_prefix.min(self.faults.len())..) {
            self.counts.entry((gone.kind, gone.cause)).and_modify(|count| *count -= 1);
        }
        for fault in &request.faults.appended {
            *self.counts.entry((fault.kind, fault.cause)).or_default() += 1;
        }
        self.faults.extend(&request.faults.appended);
    }

    /// The faults of the current request.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Kinds and causes of the faults of the current request, each once.
    pub fn kinds(&self) -> impl Iterator<Item = (FaultKind, Cause)> {
        self.counts.iter().filter(|(_, count)| **count > 0).map(|(kind, _)| *kind)
    }
}
