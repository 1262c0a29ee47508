//! The JSON Schema of a policy file, for editors: made of the very types that are read, with their comments.
//!
//! It takes what the reader takes, but for what a schema cannot say: that ids are unique, that `when` names layers there are, that
//! no layer that changes the stored history follows one with `scope = "request"`, and that the parentheses of a formula pair up.

use serde_json::{Map, Value, json};

use super::Policy;
use crate::engine::layer::{LAYERS, LayerKind, LayerSpec};
use crate::llm::prompt::PROMPTS;
use crate::util::{json_schema, text};

/// The settings of every layer that are left out where they are as usual.
const USUAL: [(&str, Value); 2] = [("strict", Value::Bool(true)), ("enabled", Value::Bool(true))];

/// The schema of a policy.
pub fn schema() -> Value {
    let mut schema = json_schema::of::<Policy>();
    schema["title"] = "A policy of recompact".into();
    schema["description"] = "An ordered list of layers that compact the context of an agent, with their triggers.".into();
    schema["additionalProperties"] = false.into();
    // A threshold is measured by a meter, the policy's or the layer's.
    schema["if"] = json!({ "not": { "required": ["meter"] } });
    schema["then"] = json!({ "properties": { "layer": { "items": { "dependencies": { "threshold": ["meter"] } } } } });
    let layer = schema["properties"]["layer"]["items"].take();
    let kinds: Vec<Value> = LAYERS.iter().map(|kind| of_kind(kind, &layer)).collect();
    schema["properties"]["layer"]["items"] = json!({ "description": layer["description"], "oneOf": kinds });
    schema
}

/// A layer of one kind: the settings of every layer, and its own. No other key is allowed.
fn of_kind(kind: &LayerKind, layer: &Value) -> Value {
    let (act, mut properties) = ((kind.default)(), Map::new());
    let own = layer["oneOf"].as_array().into_iter().flatten().find(|own| own["properties"]["do"]["const"] == kind.name);
    let about = text::doc_summary(kind.source);
    properties.insert("id".to_owned(), Value::Null);
    properties.insert("do".to_owned(), Value::Null);
    for settings in [Some(layer), own].into_iter().flatten() {
        properties.extend(settings["properties"].as_object().cloned().unwrap_or_default());
    }
    properties["do"]["description"] = about.into();
    let defaults = serde_json::to_value(&act).unwrap_or_default();
    let defaults = defaults.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    let usual = USUAL.iter().map(|(name, value)| (*name, value));
    for (name, value) in defaults.chain(usual).filter(|(name, value)| *name != "do" && !value.is_null()) {
        properties[name]["default"] = value.clone();
    }
    let mut required = vec!["id", "do"];
    required.extend(moments(&act, &mut properties["when"]));
    restrict(&act, &mut properties);
    let mut schema = json!({ "title": kind.name, "type": "object", "properties": properties });
    schema["required"] = json!(required);
    schema["additionalProperties"] = false.into();
    together(&act, &mut schema);
    schema
}

/// The moments at which a kind of layer can run; whether one must be named.
fn moments(act: &LayerSpec, when: &mut Value) -> Option<&'static str> {
    let only = match act {
        LayerSpec::Archive(_) => Some("before"),
        LayerSpec::Restore(_) => Some("after"),
        _ => None,
    };
    if let Some(moments) = when["oneOf"].as_array_mut() {
        moments.retain(|moment| match (moment["required"][0].as_str(), only) {
            (name, Some(only)) => name == Some(only),
            (name, None) => !matches!(name, Some("before" | "after")),
        });
    }
    let fields = only.and(when.as_object_mut())?;
    fields.remove("default");
    Some("when")
}

/// Settings that have a meaning for some kinds alone, as [`check`](super::check::check) has it.
fn restrict(act: &LayerSpec, properties: &mut Map<String, Value>) {
    if act.pick().is_some() && !matches!(act, LayerSpec::Clear(_)) {
        properties["keep_recent"]["maximum"] = 0.into();
        properties["protect_unseen"]["const"] = false.into();
    }
    if !act.rewrites_in_place()
        && let Some(scopes) = properties["scope"]["oneOf"].as_array_mut()
    {
        scopes.retain(|scope| scope["const"] != "server");
    }
    if let LayerSpec::Summarize(_) = act {
        let names: Vec<_> = PROMPTS.iter().map(|prompt| prompt.name).collect();
        for form in properties["prompt"]["anyOf"].as_array_mut().into_iter().flatten().filter(|form| form["type"] == "string") {
            form["enum"] = json!(names);
        }
    }
}

/// Settings that have no meaning together.
fn together(act: &LayerSpec, schema: &mut Value) {
    if let LayerSpec::Summarize(_) = act {
        let rides = json!({ "properties": { "rides_prefix": { "const": true } }, "required": ["rides_prefix", "input_chars"] });
        schema["not"] = rides;
        schema["if"] = json!({ "properties": { "when": { "const": "overflow" } }, "required": ["when"] });
        schema["then"] = json!({ "properties": { "max_retries": { "minimum": 1 } }, "required": ["max_retries"] });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::engine::layer::COMMON_SETTINGS;

    /// The reader refuses every other key, and so does the schema.
    #[test]
    fn every_setting_is_in_the_schema_and_no_other() {
        let schema = schema();
        let kinds = schema["properties"]["layer"]["items"]["oneOf"].as_array().expect("kinds of layers");
        assert_eq!(kinds.len(), LAYERS.len());
        for (kind, layer) in LAYERS.iter().zip(kinds) {
            let settings: BTreeSet<_> = layer["properties"].as_object().expect("settings").keys().map(String::as_str).collect();
            let own = (kind.default)().settings();
            let known = COMMON_SETTINGS.iter().copied().chain(own.iter().map(String::as_str)).collect();
            assert_eq!(settings, known, "{}", kind.name);
            assert_eq!((&layer["title"], &layer["additionalProperties"]), (&kind.name.into(), &false.into()));
            assert_eq!(layer["properties"]["do"]["const"], kind.name);
        }
        let settings: Vec<_> = schema["properties"].as_object().expect("settings").keys().collect();
        assert_eq!(settings, super::super::load::POLICY_SETTINGS);
        assert_eq!(schema["additionalProperties"], false);
    }

    #[test]
    fn defaults_are_those_of_the_kind() {
        let schema = schema();
        let layer = |name: &str| {
            let kinds = schema["properties"]["layer"]["items"]["oneOf"].as_array().expect("kinds of layers");
            kinds.iter().find(|kind| kind["title"] == name).expect(name)["properties"].clone()
        };
        assert_eq!(layer("clear")["keep_recent"]["default"], 3);
        assert_eq!(layer("persist")["keep_recent"]["default"], 0);
        assert_eq!(layer("summarize")["enabled"]["default"], true);
        assert!(layer("summarize")["input_chars"].get("default").is_none());
    }

    /// What is written out as a type is no type that nobody can write.
    #[test]
    fn nothing_is_null() {
        assert!(!schema().to_string().contains("null"));
    }
}
