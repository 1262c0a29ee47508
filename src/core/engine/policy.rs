//! A policy is an ordered list of layers with their triggers, as plain data read from TOML.
//!
//! ```toml
//! name = "mine"
//! about = "Clear all but the five newest results; summarise at 90 % of the window."
//!
//! [[layer]]
//! id = "micro"                # name of the layer in --set and in reports
//! do = "clear"
//! keep_recent_results = 5
//!
//! [[layer]]
//! id = "auto"
//! do = "summarize"
//! meter = "o200k"
//! threshold = "0.9 * window"
//! ```

mod check;
mod convert;
mod load;
mod present_names;
mod presets;
mod purposes;
mod schema;
mod setting;
mod tuning;

pub use convert::{Converted, NewName, convert};
pub use load::PolicyError;
pub use presets::{DROP_ALL, FAMILIES, Family, KEEP_ALL, PRESETS, Preset, RECORDED, family, preset};
pub use purposes::{PROPOSALS, PURPOSES, Purpose, purpose};
pub use schema::schema;
pub use setting::{Setting, unknown_layer_message};
pub use tuning::{SessionsWindow, Tuning};

use std::collections::{BTreeMap, BTreeSet};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::engine::context::MessageUnit;
use crate::engine::layer::{Layer, Stability, When, archive};
use crate::engine::size;
use crate::tokens::meter::{Meter, SizeUnit};

/// A compaction policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// Name of the policy in reports.
    pub name: String,
    /// One line that says what the policy does; default empty.
    #[serde(default)]
    pub about: String,
    /// Other names of a preset, such as that of its setting in the harness; default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Version of the harness, as its package or commit names it. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Source of the values, and its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Date of that version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Evidence for the values: `live` (every request equals that of the running program), `library` (every request equals that of
    /// the program's own code, called with recordings), `code` (read in the program's source), `documents` (the vendor's
    /// documentation), `analyses` (by third parties), `seed`, `ours`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Who decides whether the policy acts as it is written here, if those who would ship it cannot: `provider`. Such a policy is
    /// replayed, but never recommended. Default: none, its user decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DecidedBy")]
    pub decided_by: Option<DecidedBy>,
    /// Known bugs of the original that the policy reproduces on purpose, and other differences; default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quirks: Vec<String>,
    /// What the harness stores as one message: counts, cuts and meters follow from it. Default `whole`.
    #[serde(default, skip_serializing_if = "MessageUnit::is_whole")]
    pub messages: MessageUnit,
    /// Token estimator of the harness, used by all thresholds; a layer may name another. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meter: Option<Meter>,
    /// Context window of the model in tokens, unless the transcript or `--window` states another.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "size::window")]
    #[schemars(with = "size::Tokens")]
    pub window: Option<u64>,
    /// Maximum tokens of an answer, `max_output` in formulas; default 32,000.
    #[serde(default = "default_max_output", deserialize_with = "size::tokens")]
    #[schemars(with = "size::Tokens", default = "default_max_output")]
    pub max_output: u64,
    /// How the harness uses the provider's prompt cache: `[cache]`.
    #[serde(default, skip_serializing_if = "CacheSettings::is_default")]
    pub cache: CacheSettings,
    /// Values that `recompact sweep` tries if `--set` names none, by layer and setting: `[sweep]`, then
    /// `clear.threshold = "40k..120k:20k"`, as `--set` takes them; default none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "texts_by_setting")]
    pub sweep: BTreeMap<String, BTreeMap<String, String>>,
    /// What the harness calls a setting, by layer and setting: `[harness]`, then `mask.keep_recent_results = "n"`; default none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "texts_by_setting")]
    pub harness: BTreeMap<String, BTreeMap<String, String>>,
    /// How a sweep chose the numbers: `[tuned]`, which `recompact sweep --save` writes; default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<Tuning>,
    /// The layers that edit the context, in order: `[[layer]]`; default none.
    #[serde(default, rename = "layer", skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// Index into `Study::summarizers`, the list of summarizers. Not read from the policy file: the run chooses the summarizer.
    #[serde(skip)]
    pub summarizer: usize,
}

