//! What the types of a policy cannot say: unique ids, names that exist, settings that have a meaning together.

use std::collections::BTreeSet;

use super::Policy;
use crate::engine::layer::{Layer, LayerSpec, When};

/// The first thing that is wrong, and the index of its layer.
pub fn check(policy: &Policy) -> Result<(), (usize, String)> {
    let mut ids = BTreeSet::new();
    let mut request_scoped = false;
    for (index, layer) in policy.layers.iter().enumerate() {
        let wrong = |what: String| (index, format!("layer `{}`: {what}", layer.id));
        if !ids.insert(&layer.id) {
            return Err(wrong("another layer has the same `id`".to_owned()));
        }
        moment(policy, layer).and_then(|()| settings(policy, layer)).map_err(wrong)?;
        if request_scoped && !layer.for_request_only() && layer.runs_before_requests() {
            let what = "a layer that changes the stored history cannot follow one with `scope = \"request\"`";
            return Err(wrong(what.to_owned()));
        }
        request_scoped |= layer.for_request_only();
    }
    Ok(())
}

/// Whether the layer can run at the moment it is to run.
fn moment(policy: &Policy, layer: &Layer) -> Result<(), String> {
    if let When::Before(others) | When::After(others) = &layer.when
        && let Some(unknown) = others.iter().find(|id| policy.layers.iter().all(|other| other.id != **id))
    {
        return Err(format!("`when` names `{unknown}`, and no layer has that id"));
    }
    let what = match (&layer.spec, &layer.when) {
        (LayerSpec::Archive(_), When::Before(_)) | (LayerSpec::Restore(_), When::After(_)) => return Ok(()),
        (LayerSpec::Archive(_), _) => "an archive is written `when = { before = [\"ID\", …] }`",
        (LayerSpec::Restore(_), _) => "files are restored `when = { after = [\"ID\", …] }`",
        (_, When::Before(_) | When::After(_)) => "only `archive` runs before a layer and only `restore` after one",
        (act, When::Overflow) if act.max_retries() == 0 => "an overflow layer runs up to `max_retries` times: 1 at the least",
        (_, When::Calls(0) | When::Turns(0)) => "`calls` and `turns` are 1 at the least",
        _ => return Ok(()),
    };
    Err(what.to_owned())
}

/// Whether its settings have a meaning together.
fn settings(policy: &Policy, layer: &Layer) -> Result<(), String> {
    let by_age = layer.spec.pick().is_some_and(|pick| pick.keep_recent > 0 || pick.protect_unseen);
    if by_age && !matches!(layer.spec, LayerSpec::Clear(_)) {
        return Err("only `clear` goes by the age of a result (`keep_recent`, `protect_unseen`)".to_owned());
    }
    if layer.edits_on_server() && !layer.spec.rewrites_in_place() {
        let what = "a provider edits what it has cached only where it stands: `scope = \"server\"` is for `clear`, `truncate` and `dedupe`";
        return Err(what.to_owned());
    }
    if let LayerSpec::Summarize(summarize) = &layer.spec
        && summarize.rides_prefix
        && summarize.input_chars.is_some()
    {
        return Err(
            "a summarizer that reads the cached prefix (`rides_prefix`) reads all of it: leave out `input_chars`".to_owned()
        );
    }
    if let LayerSpec::Summarize(summarize) = &layer.spec {
        summarize.prompt.check()?;
    }
    if layer.threshold.is_some() && layer.meter.or(policy.meter).is_none() {
        return Err("`threshold` needs a `meter`, here or for the whole policy (see `recompact catalog meters`)".to_owned());
    }
    Ok(())
}
