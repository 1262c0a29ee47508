//! The settings of layers as data, for the catalog, the guide and the check of a policy.
//!
//! They are read from the JSON Schema, which is generated from the types that the reader uses. So a new setting is described as soon
//! as it exists.

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::engine::layer::{COMMON_SETTINGS, LAYERS, LayerKind};
use crate::engine::policy::schema;

/// Keyword of the schema for the unit of a number, such as `tokens`.
pub const UNIT: &str = "x-unit";
/// Keyword of the schema for what texts name; its only value is [`TOOLS`].
pub const NAMES: &str = "x-names";
/// The texts are names of tools, as the transcripts have them.
pub const TOOLS: &str = "tools";

/// One setting of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingDescription {
    /// Name in a policy file and after `--set LAYER.`.
    pub name: String,
    /// How its value is written: `number`, `size`, `text`, `texts`, `choice`, `choices`, `true/false` or `table`.
    pub kind: &'static str,
    /// Default value, as in TOML; `None` if the setting is empty unless it is given.
    pub default: Option<String>,
    /// What a number counts; `None` for other values.
    pub unit: Option<String>,
    /// What it does.
    pub about: String,
    /// The values of a choice.
    pub choices: Vec<Choice>,
    /// Whether its texts are names of tools.
    pub names_tools: bool,
}

/// One value of a setting that takes a few.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The value, as in TOML: `"batch"`, `{ calls = … }`.
    pub value: String,
    /// What it means; may be empty.
    pub about: String,
}

/// Returns the own settings of a kind of layer. Those of which only the default is allowed are left out, and so are old names.
pub fn own_settings(kind: &LayerKind) -> Vec<SettingDescription> {
    let is_own = |name: &str, setting: &Value| {
        !COMMON_SETTINGS.contains(&name) && setting.get("const").is_none() && setting.get("deprecated").is_none()
    };
    settings(kind, is_own)
}

/// Returns the settings that every kind of layer has.
pub fn common_settings() -> Vec<SettingDescription> {
    settings(&LAYERS[0], |name, _| COMMON_SETTINGS.contains(&name) && name != "do")
}

fn settings(kind: &LayerKind, is_wanted: impl Fn(&str, &Value) -> bool) -> Vec<SettingDescription> {
    static SCHEMA: LazyLock<Value> = LazyLock::new(schema);
    let kinds = SCHEMA["properties"]["layer"]["items"]["oneOf"].as_array().into_iter().flatten();
    let properties = kinds.filter(|layer| layer["title"] == kind.name).filter_map(|layer| layer["properties"].as_object());
    let mut described = Vec::new();
    properties.for_each(|properties| describe("", properties, &is_wanted, &mut described));
    described
}

/// Describes settings; those of a part have its name in front: `input.chars`.
fn describe(
    part: &str,
    properties: &Map<String, Value>,
    is_wanted: &impl Fn(&str, &Value) -> bool,
    into: &mut Vec<SettingDescription>,
) {
    for (name, setting) in properties {
        let name = format!("{part}{name}");
        match setting["properties"].as_object() {
            _ if !is_wanted(&name, setting) => {}
            Some(part) => describe(&format!("{name}."), part, is_wanted, into),
            None => into.push(description(&name, setting)),
        }
    }
}

fn description(name: &str, setting: &Value) -> SettingDescription {
    let text = |key: &str| setting[key].as_str().map(str::to_owned);
    let forms = ["oneOf", "anyOf"].iter().filter_map(|key| setting[*key].as_array()).flatten();
    let choices: Vec<Choice> = forms.flat_map(choices).chain(choices(setting)).chain(choices(&setting["items"])).collect();
    SettingDescription {
        name: name.to_owned(),
        kind: kind(setting, !choices.is_empty()),
        default: setting.get("default").map(as_toml),
        unit: text(UNIT),
        about: text("description").unwrap_or_default(),
        choices,
        names_tools: setting[NAMES] == TOOLS,
    }
}

/// Returns how a value is written.
fn kind(setting: &Value, has_choices: bool) -> &'static str {
    match (setting["type"].as_str(), has_choices) {
        (Some("array"), true) => "choices",
        (_, true) => "choice",
        (Some("boolean"), _) => "true/false",
        (Some("integer" | "number"), _) => "number",
        (Some("array"), _) => "texts",
        (Some("object"), _) => "table",
        (Some(_), _) => "text",
        // A number, or a text with a formula.
        (None, _) => "size",
    }
}

