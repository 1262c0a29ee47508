//! One setting of a policy, as `--set` gives it.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::present_names::{insert_at, spec_of};
use super::{CacheSettings, Policy, Tuning};
use crate::engine::size::{Limits, Size};
use crate::util::ValueError;
use crate::util::text::did_you_mean;

/// One `--set LAYER.FIELD=VALUE`, or `FIELD=VALUE` for a setting of the whole policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The original text.
    pub written: String,
    /// Id of the layer; `None` for a setting of the whole policy.
    pub layer: Option<String>,
    pub field: String,
    pub value: Value,
}

impl std::str::FromStr for Setting {
    type Err = ValueError;

    fn from_str(written: &str) -> Result<Self, ValueError> {
        let (key, value) = written.split_once('=').ok_or_else(|| format!("`{written}`: write LAYER.FIELD=VALUE"))?;
        let (layer, field) = match key.trim().split_once('.') {
            Some((layer, field)) => (Some(layer.to_owned()), field),
            None => (None, key.trim()),
        };
        Ok(Self { written: written.to_owned(), layer, field: field.to_owned(), value: parse_value(value.trim()) })
    }
}

/// Parses a value as users type it: `5`, `true`, `["a"]`, `50k` (a number), else a text.
fn parse_value(written: &str) -> Value {
    let as_toml = format!("value = {written}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
    as_toml.or_else(|| parse_plain_size(written)).unwrap_or_else(|| Value::String(written.to_owned()))
}

fn parse_plain_size(written: &str) -> Option<Value> {
    let starts_with_digit = written.starts_with(|c: char| c.is_ascii_digit());
    let is_formula = written.contains(|c: char| "+-*/()%".contains(c));
    let size = (starts_with_digit && !is_formula).then(|| written.parse::<Size>().ok()).flatten()?;
    let number = size.resolve(Limits { window: 0, max_output: 0 });
    i64::try_from(number).ok().map(Value::Integer)
}

impl Setting {
    /// Changes the policy. Returns the present name of the setting, which may be written by an old one.
    fn apply(&self, policy: &mut Table) -> Result<String, String> {
        let target = match &self.layer {
            None => policy,
            Some(id) => {
                let layers = policy.get_mut("layer").and_then(Value::as_array_mut).into_iter().flatten();
                let mut ids = Vec::new();
                let mut target = None;
                for layer in layers.filter_map(Value::as_table_mut) {
                    let layer_id = layer.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
                    if layer_id == *id {
                        target = Some(layer);
                    }
                    ids.push(layer_id);
                }
                match target {
                    None if id == CacheSettings::TABLE => {
                        let cache = policy.entry(CacheSettings::TABLE).or_insert_with(|| Value::Table(Table::new()));
                        cache.as_table_mut().ok_or("write `[cache]` as a table")?
                    }
                    target => target.ok_or_else(|| format!("no layer has the id `{id}`{}", did_you_mean(id, &ids)))?,
                }
            }
        };
        let name = spec_of(target).map_or(self.field.as_str(), |spec| spec.present_name(&self.field)).to_owned();
        insert_at(target, &name, self.value.clone())?;
        Ok(name)
    }
}

/// Applies settings in order: the last one counts, unless two name the same setting differently. What is changed was not chosen by
/// the sweep that wrote the file.
pub(super) fn apply_all(settings: &[Setting], policy: &mut Table) -> Result<(), String> {
    if !settings.is_empty() {
        policy.remove(Tuning::TABLE);
    }
    let mut given: BTreeMap<(Option<&str>, String), &str> = BTreeMap::new();
    for setting in settings {
        let (layer, field) = (setting.layer.as_deref(), setting.field.as_str());
        let name = setting.apply(policy)?;
        if let Some(other) = given.insert((layer, name), field).filter(|other| *other != field) {
            let id = layer.unwrap_or_default();
            return Err(format!("--set {id}.{other} and --set {id}.{field} are the same setting: give one of them"));
        }
    }
    Ok(())
}

/// Returns an error message if none of these policies has the layer of a setting; it lists the layers that they have.
pub fn unknown_layer_message(setting: &str, layer: Option<&str>, policies: &[&Policy]) -> Option<String> {
    let id = layer.filter(|_| !policies.iter().any(|policy| policy.has_layer(layer)))?;
    let ids = policies.iter().flat_map(|policy| policy.layers.iter().map(|layer| layer.id.as_str()));
    let known: Vec<_> = ids.collect::<BTreeSet<_>>().into_iter().collect();
    Some(format!("--set {setting}: no policy here has a layer `{id}`{}", did_you_mean(id, &known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_accepts_human_values() {
        for (written, value) in [
            ("5", Value::Integer(5)),
            ("50k", Value::Integer(50_000)),
            ("200KB", Value::Integer(200_000)),
            ("true", Value::Boolean(true)),
            ("head", Value::String("head".to_owned())),
            ("0.9 * window", Value::String("0.9 * window".to_owned())),
        ] {
            assert_eq!(parse_value(written), value, "{written}");
        }
    }
}
