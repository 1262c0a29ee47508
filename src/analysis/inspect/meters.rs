//! Compares the estimates of meters with the tokens that a conversation recorded.

use serde::{Deserialize, Serialize};

use crate::tokens::block_sizes::BlockSizes;
use crate::tokens::calibration::{Calibration, Delta, Fit, Spread, deltas, metered, own};
use crate::tokens::meter::{Meter, RECORDED, Rounding, SizeUnit};
use crate::transcript::conversation::Conversation;

/// Accuracy of one meter, over the calls with a recorded growth of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeterCheck {
    pub meter: String,
    /// Number of compared calls.
    pub deltas: usize,
    /// Sum of the estimates ÷ sum of the recorded tokens.
    pub ratio: f64,
    /// Median of |estimate − recorded| ÷ recorded.
    pub error: f64,
    /// 10th percentile of recorded ÷ estimate.
    pub p10: f64,
    /// 90th percentile of recorded ÷ estimate.
    pub p90: f64,
    /// Estimated and recorded tokens of each call.
    #[serde(skip)]
    pub pairs: Vec<(f64, u64)>,
}

/// Every unit of size with the divisor that harnesses use with it, and bytes also with the divisor that is more accurate.
const CHECKED: [Meter; 10] = [
    quotient(SizeUnit::Chars, 4.0),
    quotient(SizeUnit::Bytes, 4.0),
    quotient(SizeUnit::Utf16, 4.0),
    quotient(SizeUnit::PyRepr, 4.0),
    quotient(SizeUnit::Json, 4.0),
    quotient(SizeUnit::JsonAscii, 4.0),
    quotient(SizeUnit::JsJson, 4.0),
    quotient(SizeUnit::Bytes, 3.0),
    Meter::from_unit(SizeUnit::O200k),
    Meter::from_unit(SizeUnit::Cl100k),
];

const fn quotient(measure: SizeUnit, by: f64) -> Meter {
    Meter { rounding: Rounding::Floor(by), ..Meter::from_unit(measure) }
}

impl MeterCheck {
    /// Compares pairs of estimated and recorded tokens. `None` if there are none.
    pub fn new(meter: String, pairs: Vec<(f64, u64)>) -> Option<Self> {
        let spread = Spread::from_pairs(pairs.iter().copied())?;
        let [ratio, error, p10, p90] = [spread.ratio, spread.error, spread.p10, spread.p90].map(|v| (v * 1e3).round() / 1e3);
        Some(Self { meter, deltas: pairs.len(), ratio, error, p10, p90, pairs })
    }
}

/// Checks every meter. The last one is fitted to recorded usage; each half of the session uses the rates of the other half. `sizes` are
/// those of the report, and `calibration` is that of its counter, if it was fitted.
pub(super) fn checks(conversation: &Conversation, sizes: &BlockSizes, calibration: Option<&Calibration>) -> Vec<MeterCheck> {
    let deltas = deltas(conversation);
    let mut checks: Vec<_> = CHECKED.iter().filter_map(|meter| check(conversation, &deltas, meter, sizes)).collect();
    let own = own(conversation, &deltas);
    let fitted = match calibration {
        Some(calibration) => calibration.held_out.clone(),
        None => Fit::from_deltas(&own).map(|fit| fit.held_out).unwrap_or_default(),
    };
    let pairs = fitted.into_iter().zip(own.iter().map(|delta| delta.tokens)).collect();
    checks.extend(MeterCheck::new(RECORDED.name.to_owned(), pairs));
    checks
}

fn check(conversation: &Conversation, deltas: &[Delta], meter: &Meter, sizes: &BlockSizes) -> Option<MeterCheck> {
    MeterCheck::new(meter.to_string(), metered(conversation, deltas, meter, Some(sizes)))
}