/// Returns the values that one form of a setting allows: a constant, some texts, or a table with one key.
fn choices(form: &Value) -> Vec<Choice> {
    let about = form["description"].as_str().unwrap_or_default();
    let choice = |value: String, about: &str| Choice { value, about: about.to_owned() };
    if let Some(value) = form.get("const").filter(|value| value.is_string()) {
        return vec![choice(as_toml(value), about)];
    }
    if let (Some(key), Some("object")) = (form["required"][0].as_str(), form["type"].as_str()) {
        return vec![choice(format!("{{ {key} = … }}"), about)];
    }
    form["enum"].as_array().into_iter().flatten().map(|value| choice(as_toml(value), "")).collect()
}

/// Writes a value as in a policy file. JSON and TOML write texts, numbers and lists alike, and only empty tables are defaults.
fn as_toml(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if value.is_u64() || number.fract() != 0.0 => grouped(&value.to_string()),
        Some(number) => format!("{number}"),
        None => value.to_string(),
    }
}

/// Writes `200000` as `200_000`.
fn grouped(number: &str) -> String {
    if number.len() < 5 || !number.bytes().all(|digit| digit.is_ascii_digit()) {
        return number.to_owned();
    }
    let groups: Vec<&str> = number.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(layer: &str) -> Vec<SettingDescription> {
        own_settings(LAYERS.iter().find(|kind| kind.name == layer).expect(layer))
    }

    /// The unit is a part of the type: `#[schemars(extend("x-unit" = "tokens"))]`.
    #[test]
    fn every_number_has_a_unit_and_every_setting_a_meaning() {
        for setting in LAYERS.iter().flat_map(own_settings).chain(common_settings()) {
            let is_number = ["number", "size"].contains(&setting.kind);
            let is_table_of_numbers = setting.kind == "table";
            assert_eq!(setting.unit.is_some(), is_number || is_table_of_numbers, "{setting:?}");
            assert!(!setting.about.is_empty(), "{setting:?}");
            assert!(!setting.about.to_lowercase().contains("default ") || setting.default.is_none(), "{setting:?}");
        }
    }

    #[test]
    fn every_setting_with_tools_says_so() {
        for setting in LAYERS.iter().flat_map(own_settings) {
            // A switch names none, such as `same_tools`, and neither does a number; the inputs are those of tools.
            let may_name = !["true/false", "number"].contains(&setting.kind);
            let says_so = setting.name.contains("tool") || setting.name == "inputs";
            assert_eq!(setting.names_tools, may_name && says_so, "{}", setting.name);
        }
    }

    #[test]
    fn settings_are_those_of_the_types() {
        let clear = of("clear");
        let kept = clear.iter().find(|setting| setting.name == "keep_recent_results").expect("a setting");
        assert_eq!((kept.kind, kept.default.as_deref(), kept.unit.as_deref()), ("number", Some("3"), Some("results")));
        assert!(clear.iter().all(|setting| setting.name != "keep_recent"), "old names are not listed");
        let persist = of("persist");
        assert!(persist.iter().all(|setting| setting.name != "empty_too"), "only false is allowed");
        let grouping = persist.iter().find(|setting| setting.name == "of").expect("a setting");
        let values: Vec<_> = grouping.choices.iter().map(|choice| choice.value.as_str()).collect();
        assert_eq!(
            (grouping.kind, &values[..], grouping.default.as_deref()),
            ("choice", &["\"batch\"", "\"context\"", "\"result\""][..], Some("\"batch\""))
        );
        let limit = persist.iter().find(|setting| setting.name == "max_bytes").expect("a setting");
        assert_eq!((limit.kind, limit.default.as_deref()), ("size", Some("200_000")));
        let when = common_settings().into_iter().find(|setting| setting.name == "when").expect("a setting");
        assert!(when.choices.iter().any(|choice| choice.value == "{ calls = … }"), "{when:?}");
        let prompt = of("summarize").into_iter().find(|setting| setting.name == "prompt").expect("a setting");
        assert!(prompt.choices.iter().any(|choice| choice.value == "\"handover\""), "{prompt:?}");
        assert!(of("recorded").is_empty());
    }
}
