//! Finds the layers of a harness in a policy, and their settings.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::engine::layer::Layer;
use crate::engine::policy::Policy;
use crate::util::toml_table::add_by_path;

/// Settings by path, such as `auto.threshold` or `cap.tool_limits.Bash`.
pub type Settings = BTreeMap<String, Value>;

/// The layers of a policy, by the layers of a harness.
pub struct MatchedLayers<'a> {
    pub policy: &'a Policy,
    /// The layer of the policy for each layer of the harness.
    by_id: BTreeMap<String, &'a Layer>,
    /// Layers of the harness that the policy has not, or that rest there.
    pub missing: Vec<String>,
    /// Layers of the policy that run, and that the harness has not.
    pub extra: Vec<&'a Layer>,
    /// The settings, by the ids of the harness.
    pub settings: Settings,
}

impl<'a> MatchedLayers<'a> {
    /// Matches layers of a preset by their id, or else by their kind, if the policy has one of that kind.
    pub fn new(policy: &'a Policy, base: &Policy) -> Self {
        let mut by_id = BTreeMap::new();
        let mut missing = Vec::new();
        for Layer { id, spec, enabled: runs, .. } in &base.layers {
            let kind = spec.name();
            // A layer that rests counts only if it rests in the harness too.
            let counts = |layer: &&Layer| layer.id == *id && layer.spec.name() == kind && (layer.enabled || !runs);
            match policy.layers.iter().find(counts).or_else(|| only_one(policy, kind)) {
                Some(layer) if !by_id.values().any(|other: &&Layer| other.id == layer.id) => {
                    by_id.insert(id.clone(), layer);
                }
                _ => missing.push(id.clone()),
            }
        }
        let is_matched = |layer: &&Layer| by_id.values().any(|matched| matched.id == layer.id);
        let extra = policy.layers.iter().filter(|layer| layer.enabled && !is_matched(layer)).collect();
        let settings = by_id.iter().flat_map(|(id, layer)| layer_settings(id, layer, policy)).collect();
        Self { policy, by_id, missing, extra, settings }
    }

    /// Returns how the user writes a setting: with the id of the policy's own layer.
    pub fn own_name(&self, path: &str) -> String {
        let (id, field) = path.split_once('.').unwrap_or((path, ""));
        let own = self.by_id.get(id).map_or(id, |layer| layer.id.as_str());
        format!("{own}.{field}")
    }

    /// Returns whether the policy lacks the layer of a setting.
    pub fn is_missing(&self, path: &str) -> bool {
        !path.split_once('.').is_some_and(|(id, _)| self.by_id.contains_key(id))
    }

    /// Returns the layer of the policy for a layer of the harness.
    pub fn layer(&self, id: &str) -> Option<&'a Layer> {
        self.by_id.get(id).copied()
    }
}

/// Returns the layer of this kind that runs, if there is only one.
fn only_one<'a>(policy: &'a Policy, kind: &str) -> Option<&'a Layer> {
    let mut layers = policy.layers.iter().filter(|layer| layer.enabled && layer.spec.name() == kind);
    layers.next().filter(|_| layers.next().is_none())
}

/// Returns the settings of a layer, also those that have their defaults. Its meter is the one that counts.
pub fn layer_settings(id: &str, layer: &Layer, policy: &Policy) -> Settings {
    let mut table = Table::try_from(layer).expect("a layer holds only tables, texts, numbers and lists");
    let mut insert = |key: &str, value: Value| {
        table.entry(key).or_insert(value);
    };
    insert("enabled", Value::Boolean(true));
    insert("strict", Value::Boolean(true));
    insert("scope", Value::from("state"));
    if let Some(meter) = layer.meter.or(policy.meter).filter(|_| layer.threshold.is_some()) {
        insert("meter", Value::from(meter.to_string()));
    }
    table.remove("id");
    table.remove("do");
    let mut settings = Settings::new();
    add_by_path(&format!("{id}."), table, &mut settings);
    settings
}
