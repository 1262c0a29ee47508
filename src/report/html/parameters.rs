//! A policy's parameters in a few words, for the tooltip of its point.

use toml::{Table, Value};

use super::super::table_model::cut;
use crate::results::saved::Results;

/// Maximum layers listed; more do not fit into a tooltip.
const MAX_LAYERS: usize = 8;
/// Maximum characters of a size expression: `0.9 * window - 13000`.
const MAX_SIZE_LENGTH: usize = 40;

/// Returns each layer with what it does and its values. Empty if the policy's text is not saved or cannot be parsed.
pub fn parameters(results: &Results, policy: &str) -> Vec<(String, String)> {
    let text = results.policies.iter().find(|text| text.name == policy).map_or("", |text| &text.toml);
    let Ok(table) = text.parse::<Table>() else { return Vec::new() };
    let layers = table.get("layer").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    layers.iter().filter_map(Value::as_table).take(MAX_LAYERS).map(layer).collect()
}

/// Describes a layer by what it does, its sizes and its limits. Switches and texts are left out; they are in the
/// policy's TOML.
fn layer(layer: &Table) -> (String, String) {
    let text = |key: &str| layer.get(key).and_then(Value::as_str);
    let name = text("id").or(text("do")).unwrap_or_default().to_owned();
    if layer.get("enabled") == Some(&Value::Boolean(false)) {
        return (cut(&name), "off".to_owned());
    }
    let values = layer.iter().filter(|(key, _)| !matches!(key.as_str(), "id" | "do"));
    let values = values.filter_map(|(key, value)| match value {
        Value::Integer(0) => None,
        Value::Integer(_) | Value::Float(_) => Some(format!("{key} {value}")),
        Value::String(size) if size.len() <= MAX_SIZE_LENGTH && size.contains(|c: char| c.is_ascii_digit()) => {
            Some(format!("{key} {size}"))
        }
        _ => None,
    });
    let parts: Vec<String> = text("do").map(str::to_owned).into_iter().chain(values).collect();
    (cut(&name), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::saved::PolicyText;

    #[test]
    fn layer_parameters_are_listed_with_their_values() {
        let toml = "name = \"p\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\nkeep_recent = 5\nkeep_errors = false\nthreshold = \"0.9 * window\"\n\
                    placeholder = \"[cleared]\"\ntools = [\"Read\"]\n[[layer]]\nid = \"idle\"\ndo = \"clear\"\nenabled = false\n";
        let policy = |name: &str, toml: &str| PolicyText { name: name.into(), toml: toml.into(), known_bugs: vec![] };
        let results = Results { policies: vec![policy("p", toml), policy("q", "no = = TOML")], ..Results::default() };
        let expected = [("micro", "clear, keep_recent 5, threshold 0.9 * window"), ("idle", "off")];
        assert_eq!(parameters(&results, "p"), expected.map(|(id, values)| (id.to_owned(), values.to_owned())));
        assert_eq!(parameters(&results, "q"), []);
        assert_eq!(parameters(&results, "r"), []);
    }
}