/// The schema of texts by layer and setting. A setting of a part is in a table in the table, or `input.chars` is its name.
fn texts_by_setting(_: &mut SchemaGenerator) -> Schema {
    let texts = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let of_layer = json!({ "type": "object", "additionalProperties": { "anyOf": [{ "type": "string" }, texts] } });
    json_schema!({ "type": "object", "additionalProperties": of_layer })
}

/// Who decides about a policy that its user cannot switch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecidedBy {
    /// The provider of the model: by a configuration that is not public.
    Provider,
}

/// How a harness uses the provider's prompt cache. Has no effect with providers that need no cache breakpoints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSettings {
    /// Where the harness sets cache breakpoints; default `ends`.
    #[serde(default)]
    pub breakpoints: Breakpoints,
}

/// Where a harness sets cache breakpoints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Breakpoints {
    /// At the end of each request, as Claude Code does: an edit in the middle leaves only the system prompt and tools readable.
    #[default]
    Ends,
    /// Just before the part that the next edit changes: the best that breakpoints can give.
    Best,
}

impl CacheSettings {
    /// Name of the table in a policy file; `--set cache.breakpoints=best` changes a setting of it.
    pub const TABLE: &str = "cache";

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Usual answer limit of Claude Code: with a window of 200,000 tokens its summary is due at 167,000, as analyses report.
fn default_max_output() -> u64 {
    32_000
}

impl Policy {
    /// Returns whether the policy has a layer with this id; true for `None`, a setting of the whole policy, and for `cache`.
    pub fn has_layer(&self, layer: Option<&str>) -> bool {
        layer.is_none_or(|id| id == CacheSettings::TABLE || self.layers.iter().any(|layer| layer.id == id))
    }

    /// Returns the policy as TOML; parsing it again gives an equal policy.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a policy holds only tables, texts, numbers and lists")
    }

    /// Returns the size units whose running totals a replay of this policy needs.
    pub fn units(&self) -> BTreeSet<SizeUnit> {
        let mut measures: BTreeSet<_> = self.meter.iter().map(|meter| meter.unit).collect();
        for layer in self.layers.iter().filter(|layer| layer.enabled) {
            measures.extend(layer.meter.iter().map(|meter| meter.unit));
            let traits = layer.spec.traits();
            let input = traits.summarizer.map(|summarizer| summarizer.input_unit);
            // The tokens of a serialised input follow from those of its text.
            measures.extend(input.filter(|unit| unit.is_serialized()).map(|_| SizeUnit::Chars).into_iter().chain(input));
            measures.extend(traits.archive_path.map(|_| archive::FORM));
        }
        measures
    }

    /// Returns whether it requests summaries.
    pub fn summarizes(&self) -> bool {
        self.layers.iter().any(|layer| layer.enabled && layer.spec.traits().summarizer.is_some())
    }

    /// Returns whether it repeats the recorded compactions and does nothing else.
    pub fn is_recorded(&self) -> bool {
        let mut enabled = self.layers.iter().filter(|layer| layer.enabled).peekable();
        enabled.peek().is_some() && enabled.all(|layer| layer.spec.traits().repeats_record)
    }

    /// Returns whether the view of one request can be extended to the view of the next: its layers decide the same again about old
    /// messages. A threshold of the first layer is one of the whole history, which stays over it once it is, if only messages count.
    pub fn view_is_extendable(&self) -> bool {
        let layers = || self.layers.iter().filter(|layer| layer.enabled && layer.for_request_only());
        let is_alone = layers().count() == 1;
        let grows = |layer: &Layer| layer.meter.or(self.meter).is_some_and(|meter| !meter.recorded);
        layers().enumerate().all(|(at, layer)| {
            let stays_over = layer.threshold.is_none() || at == 0 && grows(layer);
            let is_stable = match layer.spec.traits().stability {
                Stability::Unstable => false,
                Stability::Alone => is_alone,
                Stability::Stable => true,
            };
            layer.when == When::Always && stays_over && is_stable
        })
    }
}
