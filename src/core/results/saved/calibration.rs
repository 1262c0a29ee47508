//! Token calibrations, as rows of results.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tokens::calibration::{Calibration, RateSource};
use crate::tokens::meter::{SCALE, TextClass};

/// The token rates of one conversation, fitted to recorded usage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalibrationRow {
    pub transcript: Arc<str>,
    pub conversation: Arc<str>,
    /// Model of the conversation; empty if the record does not name one.
    pub model: String,
    /// Where the rates come from: `recorded` if they were fitted to this conversation, else the name of a model family.
    pub counter: String,
    /// Tokens per Unicode character of tool results.
    pub result: f64,
    /// Tokens per Unicode character of tool uses.
    pub tool_use: f64,
    /// Tokens per Unicode character of text.
    pub text: f64,
    /// Tokens per Unicode character of thinking.
    pub thinking: f64,
    /// Fixed tokens per response.
    pub per_call: u32,
    /// Calls compared: for these the record shows by how many tokens the request grew, and which content caused it.
    #[serde(alias = "deltas")]
    pub compared_calls: usize,
    /// Median of |estimate − recorded| ÷ recorded, over calls that the rates were not fitted to.
    pub error: f64,
    /// 10th percentile of recorded ÷ estimate over these calls.
    pub p10: f64,
    /// 90th percentile of recorded ÷ estimate over these calls.
    pub p90: f64,
}

impl CalibrationRow {
    /// Builds the row of a conversation's calibration.
    pub fn new(transcript: &str, conversation: &str, calibration: &Calibration) -> Self {
        let rate = |class: TextClass| f64::from(calibration.rates.by_class[class as usize]) / SCALE as f64;
        let to_thousandths = |value: f64| (value * 1e3).round() / 1e3;
        Self {
            transcript: transcript.into(),
            conversation: conversation.into(),
            model: calibration.model.clone().unwrap_or_default(),
            counter: match calibration.by {
                RateSource::Itself => crate::tokens::meter::RECORDED.name.to_owned(),
                RateSource::Family(name) => name.to_owned(),
            },
            result: rate(TextClass::Result),
            tool_use: rate(TextClass::ToolUse),
            text: rate(TextClass::Text),
            thinking: rate(TextClass::Thinking),
            per_call: calibration.rates.per_call,
            compared_calls: calibration.deltas,
            error: to_thousandths(calibration.spread.error),
            p10: to_thousandths(calibration.spread.p10),
            p90: to_thousandths(calibration.spread.p90),
        }
    }
}
