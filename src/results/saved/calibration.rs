//! How tokens were counted where recorded usage tells it.

use serde::{Deserialize, Serialize};

use crate::tokens::calibration::{By, Calibration};
use crate::tokens::meter::{Class, SCALE};

/// One conversation whose tokens were counted as recorded usage tells them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationRow {
    pub transcript: String,
    pub conversation: String,
    /// Empty where the record names none.
    pub model: String,
    /// What was fitted: `recorded`, the conversation itself; else the name of a family of models.
    pub counter: String,
    /// Tokens a Unicode character of tool results, tool uses, text and thinking.
    pub result: f64,
    pub tool_use: f64,
    pub text: f64,
    pub thinking: f64,
    /// Tokens that come with every response.
    pub per_call: u32,
    /// Calls of which it is recorded by how many tokens the request grew, and what for.
    pub deltas: usize,
    /// The median of |estimate − recorded| ÷ recorded over calls that the rates were not fitted to.
    pub error: f64,
    /// Recorded ÷ estimate of those calls: a tenth is below the first, a tenth above the second.
    pub p10: f64,
    pub p90: f64,
}

impl CalibrationRow {
    pub fn new(transcript: &str, conversation: &str, calibration: &Calibration) -> Self {
        let rate = |class: Class| f64::from(calibration.rates.by_class[class as usize]) / SCALE as f64;
        let thousandth = |value: f64| (value * 1e3).round() / 1e3;
        Self {
            transcript: transcript.to_owned(),
            conversation: conversation.to_owned(),
            model: calibration.model.clone().unwrap_or_default(),
            counter: match calibration.by {
                By::Itself => crate::tokens::meter::RECORDED.name.to_owned(),
                By::Family(name) => name.to_owned(),
            },
            result: rate(Class::Result),
            tool_use: rate(Class::ToolUse),
            text: rate(Class::Text),
            thinking: rate(Class::Thinking),
            per_call: calibration.rates.per_call,
            deltas: calibration.deltas,
            error: thousandth(calibration.spread.error),
            p10: thousandth(calibration.spread.p10),
            p90: thousandth(calibration.spread.p90),
        }
    }
}
