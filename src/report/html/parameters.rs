//! What is particular about a policy, for the tooltip of its point: the settings that are not those of its preset, or the layers of
//! a policy that is no preset.

use toml::{Table, Value};

use super::super::table_model::cut_to;
use crate::analysis::spec::preset_text;
use crate::results::saved::Results;

/// Most lines; more do not fit into a tooltip.
const MAX_LINES: usize = 8;
/// Most characters of a value: `0.9 * window - 13000`.
const MAX_VALUE: usize = 40;
/// Settings of the whole policy that change its requests.
const OF_POLICY: [&str; 3] = ["meter", "window", "max_output"];

/// Returns names and values. Empty if the policy's text is not saved or cannot be parsed.
pub fn parameters(results: &Results, policy: &str) -> Vec<(String, String)> {
    let text = results.policies.iter().find(|text| text.name == policy).map_or("", |text| &text.toml);
    let Ok(own) = text.parse::<Table>() else { return Vec::new() };
    let original = preset_text(policy).and_then(|text| text.parse::<Table>().ok());
    let mut lines = match original {
        Some(original) => changed(&own, &original),
        None => layers(&own).iter().map(|layer| (id(layer), what(layer))).collect(),
    };
    let more = lines.len().saturating_sub(MAX_LINES);
    if more > 0 {
        lines.truncate(MAX_LINES - 1);
        lines.push(("…".to_owned(), format!("{} more", more + 1)));
    }
    lines
}

/// The settings that differ, with the values of the policy.
fn changed(own: &Table, original: &Table) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = Vec::new();
    let of_policy = OF_POLICY.into_iter().filter(|key| own.get(*key) != original.get(*key));
    lines.extend(of_policy.map(|key| (key.to_owned(), own.get(key).map_or("none".to_owned(), short))));
    for layer in layers(own) {
        let id = id(layer);
        let Some(before) = layers(original).into_iter().find(|other| self::id(other) == id) else {
            lines.push((id, format!("added: {}", what(layer))));
            continue;
        };
        let different = layer.iter().filter(|(key, value)| before.get(*key) != Some(value));
        lines.extend(different.map(|(key, value)| (format!("{id}.{key}"), short(value))));
        let unset = before.keys().filter(|key| !layer.contains_key(*key));
        lines.extend(unset.map(|key| (format!("{id}.{key}"), "none".to_owned())));
    }
    let removed = layers(original).into_iter().filter(|layer| layers(own).iter().all(|other| self::id(other) != self::id(layer)));
    lines.extend(removed.map(|layer| (id(layer), "removed".to_owned())));
    lines
}

fn layers(policy: &Table) -> Vec<&Table> {
    let layers = policy.get("layer").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    layers.iter().filter_map(Value::as_table).collect()
}

/// The id of a layer; without one, what it does.
fn id(layer: &Table) -> String {
    layer.get("id").or(layer.get("do")).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// `clear`, `off`
fn what(layer: &Table) -> String {
    if layer.get("enabled") == Some(&Value::Boolean(false)) {
        return "off".to_owned();
    }
    layer.get("do").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn short(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    cut_to(text.lines().next().unwrap_or_default(), MAX_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::saved::PolicyText;

    fn of(name: &str, toml: String) -> Vec<(String, String)> {
        let policies = vec![PolicyText { name: name.into(), toml, ..PolicyText::default() }];
        parameters(&Results { policies, ..Results::default() }, name)
    }

    #[test]
    fn only_settings_that_differ_from_the_preset_are_listed() {
        let lines = |lines: &[(&str, &str)]| lines.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>();
        let preset = preset_text("lcc-s08").expect("a preset");
        let changed = preset.replacen("\nkeep_recent_results = 3\n", "\nkeep_recent_results = 7\n", 1);
        assert_ne!(changed, preset);
        assert_eq!(of("lcc-s08", preset), []);
        assert_eq!(of("lcc-s08", changed), lines(&[("micro.keep_recent_results", "7")]));
        let own = "name = \"p\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\n[[layer]]\nid = \"idle\"\ndo = \"clear\"\nenabled = false\n";
        assert_eq!(of("p", own.to_owned()), lines(&[("micro", "clear"), ("idle", "off")]));
        assert_eq!(of("q", "no = = TOML".to_owned()), []);
    }
}
