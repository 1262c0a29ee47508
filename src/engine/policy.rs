//! A policy: an ordered list of layers with their triggers, as plain data read from TOML.
//!
//! ```toml
//! name = "mine"
//! about = "Clear all but the five newest results; summarise at 90 % of the window."
//!
//! [[layer]]
//! id = "micro"                # what --set and the reports call it
//! do = "clear"
//! keep_recent = 5
//!
//! [[layer]]
//! id = "auto"
//! do = "summarize"
//! meter = "o200k"
//! threshold = "0.9 * window"
//! ```

mod check;
mod load;
mod presets;
mod schema;

pub use load::{PolicyError, Setting, taken_by_none};
pub use presets::{PRESETS, Preset, preset};
pub use schema::schema;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::layer::{Layer, LayerSpec, When};
use crate::tokens::meter::{Meter, SizeUnit};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// What the reports call it.
    pub name: String,
    /// One line: what it does.
    #[serde(default)]
    pub about: String,
    /// Where the values were read, and in which version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Date of that version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// How we know: `code` (read in the program's source), `analyses` (third parties), `documents` (the vendor's
    /// documentation), `seed`, `ours`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Behaviour of the original that looks like a mistake and is kept on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quirks: Vec<String>,
    /// How the harness estimates its own context; layers may use another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meter: Option<Meter>,
    /// The model's context window in tokens, unless the transcript or `--window` says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The most tokens the model may answer; `max_output` in formulas.
    #[serde(default = "default_max_output")]
    pub max_output: u64,
    /// What edits the context, in order: `[[layer]]`.
    #[serde(default, rename = "layer", skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// Which of a study's writers writes its summaries. It is no part of the policy's file: whoever runs a policy chooses who is
    /// asked, and paid.
    #[serde(skip)]
    pub summarizer: usize,
}

/// Claude Code's usual answer limit: with a window of 200,000 its summary is due at 167,000, as analyses report.
fn default_max_output() -> u64 {
    32_000
}

impl Policy {
    /// Whether a setting of this layer fits it; one of no layer is of the whole policy and fits all.
    pub fn has_layer(&self, layer: Option<&str>) -> bool {
        layer.is_none_or(|id| self.layers.iter().any(|layer| layer.id == id))
    }

    /// The policy as TOML: reading it again gives an equal policy.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a policy holds only tables, texts, numbers and lists")
    }

    /// Every measure a replay of this policy keeps a running total of.
    pub fn measures(&self) -> BTreeSet<SizeUnit> {
        let mut measures: BTreeSet<_> = self.meter.iter().map(|meter| meter.measure).collect();
        for layer in self.layers.iter().filter(|layer| layer.enabled) {
            measures.extend(layer.meter.iter().map(|meter| meter.measure));
            measures.extend(layer.spec.measures());
        }
        measures
    }

    /// Whether it asks for summaries.
    pub fn summarizes(&self) -> bool {
        self.layers.iter().any(|layer| layer.enabled && matches!(layer.spec, LayerSpec::Summarize(_)))
    }

    /// Whether it makes the recorded compactions, and nothing else.
    pub fn is_recorded(&self) -> bool {
        let mut enabled = self.layers.iter().filter(|layer| layer.enabled).peekable();
        enabled.peek().is_some() && enabled.all(|layer| matches!(layer.spec, LayerSpec::Recorded(_)))
    }

    /// Whether some of it goes by the usage that the provider reported.
    pub fn uses_recorded_usage(&self) -> bool {
        let meters = self.layers.iter().filter(|layer| layer.enabled).filter_map(|layer| layer.meter);
        self.meter.into_iter().chain(meters).any(|meter| meter.recorded)
    }

    /// Whether a view made for one request can grow into that of the next: its layers decide the same again about what is old.
    pub fn view_is_extendable(&self) -> bool {
        let mut layers = self.layers.iter().filter(|layer| layer.for_request_only());
        layers.all(|layer| layer.when == When::Always && layer.threshold.is_none() && layer.spec.is_stable())
    }
}
