//! How far off costs and tokens are: as measured for the models of the sessions.

use std::collections::{BTreeMap, BTreeSet};

use crate::metrics::cost::prediction_error;
use crate::report::escape;
use crate::report::number_format::value;
use crate::results::saved::{Results, Unit};
use crate::tokens::calibration::median;
use crate::tokens::meter::RECORDED;
use crate::util::text;

/// Maximum characters of a name.
const LONGEST_NAME: usize = 40;

/// Returns the models that the sessions name.
fn models(results: &Results) -> BTreeSet<&str> {
    results.rows.iter().filter_map(|row| row.recording.model.as_deref()).collect()
}

/// `those of calls without a bill were 18.3 to 22.3% off in our recordings of 3 of these models, and not measured for 2`
pub fn of_costs(results: &Results) -> String {
    let (mut measured, mut unmeasured) = (BTreeMap::new(), BTreeSet::new());
    for model in models(results) {
        match prediction_error(model) {
            Some(error) => drop(measured.insert(error.model, error.cost)),
            None => drop(unmeasured.insert(model)),
        }
    }
    let other = if unmeasured.len() == 1 { unmeasured.first().map(|model| name(model)) } else { None };
    let others = other.unwrap_or_else(|| unmeasured.len().to_string());
    let mut errors: Vec<f64> = measured.values().copied().collect();
    let Some(range) = range(&mut errors) else {
        return match unmeasured.len() {
            0 => "how far they are off is not measured, as the sessions name no model".to_owned(),
            1 => format!("how far they are off is not measured for {others}"),
            _ => format!("how far they are off is not measured for any of these {others} models"),
        };
    };
    let of = match measured.keys().collect::<Vec<_>>()[..] {
        [model] => (*model).to_owned(),
        _ if unmeasured.is_empty() => "these models".to_owned(),
        _ => format!("{} of these models", measured.len()),
    };
    let of_others = if unmeasured.is_empty() { String::new() } else { format!(", and not measured for {others}") };
    format!("those of calls without a bill were {range} off in our recordings of {of}{of_others}")
}

/// `Token counts were 8.6% off on held-out calls of claude-opus-4-5-20251101.`
pub fn of_tokens(results: &Results) -> String {
    let mut errors: BTreeMap<(&str, bool), Vec<f64>> = BTreeMap::new();
    for row in &results.calibrations {
        errors.entry((&row.model, row.counter == RECORDED.name)).or_default().push(row.error);
    }
    let mut medians: Vec<f64> = errors.values_mut().filter_map(|errors| median(errors)).collect();
    let Some(range) = range(&mut medians) else { return "How far token counts are off is not measured.".to_owned() };
    let models: BTreeSet<&str> = errors.keys().map(|(model, _)| *model).collect();
    let of = match models.iter().collect::<Vec<_>>()[..] {
        [&""] => "an unnamed model".to_owned(),
        [model] => name(model),
        _ => format!("{} models", models.len()),
    };
    let on = match [true, false].map(|is_own| errors.keys().any(|(_, own)| *own == is_own)) {
        [true, true] => "held-out calls or other sessions",
        [true, false] => "held-out calls",
        [false, _] => "other sessions",
    };
    format!("Token counts were {range} off on {on} of {of}.")
}

/// `18.3 to 22.3%`, or `18.3%` if all are alike; `None` of none.
fn range(errors: &mut [f64]) -> Option<String> {
    errors.sort_by(f64::total_cmp);
    let share = |error: f64| value(Unit::Share, Some(error));
    let (low, high) = (share(*errors.first()?), share(*errors.last()?));
    Some(if low == high { high } else { format!("{} to {high}", low.trim_end_matches('%')) })
}

/// Returns the name of a model, or the beginning of a long one.
fn name(model: &str) -> String {
    let head = text::head(model, LONGEST_NAME);
    escape::terminal(head).into_owned() + if head.len() < model.len() { "…" } else { "" }
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
            "those of calls without a bill were 18.3% off in our recordings of gpt-5.5, and not measured for kimi-k2"
        );
        assert_eq!(
            of(&["gpt-5.5", "a", "claude-opus-4-6", "b"]),
            "those of calls without a bill were 18.3 to 22.3% off in our recordings of 2 of these models, and not measured for 2"
        );
        assert!(of(&["gpt-5.5", "claude-opus-4-6"]).ends_with("off in our recordings of these models"));
        assert!(of(&["a", "b"]).ends_with("is not measured for any of these 2 models"));
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
        let other = CalibrationRow { model: "n".into(), ..row(0.02, RECORDED.name) };
        let calibrations = vec![row(0.103, "claude"), other];
        assert_eq!(
            of_tokens(&Results { calibrations, ..Results::default() }),
            "Token counts were 2.0 to 10.3% off on held-out calls or other sessions of 2 models."
        );
        assert!(of_tokens(&Results::default()).contains("not measured"));
    }
}
