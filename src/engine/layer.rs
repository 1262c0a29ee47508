//! Layers: the steps of a policy. When a layer is due, it reads the context and proposes edits; the context applies them.
//!
//! Each layer has one file, with its manual page (the doc comment of the file), its settings with their defaults, and its code.

pub mod archive;
pub mod clear;
pub mod dedupe;
pub mod drop;
pub mod persist;
mod proposal;
pub mod recorded;
pub mod restore;
mod result_filter;
pub mod summarize;
pub mod truncate;

pub use dedupe::path_asked_for;
pub use proposal::{Attempt, FileKind, NewFile, Proposal, RestoredSummary};
pub use result_filter::{BlockFilter, BlockPosition, ListContent, ResultFilter, ScanCursor};

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::context::Context;
use crate::engine::replay_cache::ReplayCache;
use crate::engine::size::{Limits, Size};
use crate::engine::summarizer::Summarizer;
use crate::tokens::meter::{Meter, SizeUnit};
use crate::transcript::conversation::PairId;

/// One step of a policy: an action, and when it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Layer {
    /// Name of the layer in `--set` and in reports; unique in its policy.
    pub id: String,
    /// When the layer runs; default `always`.
    #[serde(default)]
    pub when: When,
    /// Size in the unit of `meter`: the layer runs only while the context is larger. Default: no threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Size>,
    /// `true` (default): the layer runs above `threshold`. `false`: it also runs at exactly `threshold`.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub strict: bool,
    /// Token estimator for `threshold`; default: the policy's `meter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meter: Option<Meter>,
    /// Which copy of the context the layer edits; default `state`.
    #[serde(default, skip_serializing_if = "Scope::is_state")]
    pub scope: Scope,
    /// `true` (default): the layer runs. `false`: the layer stays in the policy but never runs.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
    #[serde(flatten)]
    pub spec: LayerSpec,
}

/// Names of the settings that every layer has, as in TOML.
pub const COMMON_SETTINGS: &[&str] = &["id", "do", "when", "threshold", "strict", "meter", "scope", "enabled"];

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

/// When a layer is due. If the layer has a `threshold`, the context must also be over it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Before every request.
    #[default]
    Always,
    /// Once for each new message, before the other layers see it.
    Entry,
    /// Before the request that follows a message that the user typed.
    UserTurn,
    /// When the request is larger than the window, up to `max_retries` times.
    Overflow,
    /// After the tool_results that answer a call of this tool.
    Tool(String),
    /// After every n calls.
    Calls(#[schemars(range(min = 1))] usize),
    /// After every n turns, before the request that follows the next typed user message.
    Turns(#[schemars(range(min = 1))] usize),
    /// When at least this many minutes passed since the last response, by the recorded timestamps.
    IdleMinutes(f64),
    /// Just before one of these layers acts (only `archive`).
    Before(Vec<String>),
    /// Just after one of these layers acted (only `restore`).
    After(Vec<String>),
}

/// Which copy of the context a layer edits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The stored history: removed content stays removed.
    #[default]
    State,
    /// A copy made for each request; the stored history stays whole.
    Request,
    /// The provider's copy: removed content stays removed, as with `state`, and the cached prefix stays valid.
    Server,
}

impl Scope {
    fn is_state(&self) -> bool {
        *self == Scope::State
    }
}

impl Layer {
    /// Returns whether its edits apply to one request and leave the stored history whole.
    pub fn for_request_only(&self) -> bool {
        self.scope == Scope::Request
    }

    /// Returns whether its summarizer call continues the conversation, and so reads the prefix in the provider's cache.
    pub fn reuses_prefix_cache(&self) -> bool {
        matches!(&self.spec, LayerSpec::Summarize(summarize) if summarize.rides_prefix)
    }

    /// Returns whether the provider applies its edits inside the prompt cache, so that they cause no new cache writes.
    pub fn edits_on_server(&self) -> bool {
        self.scope == Scope::Server
    }

    /// Returns whether it is one of the layers that run, in the policy's order, before a request.
    pub fn runs_before_requests(&self) -> bool {
        matches!(self.when, When::Always | When::UserTurn | When::Calls(_) | When::Turns(_) | When::IdleMinutes(_))
    }
}

/// What a layer does, with its own settings; selected by `do` in TOML.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum LayerSpec {
    Clear(clear::Clear),
    Persist(persist::Persist),
    Truncate(truncate::Truncate),
    Dedupe(dedupe::Dedupe),
    Drop(drop::Drop),
    Summarize(summarize::Summarize),
    Restore(restore::Restore),
    Archive(archive::Archive),
    Recorded(recorded::Recorded),
}

/// A kind of layer, for the catalog and for the policy reader.
pub struct LayerKind {
    pub name: &'static str,
    /// Source of the file; it begins with the manual page.
    pub source: &'static str,
    pub default: fn() -> LayerSpec,
}

macro_rules! layers {
    ($($name:literal $variant:ident),* $(,)?) => {
        /// Every kind of layer.
        pub const LAYERS: &[LayerKind] = &[$(LayerKind {
            name: $name,
            source: include_str!(concat!("layer/", $name, ".rs")),
            default: || LayerSpec::$variant(Default::default()),
        }),*];
    };
}

layers![
    "clear" Clear,
    "persist" Persist,
    "truncate" Truncate,
    "dedupe" Dedupe,
    "drop" Drop,
    "summarize" Summarize,
    "restore" Restore,
    "archive" Archive,
    "recorded" Recorded,
];

