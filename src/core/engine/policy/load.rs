//! Reads a [`Policy`] from TOML, and reports errors with their line.

use toml::{Table, Value};

use super::check::check;
use super::present_names::{name_settings_of_parts, use_present_names};
use super::setting::{Setting, apply_all};
use super::{Policy, Tuning};
use crate::engine::layer::{COMMON_SETTINGS, LAYERS, LayerSpec, WrongSetting, old_names};
use crate::util::text::did_you_mean;
use crate::util::toml_span::{FileError, TomlSpans, line_at};
use crate::util::toml_table::{FieldError, from_table};

/// Why a policy cannot be used. The `origin` is the name of the preset or the path of the file.
pub type PolicyError = FileError;

impl Policy {
    /// Parses a policy. `origin` is its name in error messages.
    pub fn parse(text: &str, origin: &str, settings: &[Setting]) -> Result<Self, PolicyError> {
        Self::parse_with(text, origin, settings).map_err(|error| {
            // If the policy is valid without its settings, a setting is wrong, and not a line of the file.
            let is_wrong = |setting: &&Setting| Self::parse_with(text, origin, std::slice::from_ref(*setting)).is_err();
            match settings.iter().find(is_wrong) {
                Some(setting) if Self::parse_with(text, origin, &[]).is_ok() => {
                    PolicyError { origin: format!("--set {}", setting.written), line: None, what: error.what }
                }
                _ => error,
            }
        })
    }

    fn parse_with(text: &str, origin: &str, settings: &[Setting]) -> Result<Self, PolicyError> {
        let error = |line: Option<usize>, what: String| PolicyError { origin: origin.to_owned(), line, what };
        let mut table: Table =
            toml::from_str(text).map_err(|e| error(e.span().map(|span| line_at(text, span.start)), e.message().to_owned()))?;
        let spans = TomlSpans::new(text, "layer");
        let line = |wrong: &SettingError| {
            let of = |key: &str| spans.line(wrong.layer, key);
            of(&wrong.key).or_else(|| old_names(&wrong.key).find_map(of))
        };
        let error_at = |wrong: SettingError| error(line(&wrong), wrong.message);
        use_present_names(&mut table).map_err(error_at)?;
        name_settings_of_parts(&mut table).map_err(error_at)?;
        apply_all(settings, &mut table).map_err(|what| error(None, what))?;
        let layers = take_layers(&mut table).map_err(error_at)?;
        let policy = parse_layer_by_layer(&table, layers).map_err(error_at)?;
        check(&policy).map_err(|(layer, WrongSetting { setting, why })| {
            // A setting that is missing has no line.
            let wrong = SettingError { layer: Some(layer), key: setting.to_owned(), message: why };
            error(line(&wrong).or_else(|| spans.line(Some(layer), "id")), wrong.message)
        })?;
        Ok(policy)
    }
}

/// An error in one setting.
pub(super) struct SettingError {
    /// Index of the layer; `None` for a setting of the whole policy.
    pub layer: Option<usize>,
    pub key: String,
    pub message: String,
}

/// Names of the settings of a policy, as in TOML.
pub(super) const POLICY_SETTINGS: &[&str] = &[
    "name",
    "about",
    "aliases",
    "version",
    "source",
    "date",
    "evidence",
    "decided_by",
    "quirks",
    "messages",
    "meter",
    "window",
    "max_output",
    "cache",
    "sweep",
    "harness",
    Tuning::TABLE,
    "layer",
];

