//! Inspections as they are kept for the next run.

use serde::{Deserialize, Serialize};

use super::Inspection;
use crate::metrics::prices::CallBill;
use crate::results::saved::Kinship;

/// An inspection, with what its JSON leaves out.
#[derive(Debug, Serialize, Deserialize)]
pub struct KeptInspection {
    inspection: Inspection,
    kin: Kinship,
    call_bills: Vec<CallBill>,
    /// Estimated and recorded tokens of each call, for each meter.
    pairs: Vec<Vec<(f64, u64)>>,
}

impl From<Inspection> for KeptInspection {
    fn from(mut inspection: Inspection) -> Self {
        Self {
            kin: std::mem::take(&mut inspection.kin),
            call_bills: std::mem::take(&mut inspection.call_bills),
            pairs: inspection.meters.iter_mut().map(|meter| std::mem::take(&mut meter.pairs)).collect(),
            inspection,
        }
    }
}

impl From<KeptInspection> for Inspection {
    fn from(KeptInspection { mut inspection, kin, call_bills, pairs }: KeptInspection) -> Self {
        for (meter, pairs) in inspection.meters.iter_mut().zip(pairs) {
            meter.pairs = pairs;
        }
        Self { kin, call_bills, ..inspection }
    }
}
