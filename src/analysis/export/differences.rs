//! Compares a policy with what its harness does, setting by setting.

use toml::Value;

use super::Target;
use super::matched::{MatchedLayers, Settings, layer_settings};
use crate::engine::policy::Policy;

/// Returns what the harness cannot be given: layers that it has not, and settings that have no name there.
pub fn problems(target: &Target, layers: &MatchedLayers, base: &Policy) -> Vec<String> {
    let about = &target.about;
    let extra = layers.extra.iter().map(|layer| format!("layer `{}` ({}): {about} has none", layer.id, layer.spec.name()));
    let mut problems: Vec<String> = extra.collect();
    let runs = |id: &String| base.layers.iter().any(|layer| layer.id == *id && layer.enabled);
    let missing = layers.missing.iter().filter(|id| runs(id) && !target.turns_off(id));
    problems.extend(
        missing.map(|id| format!("no layer `{id}` that runs: {about} has it, with no setting to turn it off that we know")),
    );
    let theirs: Settings = base
        .layers
        .iter()
        .filter(|layer| !layers.missing.contains(&layer.id))
        .flat_map(|layer| layer_settings(&layer.id, layer, base))
        .collect();
    let different = differences(target, &layers.settings, &theirs);
    problems.extend(different.into_iter().map(|(path, own, theirs)| {
        let setting = layers.own_name(&path);
        match (own, theirs) {
            (Some(own), Some(theirs)) => {
                let (own, theirs) = (shown(&own), shown(&theirs));
                format!("{setting} = {own}: {about} has {theirs}, with no setting for it that we know")
            }
            (Some(own), None) => format!("{setting} = {}: {about} has no setting for it that we know", shown(&own)),
            (None, theirs) => format!("{setting} is not set: {about} has {}", theirs.as_ref().map(shown).unwrap_or_default()),
        }
    }));
    if layers.policy.messages != base.messages {
        let name = |policy: &Policy| Value::try_from(policy.messages).map_or_else(|_| String::new(), |unit| unit.to_string());
        problems.push(format!("messages = {}: {about} counts as {}", name(layers.policy), name(base)));
    }
    problems
}

/// Returns the settings that differ, without those that the harness has: path, own value, other value.
fn differences(target: &Target, own: &Settings, theirs: &Settings) -> Vec<(String, Option<Value>, Option<Value>)> {
    let known = target.settings();
    let has = |path: &str| known.iter().any(|known| path == known || path.starts_with(&format!("{known}.")));
    // A setting that the harness has and the policy does not set: the harness would go by its default.
    let is_expressed = |path: &str| has(path) && (own.contains_key(path) || target.expresses_unset(path));
    let paths = own.keys().chain(theirs.keys().filter(|path| !own.contains_key(*path)));
    let different = paths.filter(|path| own.get(*path) != theirs.get(*path) && !is_expressed(path));
    different.map(|path| (path.clone(), own.get(path).cloned(), theirs.get(path).cloned())).collect()
}

/// Writes a value in one short line.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    let written = value.to_string().replace('\n', "\\n");
    if written.chars().count() <= LONGEST { written } else { written.chars().take(LONGEST).collect::<String>() + "…" }
}
