//! Checks what the types of a policy cannot express: unique ids, existing names, and settings that make sense together.

use std::collections::BTreeSet;

use super::Policy;
use crate::engine::layer::{LAYERS, Layer, LayerTraits, Scope, Timing, When, WrongSetting};

/// Returns the first error, with the index of its layer.
pub fn check(policy: &Policy) -> Result<(), (usize, WrongSetting)> {
    let mut ids = BTreeSet::new();
    let mut request_scoped = false;
    for (index, layer) in policy.layers.iter().enumerate() {
        let error = |wrong: WrongSetting| (index, WrongSetting { why: format!("layer `{}`: {}", layer.id, wrong.why), ..wrong });
        if !ids.insert(&layer.id) {
            return Err(error(WrongSetting::new("id", "another layer has the same `id`")));
        }
        check_when(policy, layer).map_err(|why| error(WrongSetting::new("when", why)))?;
        check_alone(policy, layer).map_err(error)?;
        check_settings(policy, layer).map_err(error)?;
        if request_scoped && !layer.for_request_only() && layer.runs_before_requests() {
            let why = "a layer that edits the stored history cannot follow one with `scope = \"request\"`";
            return Err(error(WrongSetting::new("scope", why)));
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
    let name = layer.spec.name();
    Err(match (layer.spec.traits().timing, &layer.when) {
        (Timing::BeforeLayers, When::Before(_)) | (Timing::AfterLayers, When::After(_)) => return Ok(()),
        (Timing::BeforeLayers, _) => format!("`{name}` needs `when = {{ before = [\"ID\", …] }}`"),
        (Timing::AfterLayers, _) => format!("`{name}` needs `when = {{ after = [\"ID\", …] }}`"),
        (Timing::Alone, When::Always) => return Ok(()),
        (Timing::Alone, _) => format!("`{name}` is asked before every request and decides itself: remove `when`"),
        (Timing::Requests, When::Before(_) | When::After(_)) => {
            let [before, after] = [Timing::BeforeLayers, Timing::AfterLayers].map(|timing| kinds(|kind| kind.timing == timing));
            format!("only {before} can run before a layer, and only {after} after one")
        }
        (Timing::Requests, When::Overflow) if layer.spec.max_retries() == 0 => {
            "an overflow layer needs `retry.max` of at least 1".to_owned()
        }
        (Timing::Requests, when) => return check_conditions(when),
    })
}

/// Checks the numbers of conditions, and which of them `any` and `all` join.
fn check_conditions(when: &When) -> Result<(), String> {
    let conditions = when.conditions();
    let joins = matches!(when, When::Any(_) | When::All(_));
    if joins && (conditions.is_empty() || !conditions.iter().all(When::can_be_joined)) {
        return Err("`any` and `all` join at least one of `user-turn`, `calls`, `turns`, `idle-minutes` and `sent`".to_owned());
    }
    for condition in conditions {
        match condition {
            When::Calls(0) | When::Turns(0) => return Err("`calls` and `turns` must be at least 1".to_owned()),
            When::IdleMinutes(minutes) if !(0.0..).contains(minutes) => {
                return Err("`idle-minutes` must be at least 0".to_owned());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks that a layer which has to be alone is, and that no setting says when it acts.
fn check_alone(policy: &Policy, layer: &Layer) -> Result<(), WrongSetting> {
    if layer.spec.traits().timing != Timing::Alone {
        return Ok(());
    }
    let name = layer.spec.name();
    let wrong = |setting: &'static str, why: &str| Err(WrongSetting::new(setting, format!("`{name}` {why}")));
    if policy.layers.len() > 1 {
        return wrong("do", "is the only layer of its policy");
    }
    if layer.threshold.is_some() {
        return wrong("threshold", "is asked before every request and decides itself: remove `threshold`");
    }
    if layer.scope != Scope::State {
        return wrong("scope", "says in each answer what it is for: remove `scope`");
    }
    Ok(())
}

/// Names the kinds of layers that have a trait.
fn kinds(has: impl Fn(&LayerTraits) -> bool) -> String {
    let kinds = LAYERS.iter().filter(|kind| has(&(kind.default)().traits()));
    let names: Vec<String> = kinds.map(|kind| format!("`{}`", kind.name)).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// Checks that the settings of a layer make sense together.
fn check_settings(policy: &Policy, layer: &Layer) -> Result<(), WrongSetting> {
    let traits = layer.spec.traits();
    if let Some(filter) = traits.filter {
        filter.check()?;
    }
    if layer.edits_on_server() && !traits.rewrites_in_place {
        let kinds = kinds(|kind| kind.rewrites_in_place);
        let why = format!("a provider can edit its cache only in place: `scope = \"server\"` is for {kinds}");
        return Err(WrongSetting::new("scope", why));
    }
    layer.spec.check()?;
    if layer.rearm.is_some() && (layer.threshold.is_none() || layer.for_request_only()) {
        let why = "`rearm` needs a `threshold`, and a history that the layer makes smaller: no `scope = \"request\"`";
        return Err(WrongSetting::new("rearm", why));
    }
    if layer.threshold.is_some() && layer.meter.or(policy.meter).is_none() {
        let why = "`threshold` needs a `meter`, here or for the whole policy (see `recompact catalog meters`)";
        return Err(WrongSetting::new("threshold", why));
    }
    Ok(())
}
