//! How far off the cost of calls was that nothing was recorded of, by model.

use crate::metrics::prices;

/// The error of predicted calls of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictionError {
    /// Name of the model, without a date.
    pub model: &'static str,
    /// Number of parts of recordings, each between two compactions.
    pub parts: usize,
    /// Median of |predicted − paid| ÷ paid over the parts, for the cost of their input.
    pub cost: f64,
}

/// Errors of models of which at least three parts are recorded.
///
/// The usage after the first recorded compaction was taken away, and the calls behind it were predicted. The page *validation* has the test:
/// `cargo test later_calls_are_predicted_without_their_usage -- --ignored --nocapture` prints these numbers, and fails if they are others.
pub const PREDICTION_ERRORS: [PredictionError; 4] = [
    PredictionError { model: "claude-opus-4-5", parts: 13, cost: 0.193 },
    PredictionError { model: "claude-opus-4-6", parts: 11, cost: 0.223 },
    PredictionError { model: "gpt-5.5", parts: 11, cost: 0.183 },
    PredictionError { model: "gpt-5.6-sol", parts: 3, cost: 0.024 },
];

/// Returns the error of a model by its recorded id; `None` if it was not measured.
pub fn prediction_error(model: &str) -> Option<&'static PredictionError> {
    let keys = prices::lookup_keys(model);
    PREDICTION_ERRORS.iter().find(|error| keys.iter().any(|key| key == error.model))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_measured_model_has_an_error() {
        let of = |id| prediction_error(id).map(|error| error.model);
        assert_eq!(of("us.anthropic.claude-opus-4-5-20251101-v1:0"), Some("claude-opus-4-5"));
        assert_eq!(of("openai/GPT-5.5"), Some("gpt-5.5"));
        assert_eq!(["claude-opus-4-50", "claude-opus-4", "gpt-5.5-mini", "kimi-k2", ""].map(of), [None; 5]);
    }
}
