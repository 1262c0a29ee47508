//! Whether a model wrote the summaries of a replay.

use crate::engine::summarizer::SUMMARIZERS;
use crate::results::saved::Results;

/// Returns whether the summarizers of a study quote or invent texts, as `extract` does, so that no model wrote any summary. `false` if the
/// results do not say.
pub fn no_model_wrote(results: &Results) -> bool {
    let Some(study) = &results.study else { return false };
    let named = study.spec.get("summarizer").and_then(|list| list.as_array()).into_iter().flatten();
    let is_stand_in = |name: &str| SUMMARIZERS.iter().any(|kind| name.split(':').next() == Some(kind.name));
    named.filter_map(|summarizer| summarizer.as_str()).all(is_stand_in)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::saved::StudyRecord;

    #[test]
    fn only_summarizers_of_our_own_are_stand_ins() {
        let with = |summarizers: serde_json::Value| {
            let spec = [("summarizer".to_owned(), summarizers)].into_iter().collect();
            let study = Some(StudyRecord { spec, ..StudyRecord::default() });
            no_model_wrote(&Results { study, ..Results::default() })
        };
        assert!(with(serde_json::json!([])) && with(serde_json::json!(["extract", "fixed:done"])));
        assert!(!with(serde_json::json!(["extract", "anthropic:claude-sonnet-4-5"])));
        assert!(!no_model_wrote(&Results::default()));
    }
}
