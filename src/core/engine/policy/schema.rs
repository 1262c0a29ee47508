//! Generates the JSON Schema of a policy file, for editors, from the types that the reader uses and their doc comments.
//!
//! It accepts what the reader accepts, except for rules that a schema cannot express: ids are unique, `when` names existing
//! layers, no setting is given by its old and its present name, no layer that edits the stored history follows one with `scope = "request"`, and the parentheses of a formula are
//! balanced.

use serde_json::{Map, Value, json};

use super::Policy;
use crate::engine::layer::{LAYERS, LayerKind, LayerSpec, Renamed, Timing};
use crate::util::{json_schema, text};

/// Returns the default values of the settings that every layer has and that serde omits at their default.
fn common_defaults() -> [(&'static str, Value); 3] {
    [("strict", true.into()), ("scope", "state".into()), ("enabled", true.into())]
}

/// Returns the schema of a policy.
pub fn schema() -> Value {
    let mut schema = json_schema::schema_of::<Policy>();
    schema["title"] = "A policy of recompact".into();
    schema["description"] = "An ordered list of layers that compact the context of an agent, with their triggers.".into();
    schema["additionalProperties"] = false.into();
    // A threshold needs a meter, of the policy or of the layer.
    schema["if"] = json!({ "not": { "required": ["meter"] } });
    schema["then"] = json!({ "properties": { "layer": { "items": { "dependencies": { "threshold": ["meter"] } } } } });
    let layer = schema["properties"]["layer"]["items"].take();
    let kinds: Vec<Value> = LAYERS.iter().map(|kind| layer_schema(kind, &layer)).collect();
    schema["properties"]["layer"]["items"] = json!({ "description": layer["description"], "oneOf": kinds });
    schema
}

/// Returns the schema of one kind of layer: the settings of every layer and its own. No other key is allowed.
fn layer_schema(kind: &LayerKind, layer: &Value) -> Value {
    let (spec, mut properties) = ((kind.default)(), Map::new());
    let own = layer["oneOf"].as_array().into_iter().flatten().find(|own| own["properties"]["do"]["const"] == kind.name);
    let about = text::doc_summary(kind.doc);
    properties.insert("id".to_owned(), Value::Null);
    properties.insert("do".to_owned(), Value::Null);
    for settings in [Some(layer), own].into_iter().flatten() {
        properties.extend(settings["properties"].as_object().cloned().unwrap_or_default());
    }
    properties["do"]["description"] = about.into();
    let defaults = serde_json::to_value(&spec).expect("the settings of a layer are plain data");
    let own = defaults.as_object().into_iter().flatten().filter(|(name, _)| *name != "do");
    let own = own.map(|(name, value)| (name.clone(), value.clone()));
    let common = common_defaults().map(|(name, value)| (name.to_owned(), value));
    set_defaults(&mut properties, &own.chain(common).collect());
    restrict_settings(&spec, &mut properties);
    for renamed in spec.renamed() {
        let setting = setting_in(&properties, renamed.new).cloned().expect("a test: every new name is a setting");
        properties.insert(renamed.old.to_owned(), old_name_schema(renamed, setting));
    }
    let mut required = vec!["id", "do"];
    required.extend(restrict_when(&spec, &mut properties["when"]));
    let mut schema = json!({ "title": kind.name, "type": "object", "properties": properties });
    schema["required"] = json!(required);
    schema["additionalProperties"] = false.into();
    let not_for_requests = json!({ "scope": { "enum": ["state", "server"] } });
    schema["dependencies"] = json!({ "rearm": { "required": ["threshold"], "properties": not_for_requests } });
    (kind.restrict_schema)(&mut schema);
    schema
}

/// Adds the default values of settings. Those of a part are at its own settings.
fn set_defaults(settings: &mut Map<String, Value>, defaults: &Map<String, Value>) {
    for (name, default) in defaults.iter().filter(|(_, default)| !default.is_null()) {
        let setting = &mut settings[name];
        let Some(part) = setting.get_mut("properties").and_then(Value::as_object_mut) else {
            setting["default"] = default.clone();
            continue;
        };
        default.as_object().into_iter().for_each(|defaults| set_defaults(part, defaults));
        setting["additionalProperties"] = false.into();
        setting.as_object_mut().and_then(|part| part.remove("default"));
    }
}

/// Returns the schema of a setting, which may be one of a part: `input.chars`.
fn setting_in<'a>(settings: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => settings.get(name),
        Some((part, inner)) => setting_in(settings.get(part)?["properties"].as_object()?, inner),
    }
}

