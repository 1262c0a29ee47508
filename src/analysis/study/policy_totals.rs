//! What adds up over a policy's replays, besides its rows.

use serde::{Deserialize, Serialize};

use crate::metrics::retention::GroupTotals;
use crate::results::saved::{CostlyInvalidation, MissRow};

use super::costs::LayerBreaks;
use super::layers::LayerWork;

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
}
