//! Layers that do nothing on the sessions, cannot do anything at all, or act far too often.

use std::collections::BTreeMap;

use super::{
    ABOVE_WINDOW, ALWAYS_FAILS, COUNTS_CUT, COUNTS_OTHERS, EAGER, LayerUse, NEVER_ACTS, REPEATED, Remark, ThresholdUse, quoted,
};
use crate::engine::layer::{Layer, Remains, ResultFilter, When};
use crate::engine::policy::Policy;
use crate::engine::size::Limits;
use crate::findings::Level;

/// Windows of models in wide use, in tokens. A threshold above all of them is a mistake for any model.
const USUAL_WINDOWS: [u64; 2] = [200_000, 1_000_000];

/// Returns the layers that run, with their positions.
pub fn enabled(policy: &Policy) -> impl Iterator<Item = (usize, &Layer)> {
    policy.layers.iter().enumerate().filter(|(_, layer)| layer.enabled)
}

/// Returns the layers that are the same as an earlier one: what they would edit is edited already.
pub fn repeated(policy: &Policy) -> Vec<Remark> {
    let is_same = |one: &Layer, other: &Layer| Layer { id: one.id.clone(), ..other.clone() } == *one;
    let remark = |(index, layer): (usize, &Layer)| {
        let earlier = enabled(policy).take_while(|(at, _)| *at < index).find(|(_, earlier)| is_same(earlier, layer))?.1;
        let message = format!("does the same as `{}`, which runs before it", earlier.id);
        Some(Remark::new(Level::Warning, REPEATED, &layer.id, message))
    };
    enabled(policy).filter_map(remark).collect()
}

/// Returns the layers for some tools whose newest results are counted over all tools.
pub fn counts_others(policy: &Policy) -> Vec<Remark> {
    let remark = |(_, layer): (usize, &Layer)| {
        let traits = layer.spec.traits();
        let filter = traits.filter.filter(|filter| filter.counts_all_tools() && !filter.tools.is_empty())?;
        let (newest, tools) = (filter.keep_recent_results, &filter.tools);
        let tools = quoted(tools);
        let message = format!(
            "`keep_recent_results = {newest}` counts the results of all tools, so that fewer than {newest} of {tools} may stay, or none; \
             `keep_recent_per_tool` counts those of each"
        );
        (newest > 0).then(|| Remark::new(Level::Note, COUNTS_OTHERS, &layer.id, message))
    };
    enabled(policy).filter_map(remark).collect()
}

/// Returns the layers of single requests that wait for the usage of the request before, which they cut: if it was cut enough, they let
/// the next one go whole.
pub fn counts_cut(policy: &Policy) -> Vec<Remark> {
    let remark = |(_, layer): (usize, &Layer)| {
        let meter = layer.meter.or(policy.meter).filter(|meter| meter.recorded && layer.for_request_only())?;
        layer.threshold.as_ref()?;
        let message = format!(
            "its threshold is compared with the usage of the request before (`meter = \"{meter}\"`), which this layer cut, so that the \
             next request may go whole; a meter of the history, such as `o200k`, does not have this fault"
        );
        Some(Remark::new(Level::Warning, COUNTS_CUT, &layer.id, message))
    };
    enabled(policy).filter_map(remark).collect()
}

/// Returns the layers whose threshold is above the window, if it is known, or else above those of usual models. Only thresholds in
/// tokens can be compared without sessions.
pub fn above_any_window(policy: &Policy, window: Option<u64>) -> Vec<Remark> {
    let windows = window.map_or(USUAL_WINDOWS.to_vec(), |window| vec![window]);
    let remark = |(_, layer): (usize, &Layer)| {
        let threshold =
            layer.threshold.as_ref().filter(|_| layer.meter.or(policy.meter).is_some_and(|meter| meter.counts_tokens()))?;
        let limit = |window: u64| threshold.resolve(Limits { window, max_output: policy.max_output });
        if windows.iter().any(|window| limit(*window) < *window) {
            return None;
        }
        let first = windows[0];
        let message =
            format!("its threshold of {} is not below the window of {first} tokens, so that it cannot be reached", limit(first));
        Some(Remark::new(Level::Warning, ABOVE_WINDOW, &layer.id, message))
    };
    enabled(policy).filter_map(remark).collect()
}

/// Returns the layers that never acted on the sessions, with the reason.
pub fn idle(policy: &Policy, seen: &[LayerUse], tools: &BTreeMap<String, usize>) -> Vec<Remark> {
    let acted = |layer: &Layer| policy.layers.iter().zip(seen).any(|(other, seen)| other.id == layer.id && seen.edited);
    let remark = |(index, layer): (usize, &Layer)| {
        let seen = seen.get(index).filter(|seen| seen.acted == 0)?;
        let earlier: Vec<&Layer> =
            enabled(policy).take_while(|(at, _)| *at < index).map(|(_, other)| other).filter(|other| acted(other)).collect();
        reason(layer, seen, &earlier, tools)
    };
    enabled(policy).filter_map(remark).collect()
}