/// Returns the schema of a setting by its old name, which editors show as deprecated.
fn old_name_schema(renamed: &Renamed, mut old: Value) -> Value {
    old["description"] = format!("The old name of `{}`.", renamed.new).into();
    old["deprecated"] = true.into();
    old
}

/// Limits `when` to the moments at which this kind of layer can run; returns `"when"` if the setting is required.
fn restrict_when(spec: &LayerSpec, when: &mut Value) -> Option<&'static str> {
    let only = match spec.traits().timing {
        Timing::BeforeLayers => Some("before"),
        Timing::AfterLayers => Some("after"),
        Timing::Requests => None,
        Timing::Alone => {
            when["oneOf"] = json!([{ "const": "always" }]);
            return None;
        }
    };
    if let Some(forms) = when["oneOf"].as_array_mut() {
        forms.retain(|form| match (form["required"][0].as_str(), only) {
            (name, Some(only)) => name == Some(only),
            (name, None) => !matches!(name, Some("before" | "after")),
        });
    }
    let fields = only.and(when.as_object_mut())?;
    fields.remove("default");
    Some("when")
}

/// Limits settings to the values that make sense for this kind, as [`check`](super::check::check) does.
fn restrict_settings(spec: &LayerSpec, properties: &mut Map<String, Value>) {
    let traits = spec.traits();
    if !traits.rewrites_in_place
        && let Some(scopes) = properties["scope"]["oneOf"].as_array_mut()
    {
        scopes.retain(|scope| scope["const"] != "server");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::engine::layer::COMMON_SETTINGS;

    /// The reader and the schema refuse every other key.
    #[test]
    fn schema_has_exactly_the_settings_of_each_layer() {
        let schema = schema();
        let kinds = schema["properties"]["layer"]["items"]["oneOf"].as_array().expect("kinds of layers");
        assert_eq!(kinds.len(), LAYERS.len());
        for (kind, layer) in LAYERS.iter().zip(kinds) {
            let properties = layer["properties"].as_object().expect("settings");
            let settings: BTreeSet<_> = properties.keys().map(String::as_str).collect();
            let spec = (kind.default)();
            let (own, old) = (spec.settings(), spec.renamed().map(|renamed| renamed.old));
            let first_part = |name: &'_ String| name.split('.').next().map(str::to_owned).expect("a name");
            let parts: Vec<String> = own.iter().map(first_part).collect();
            let known = COMMON_SETTINGS.iter().copied().chain(parts.iter().map(String::as_str)).chain(old).collect();
            assert_eq!(settings, known, "{}", kind.name);
            assert!(own.iter().all(|name| setting_in(properties, name).is_some()), "{}", kind.name);
            assert_eq!((&layer["title"], &layer["additionalProperties"]), (&kind.name.into(), &false.into()));
            assert_eq!(layer["properties"]["do"]["const"], kind.name);
        }
        let settings: Vec<_> = schema["properties"].as_object().expect("settings").keys().collect();
        assert_eq!(settings, super::super::load::POLICY_SETTINGS);
        assert_eq!(schema["additionalProperties"], false);
    }

    #[test]
    fn schema_defaults_equal_layer_defaults() {
        let schema = schema();
        let layer = |name: &str| {
            let kinds = schema["properties"]["layer"]["items"]["oneOf"].as_array().expect("kinds of layers");
            kinds.iter().find(|kind| kind["title"] == name).expect(name)["properties"].clone()
        };
        assert_eq!(layer("clear")["keep_recent_results"]["default"], 3);
        assert_eq!(layer("persist")["keep_recent_results"]["default"], 0);
        assert_eq!(layer("summarize")["enabled"]["default"], true);
        assert!(layer("summarize")["input"]["properties"]["chars"].get("default").is_none());
        assert_eq!(layer("summarize")["retry"]["properties"]["shrink"]["default"], 0.2);
    }

    /// TOML has no null, so the schema must not allow it.
    #[test]
    fn schema_has_no_null() {
        assert!(!schema().to_string().contains("null"));
    }
}
