//! What adds up over a policy's replays, besides its rows.

use serde::{Deserialize, Serialize};

use crate::metrics::retention::GroupTotals;
use crate::results::saved::{CostlyInvalidation, MissRow};

use super::costs::LayerBreaks;
use super::layers::LayerWork;
use super::{Study, costs, retention};

/// Totals of one policy over the conversations of a transcript, or of all transcripts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PolicyTotals {
    pub layers: LayerWork,
    pub retention: GroupTotals,
    pub misses: Vec<MissRow>,
    pub breaks: LayerBreaks,
    pub costliest_breaks: Vec<CostlyInvalidation>,
}

impl PolicyTotals {
    pub fn add(&mut self, other: Self) {
        self.layers.add(other.layers);
        self.retention.add(&other.retention);
        self.misses.extend(other.misses);
        self.breaks.add(other.breaks);
        self.costliest_breaks.extend(other.costliest_breaks);
    }

    /// Keeps of the misses and the invalidations only those that the study lists.
    pub fn keep_worst(&mut self, study: &Study) {
        retention::keep_worst(study.misses, &mut self.misses);
        costs::keep_costliest(study.breaks, &mut self.costliest_breaks);
    }
}