/// Removes the layers of a policy, each with the defaults of its kind. Checks that every key is known: silently ignoring a misspelt
/// setting would give a wrong result.
fn take_layers(policy: &mut Table) -> Result<Vec<(Table, LayerSpec)>, SettingError> {
    if let Some(key) = policy.keys().find(|key| !POLICY_SETTINGS.contains(&key.as_str())) {
        let message = format!("a policy has no setting `{key}`{}", did_you_mean(key, POLICY_SETTINGS));
        return Err(SettingError { layer: None, key: key.clone(), message });
    }
    let layers = match policy.remove("layer") {
        None => Vec::new(),
        Some(Value::Array(layers)) => layers,
        Some(_) => {
            let message = "write layers as `[[layer]]`".to_owned();
            return Err(SettingError { layer: None, key: "layer".to_owned(), message });
        }
    };
    let of_layer = |(index, layer)| {
        let error = |key: &str, message| Err(SettingError { layer: Some(index), key: key.to_owned(), message });
        let Value::Table(layer) = layer else { return error("id", "write layers as `[[layer]]`".to_owned()) };
        let id = layer.get("id").and_then(Value::as_str).unwrap_or("?");
        let name = layer.get("do").and_then(Value::as_str).unwrap_or_default();
        let Some(spec) = LayerSpec::by_name(name) else {
            let names: Vec<_> = LAYERS.iter().map(|kind| kind.name).collect();
            return error("do", format!("layer `{id}`: `do = \"{name}\"` is unknown{}", did_you_mean(name, &names)));
        };
        let known: Vec<_> = COMMON_SETTINGS.iter().map(|s| (*s).to_owned()).chain(spec.settings()).collect();
        if let Some(key) = written_settings(&layer, &known).iter().find(|key| !known.contains(key)) {
            let inside = format!("{key}.");
            let message = match known.iter().find(|known| known.starts_with(&inside)) {
                Some(inner) => format!("layer `{id}`: `{key}` is a table of settings, such as `{inner}`"),
                None => format!("layer `{id}`: `{name}` has no setting `{key}`{}", did_you_mean(key, &known)),
            };
            return error(key, message);
        }
        Ok((layer, spec))
    };
    layers.into_iter().enumerate().map(of_layer).collect()
}

/// Returns the settings in a table of a layer. Those of a part have its name in front.
fn written_settings(table: &Table, known: &[String]) -> Vec<String> {
    let mut written = Vec::new();
    for (name, value) in table {
        let inside = format!("{name}.");
        let of_part: Vec<String> = known.iter().filter_map(|known| Some(known.strip_prefix(&inside)?.to_owned())).collect();
        match value.as_table() {
            Some(part) if !of_part.is_empty() => {
                written.extend(written_settings(part, &of_part).iter().map(|inner| format!("{inside}{inner}")));
            }
            _ => written.push(name.clone()),
        }
    }
    written
}

/// Parses the layers one at a time, so that an error can name its layer.
fn parse_layer_by_layer(table: &Table, layers: Vec<(Table, LayerSpec)>) -> Result<Policy, SettingError> {
    let error = |layer: Option<usize>, default: &str, error: FieldError| SettingError {
        layer,
        key: error.key.unwrap_or_else(|| default.to_owned()),
        message: error.what,
    };
    let required = |keys: &[&str], table: &Table| -> Table {
        keys.iter().filter_map(|key| Some(((*key).to_owned(), table.get(*key)?.clone()))).collect()
    };
    let mut policy: Policy = from_table(table, &required(&["name"], table)).map_err(|wrong| error(None, "name", wrong))?;
    for (index, (layer, kind)) in layers.into_iter().enumerate() {
        let id = layer.get("id").and_then(Value::as_str).unwrap_or("?").to_owned();
        let of_layer = |error: SettingError| SettingError { message: format!("layer `{id}`: {}", error.message), ..error };
        let layer = with_defaults(layer, kind).map_err(|what| {
            of_layer(SettingError { layer: Some(index), key: "do".to_owned(), message: format!("its defaults: {what}") })
        })?;
        let parsed =
            from_table(&layer, &required(&["id", "do"], &layer)).map_err(|wrong| of_layer(error(Some(index), "id", wrong)))?;
        policy.layers.push(parsed);
    }
    Ok(policy)
}

/// Fills in the defaults of the layer's kind. Serde would use the defaults of the flattened
/// [`ResultFilter`](crate::engine::layer::ResultFilter) instead, which are the same for every kind.
fn with_defaults(layer: Table, kind: LayerSpec) -> Result<Table, toml::ser::Error> {
    let mut settings = Table::try_from(kind)?;
    settings.extend(layer);
    Ok(settings)
}

#[cfg(test)]
mod tests;