/// Whether the lists of the layer let it edit the results of a tool that sessions use.
fn may_edit_any(layer: &Layer, tools: &BTreeMap<String, usize>) -> bool {
    layer.spec.traits().filter.is_none_or(|filter| tools.is_empty() || tools.keys().any(|tool| filter.selects_tool(tool)))
}

/// A layer that edits what was sent before this share of the requests, or more of them, does so at nearly every call.
const OFTEN: f64 = 0.5;
/// Fewer calls say nothing about how often a layer acts.
const FEW_CALLS: usize = 20;

/// Returns the layers that edit what was sent again and again, though they could wait: the provider writes everything behind each edit
/// to its prompt cache once more.
pub fn eager(policy: &Policy, seen: &[LayerUse], calls: usize) -> Vec<Remark> {
    let remark = |(index, layer): (usize, &Layer)| {
        let acted = seen.get(index)?.acted;
        if calls < FEW_CALLS || (acted as f64) < OFTEN * calls as f64 || layer.edits_on_server() {
            return None;
        }
        let after = "each time the provider writes what is behind the edit to its prompt cache again";
        let often = format!("acts before {acted} of {calls} requests; {after}");
        let traits = layer.spec.traits();
        let (level, mend) = match &layer.threshold {
            _ if traits.waits == Some(false) => {
                (Level::Note, "`clear_at_least` makes it wait until enough can go at once".to_owned())
            }
            Some(threshold) if traits.summarizer.is_some() => {
                (Level::Warning, format!("is its threshold of {threshold} as large as you mean?"))
            }
            _ => return None,
        };
        Some(Remark::new(level, EAGER, &layer.id, format!("{often}; {mend}")))
    };
    enabled(policy).filter_map(remark).collect()
}

/// Returns why a layer never acted; `None` if another remark says it.
fn reason(layer: &Layer, seen: &LayerUse, earlier: &[&Layer], tools: &BTreeMap<String, usize>) -> Option<Remark> {
    let never = |level: Level, why: String| {
        Some(Remark::new(level, NEVER_ACTS, &layer.id, format!("never acts on these sessions: {why}")))
    };
    if let Some(why) = &seen.failure {
        let message = format!("fails each of {} times: {why}", seen.failed);
        return Some(Remark::new(Level::Warning, ALWAYS_FAILS, &layer.id, message));
    }
    let runs = seen.due > 0 && (seen.threshold.is_none() || seen.over > 0);
    if runs && !may_edit_any(layer, tools) {
        return never(Level::Warning, "they use none of its tools".to_owned());
    }
    let clears_old = |layer: &Layer| {
        let traits = layer.spec.traits();
        let clears = matches!(traits.remains, Some(Remains::Nothing | Remains::File));
        clears && traits.filter.is_some_and(ResultFilter::counts_newest)
    };
    if let Some(clearer) = earlier.iter().find(|other| runs && clears_old(other) && clears_old(layer)) {
        let why = format!("`{}` clears old results before it, and a result that is cleared stays as it is", clearer.id);
        return never(Level::Warning, why);
    }
    if let Some(why) = seen.skipped {
        return never(Level::Warning, format!("its `when` cannot be evaluated: {why}"));
    }
    if let Some(why) = layer.when.why_never().filter(|_| seen.due == 0) {
        return never(Level::Warning, format!("its `when` never comes: {why}"));
    }
    if layer.when.tool().is_some_and(|tool| !tools.contains_key(tool)) {
        // The tool is named in a remark of its own.
        return None;
    }
    match (&layer.when, seen.threshold) {
        (_, Some(ThresholdUse { tokens, limit, window, .. })) if seen.over == 0 && seen.beyond_window == seen.compared => {
            let about = if tokens == limit { String::new() } else { format!(", about {tokens} tokens,") };
            let message = format!(
                "its threshold of {limit}{about} is not below the window of {window} tokens, so that it cannot be reached"
            );
            Some(Remark::new(Level::Warning, ABOVE_WINDOW, &layer.id, message))
        }
        (_, Some(ThresholdUse { size, limit, .. })) if seen.over == 0 => {
            never(Level::Warning, format!("its threshold of {limit} is not reached; the largest size was {size}"))
        }
        (When::Overflow, _) => never(Level::Note, "no request is larger than the window".to_owned()),
        (When::Before(others) | When::After(others), _) => never(Level::Note, format!("it waits for {}", quoted(others))),
        _ if earlier.is_empty() => never(Level::Warning, "it finds nothing to do; its limits keep everything".to_owned()),
        _ => {
            let earlier = quoted(earlier.iter().map(|layer| &layer.id));
            never(Level::Warning, format!("it finds nothing to do; its limits keep everything, or {earlier} did it before"))
        }
    }
}
