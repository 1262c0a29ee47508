//! Completions for `--set`: the settings of the presets.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use clap::builder::TypedValueParser;
use recompact::engine::policy::{PRESETS, Preset};
use toml::{Table, Value};

use super::suggestions::suggesting;

/// Returns a parser that completes `LAYER.FIELD` for the settings that presets have, and parses any text with `parse`.
pub fn setting<P: TypedValueParser>(parse: P) -> impl TypedValueParser<Value = P::Value> {
    suggesting(names, parse)
}

/// The settings that the files of the presets give, by the id of their layer. A shell appends no `=` to them.
fn names() -> Vec<&'static str> {
    static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| PRESETS.iter().flat_map(of_preset).collect());
    NAMES.iter().map(String::as_str).collect()
}

fn of_preset(preset: &Preset) -> Vec<String> {
    let file: Table = preset.toml.parse().expect("presets are part of the program, and a test parses them");
    let layers = file.get("layer").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table);
    let of_layer = |layer: &Table| {
        let id = layer.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let fields = layer.keys().filter(|key| !["id", "do"].contains(&key.as_str()));
        fields.map(|field| format!("{id}.{field}")).collect::<Vec<_>>()
    };
    layers.flat_map(of_layer).collect()
}
