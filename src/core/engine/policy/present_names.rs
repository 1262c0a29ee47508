//! Gives the settings of a policy file their present names, and those of parts the names that they have in a layer.

use toml::{Table, Value};

use super::load::SettingError;
use crate::engine::layer::LayerSpec;
use crate::util::toml_table::add_by_path;

/// Renames the settings that are written by their old names.
pub(super) fn use_present_names(policy: &mut Table) -> Result<(), SettingError> {
    let layers = policy.get_mut("layer").and_then(Value::as_array_mut).into_iter().flatten();
    for (index, layer) in layers.enumerate() {
        let Some(layer) = layer.as_table_mut() else { continue };
        for renamed in spec_of(layer).iter().flat_map(LayerSpec::renamed) {
            let Some(value) = layer.remove(renamed.old) else { continue };
            if !matches!(insert_at(layer, renamed.new, value), Ok(None)) {
                let id = layer.get("id").and_then(Value::as_str).unwrap_or("?");
                let (old, new) = (renamed.old, renamed.new);
                let message = format!("layer `{id}`: `{old}` is the old name of `{new}`: give one of them");
                return Err(SettingError { layer: Some(index), key: old.to_owned(), message });
            }
        }
    }
    Ok(())
}

/// Names the settings of parts in `[sweep]` and `[harness]` as in a layer: `input.chars`. A table and a name with a point may both
/// write one of them.
pub(super) fn name_settings_of_parts(policy: &mut Table) -> Result<(), SettingError> {
    for table in ["sweep", "harness"] {
        let by_layer = policy.get_mut(table).and_then(Value::as_table_mut).into_iter().flatten();
        for (layer, settings) in by_layer.filter_map(|(layer, settings)| Some((layer, settings.as_table_mut()?))) {
            let mut written = Vec::new();
            add_by_path("", std::mem::take(settings), &mut written);
            for (name, value) in written {
                let message = format!("`[{table}]` gives `{layer}.{name}` twice: give it once");
                if settings.insert(name, value).is_some() {
                    return Err(SettingError { layer: None, key: table.to_owned(), message });
                }
            }
        }
    }
    Ok(())
}

/// Inserts a value into a table, or into a table in it (`input.chars`). Returns the value that was there.
pub(super) fn insert_at(table: &mut Table, name: &str, value: Value) -> Result<Option<Value>, String> {
    let Some((part, inner)) = name.split_once('.') else { return Ok(table.insert(name.to_owned(), value)) };
    let part_of = table.entry(part).or_insert_with(|| Value::Table(Table::new()));
    insert_at(part_of.as_table_mut().ok_or_else(|| format!("`{part}` is no table"))?, inner, value)
}

/// Returns a layer of the kind that a table names, with its default settings.
pub(super) fn spec_of(layer: &Table) -> Option<LayerSpec> {
    layer.get("do").and_then(Value::as_str).and_then(LayerSpec::by_name)
}