impl LayerSpec {
    /// Returns a layer of this kind with its default settings.
    pub fn by_name(name: &str) -> Option<LayerSpec> {
        LAYERS.iter().find(|kind| kind.name == name).map(|kind| (kind.default)())
    }

    /// Returns the names of its own settings, without those that every layer has.
    pub fn settings(&self) -> Vec<String> {
        let json = serde_json::to_value(self).unwrap_or_default();
        json.as_object().into_iter().flatten().map(|(key, _)| key.clone()).filter(|key| key != "do").collect()
    }

    /// Returns the size units that its settings need, besides the unit of the layer's meter.
    pub fn size_units(&self) -> Vec<SizeUnit> {
        match self {
            LayerSpec::Archive(_) => vec![archive::FORM],
            LayerSpec::Summarize(summarize) => vec![summarize.input_form],
            _ => Vec::new(),
        }
    }

    /// Returns the rules that select tool results, if this kind of layer has them.
    pub fn result_filter(&self) -> Option<&ResultFilter> {
        match self {
            LayerSpec::Clear(layer) => Some(&layer.filter),
            LayerSpec::Persist(layer) => Some(&layer.filter),
            LayerSpec::Truncate(layer) => Some(&layer.filter),
            LayerSpec::Dedupe(layer) => Some(&layer.filter),
            _ => None,
        }
    }

    /// Returns how often it may run for one request as an overflow layer.
    pub fn max_retries(&self) -> usize {
        match self {
            LayerSpec::Summarize(summarize) => summarize.max_retries,
            _ => 1,
        }
    }

    /// Returns whether appended messages never change its decisions about older messages.
    pub fn is_stable(&self) -> bool {
        match self {
            LayerSpec::Clear(clear) => !clear.in_batches(),
            LayerSpec::Truncate(_) => true,
            LayerSpec::Drop(drop) => drop.marker.is_none(),
            _ => false,
        }
    }

    /// Returns whether it only rewrites blocks in place and writes nothing elsewhere.
    pub fn rewrites_in_place(&self) -> bool {
        matches!(self, LayerSpec::Clear(_) | LayerSpec::Truncate(_) | LayerSpec::Dedupe(_))
    }

    /// Returns whether its output can contain parts of the removed blocks. If not, each block is kept as a whole or not at all.
    pub fn keeps_parts(&self) -> bool {
        matches!(
            self,
            LayerSpec::Persist(_)
                | LayerSpec::Truncate(_)
                | LayerSpec::Summarize(_)
                | LayerSpec::Restore(_)
                | LayerSpec::Recorded(_)
        )
    }

    /// Returns what the layer would do now.
    pub fn propose(&self, input: &LayerInput, state: &mut LayerState) -> Proposal {
        match self {
            LayerSpec::Clear(layer) => layer.propose(input, state),
            LayerSpec::Persist(layer) => layer.propose(input, state),
            LayerSpec::Truncate(layer) => layer.propose(input, state),
            LayerSpec::Dedupe(layer) => layer.propose(input, state),
            LayerSpec::Drop(layer) => layer.propose(input),
            LayerSpec::Summarize(layer) => layer.propose(input, state),
            LayerSpec::Restore(layer) => layer.propose(input),
            LayerSpec::Recorded(_) => recorded::propose(input, state),
            // The replay writes the archive itself, just before the layer that the archive precedes.
            LayerSpec::Archive(_) => Proposal::default(),
        }
    }
}

/// The input of a layer that is due.
pub struct LayerInput<'a> {
    pub context: &'a Context<'a>,
    /// Index of the call whose request is being prepared.
    pub call: usize,
    /// Number of messages of the conversation that were appended so far.
    pub messages_read: usize,
    /// Index, in the context, of the first new message since the last response.
    pub first_new: usize,
    /// The newest text that the user typed, as the context held it when this call began.
    pub user_request: &'a str,
    /// What the model asked the compact tool to preserve; `None` outside of such a call.
    pub focus: Option<&'a str>,
    /// Path of the archive that is written if this layer acts.
    pub archive_path: Option<&'a str>,
    /// The request is larger than the window, and this layer runs to shrink it.
    pub overflows: bool,
    pub limits: Limits,
    /// The report's token counter.
    pub counter: Meter,
    pub summarizer: &'a dyn Summarizer,
    pub shared: &'a ReplayCache,
}

impl LayerInput<'_> {
    /// Returns the tokens of a text by the report's counter.
    pub fn tokens(&self, text: &str) -> u64 {
        self.counter.apply(self.counter.unit.text(text))
    }
}

/// What a layer remembers between its runs.
#[derive(Debug, Clone, Default)]
pub struct LayerState {
    /// The layer has decided about everything before this position.
    pub cursor: ScanCursor,
    /// Results that `clear` leaves until it can clear enough at once.
    pub pending_clears: clear::PendingClears,
    /// Consecutive failures.
    pub failures: usize,
    /// Number of recorded compactions that `recorded` has repeated.
    pub compactions_done: usize,
    /// The positions of the results before the cursor, for `recorded`.
    pub result_positions: FxHashMap<PairId, Vec<BlockPosition>>,
    /// The block in which `dedupe` last saw each file or text, by its key.
    pub last_copies: std::collections::HashMap<String, crate::transcript::conversation::BlockId>,
}
