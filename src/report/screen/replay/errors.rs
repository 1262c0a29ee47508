//! How far off costs and tokens are: as measured for the models of the sessions.

use std::collections::{BTreeMap, BTreeSet};

use crate::metrics::cost::prediction_error;
use crate::report::escape;
use crate::report::number_format::value;
use crate::results::saved::{Results, Unit};
use crate::tokens::calibration::median;
use crate::tokens::meter::RECORDED;
use crate::util::text;

/// Maximum models that are named one by one.
const MOST_NAMED: usize = 3;
/// Maximum characters of a name.
const LONGEST_NAME: usize = 40;

/// Returns the models that the sessions name.
fn models(results: &Results) -> BTreeSet<&str> {
    results.rows.iter().filter_map(|row| row.recording.model.as_deref()).collect()
}

/// `those of calls without a bill were 19.3% off in our recordings of claude-opus-4-5`
pub fn of_costs(results: &Results) -> String {
    let (mut measured, mut unmeasured) = (BTreeMap::new(), BTreeSet::new());
    for model in models(results) {
        match prediction_error(model) {
            Some(error) => drop(measured.insert(error.model, error.cost)),
            None => drop(unmeasured.insert(model)),
        }
    }
    let unmeasured: Vec<String> = unmeasured.into_iter().map(name).collect();
    let of_others = match (unmeasured.len(), measured.is_empty()) {
        (0, true) => return "how far they are off is not measured, as the sessions name no model".to_owned(),
        (0, false) => String::new(),
        (_, true) => return format!("how far they are off is not measured for {}", list(&unmeasured, "model")),
        (_, false) => format!(", and it is not measured for {}", list(&unmeasured, "other model")),
    };
    let each: Vec<String> =
        measured.iter().map(|(model, cost)| format!("{} off in our recordings of {model}", share(*cost))).collect();
    format!("those of calls without a bill were {}{of_others}", list(&each, "model"))
}

/// `Token counts were 8.6% off on held-out calls of claude-opus-4-5-20251101.`
pub fn of_tokens(results: &Results) -> String {
    let mut errors: BTreeMap<(&str, bool), Vec<f64>> = BTreeMap::new();
    for row in &results.calibrations {
        errors.entry((&row.model, row.counter == RECORDED.name)).or_default().push(row.error);
    }
    let each = errors.iter_mut().filter_map(|((model, is_own), errors)| {
        let of = if *is_own { "held-out calls" } else { "other sessions" };
        let model = if model.is_empty() { "an unnamed model" } else { model };
        Some(format!("{} off on {of} of {}", share(median(errors)?), name(model)))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() {
        return "How far token counts are off is not measured.".to_owned();
    }
    format!("Token counts were {}.", list(&each, "model"))
}

/// Returns the name of a model, or the beginning of a long one.
fn name(model: &str) -> String {
    let head = text::head(model, LONGEST_NAME);
    escape::terminal(head).into_owned() + if head.len() < model.len() { "…" } else { "" }
}

fn share(error: f64) -> String {
    value(Unit::Share, Some(error))
}

/// Lists texts: `a, b and c`, or `a, b, c and 2 models more` beyond the most. `what` is the singular.
fn list(texts: &[String], what: &str) -> String {
    let mut parts: Vec<String> = texts.iter().take(MOST_NAMED).cloned().collect();
    if texts.len() > MOST_NAMED {
        parts.push(format!("{} more", text::plural(texts.len() - MOST_NAMED, what)));
    }
    match parts.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => parts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::saved::{CalibrationRow, Recording, Row, Values};

    fn results(models: &[&str]) -> Results {
        let row = |model: &&str| {
            let recording = Recording { model: Some((*model).to_owned()), ..Recording::default() };
            let (transcript, conversation, policy) = Default::default();
            Row { transcript, conversation, policy, recording: recording.into(), bound_of: None, values: Values::default() }
        };
        Results { rows: models.iter().map(row).collect(), ..Results::default() }
    }

    #[test]
    fn each_model_has_its_own_error_or_none() {
        let of = |models: &[&str]| of_costs(&results(models));
        assert_eq!(of(&["claude-opus-4-6"]), "those of calls without a bill were 22.3% off in our recordings of claude-opus-4-6");
        assert_eq!(of(&["kimi-k2", "kimi-k2"]), "how far they are off is not measured for kimi-k2");
        assert_eq!(
            of(&["gpt-5.5", "kimi-k2"]),
            "those of calls without a bill were 18.3% off in our recordings of gpt-5.5, and it is not measured for kimi-k2"
        );
        assert!(of(&["a", "b", "c", "d", "e"]).ends_with("is not measured for a, b, c and 2 models more"));
        assert!(of(&["a", "b", "c", "d"]).ends_with("is not measured for a, b, c and 1 model more"));
        assert!(of(&[]).contains("not measured"));
    }

    #[test]
    fn token_error_is_the_median_of_the_sessions() {
        let row =
            |error, counter: &str| CalibrationRow { model: "m".into(), counter: counter.into(), error, ..Default::default() };
        let calibrations = [0.02, 0.3, 0.04].map(|error| row(error, RECORDED.name)).to_vec();
        assert_eq!(
            of_tokens(&Results { calibrations, ..Results::default() }),
            "Token counts were 4.0% off on held-out calls of m."
        );
        let calibrations = vec![row(0.103, "claude")];
        assert_eq!(
            of_tokens(&Results { calibrations, ..Results::default() }),
            "Token counts were 10.3% off on other sessions of m."
        );
        assert!(of_tokens(&Results::default()).contains("not measured"));
    }
}
