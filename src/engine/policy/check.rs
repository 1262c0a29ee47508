//! Checks what the types of a policy cannot express: unique ids, existing names, and settings that make sense together.

use std::collections::BTreeSet;

use super::Policy;
use crate::engine::layer::{Layer, LayerSpec, When};

/// Returns the first error, with the index of its layer.
pub fn check(policy: &Policy) -> Result<(), (usize, String)> {
    let mut ids = BTreeSet::new();
    let mut request_scoped = false;
    for (index, layer) in policy.layers.iter().enumerate() {
        let error = |message: String| (index, format!("layer `{}`: {message}", layer.id));
        if !ids.insert(&layer.id) {
            return Err(error("another layer has the same `id`".to_owned()));
        }
        check_when(policy, layer).and_then(|()| check_settings(policy, layer)).map_err(error)?;
        if request_scoped && !layer.for_request_only() && layer.runs_before_requests() {
            let message = "a layer that edits the stored history cannot follow one with `scope = \"request\"`";
            return Err(error(message.to_owned()));
        }
        request_scoped |= layer.for_request_only();
    }
    Ok(())
}

/// Checks that the layer can run at the moment that `when` names.
fn check_when(policy: &Policy, layer: &Layer) -> Result<(), String> {
    if let When::Before(others) | When::After(others) = &layer.when
        && let Some(unknown) = others.iter().find(|id| policy.layers.iter().all(|other| other.id != **id))
    {
        return Err(format!("`when` names the layer `{unknown}`, which does not exist"));
    }
    let message = match (&layer.spec, &layer.when) {
        (LayerSpec::Archive(_), When::Before(_)) | (LayerSpec::Restore(_), When::After(_)) => return Ok(()),
        (LayerSpec::Archive(_), _) => "`archive` needs `when = { before = [\"ID\", …] }`",
        (LayerSpec::Restore(_), _) => "`restore` needs `when = { after = [\"ID\", …] }`",
        (_, When::Before(_) | When::After(_)) => "only `archive` can run before a layer, and only `restore` after one",
        (spec, When::Overflow) if spec.max_retries() == 0 => "an overflow layer needs `max_retries` of at least 1",
        (_, When::Calls(0) | When::Turns(0)) => "`calls` and `turns` must be at least 1",
        _ => return Ok(()),
    };
    Err(message.to_owned())
}

/// Checks that the settings of a layer make sense together.
fn check_settings(policy: &Policy, layer: &Layer) -> Result<(), String> {
    let by_age = layer.spec.result_filter().is_some_and(|filter| filter.keep_recent > 0 || filter.protect_unseen);
    if by_age && !matches!(layer.spec, LayerSpec::Clear(_)) {
        return Err("only `clear` can select results by age (`keep_recent`, `protect_unseen`)".to_owned());
    }
    if layer.edits_on_server() && !layer.spec.rewrites_in_place() {
        let message = "a provider can edit its cache only in place: `scope = \"server\"` is for `clear`, `truncate` and `dedupe`";
        return Err(message.to_owned());
    }
    if let LayerSpec::Summarize(summarize) = &layer.spec
        && summarize.rides_prefix
        && summarize.input_chars.is_some()
    {
        return Err("a summarizer that reads the cached prefix (`rides_prefix`) reads all of it: remove `input_chars`".to_owned());
    }
    if let LayerSpec::Summarize(summarize) = &layer.spec {
        summarize.prompt.check()?;
    }
    if layer.threshold.is_some() && layer.meter.or(policy.meter).is_none() {
        return Err("`threshold` needs a `meter`, here or for the whole policy (see `recompact catalog meters`)".to_owned());
    }
    Ok(())
}
