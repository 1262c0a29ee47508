//! Layers: the steps of a policy. When a layer is due, it reads the context and proposes edits; the context applies them.
//!
//! Each kind of layer has one file, with its manual page (the doc comment of the file), its settings with their defaults, what it
//! remembers and what it does ([`Action`]), and one row of [`LAYERS`].

mod action;
pub mod archive;
pub mod clear;
pub mod collapse;
pub mod cut;
pub mod dedupe;
pub mod drop;
pub mod keep;
mod named;
mod newest;
pub mod persist;
pub mod program;
mod proposal;
pub mod recorded;
mod renamed;
pub mod restore;
mod result_filter;
mod saved_result;
pub mod summarize;
mod tail;
mod target;
mod tool_name;
pub mod truncate;
mod turn_count;
mod when;

pub use action::{Action, LayerTraits, Remains, Stability, SummarizerUse, ThinkingLeft, Timing, WrongSetting};
pub use dedupe::{file_part_asked_for, path_asked_for, says_range};
pub use newest::Newest;
pub use proposal::{Attempt, FileKind, NewFile, Proposal, RepeatedCompaction, RestoredSummary};
pub use renamed::{RENAMED, Renamed, old_names, with_first_names};
pub use result_filter::{BlockFilter, BlockPosition, ListContent, ResultFilter, ScanCursor};
pub use tool_name::{is_listed, is_named};
pub use turn_count::TurnCount;
use turn_count::turn_count;
pub use when::When;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::context::{Context, Edit};
use crate::engine::external::ExternalPolicies;
use crate::engine::replay_cache::ReplayCache;
use crate::engine::size::{Limits, Size};
use crate::engine::summarizer::Summarizer;
use crate::tokens::meter::Meter;
use crate::util::doc_head::doc_head;

/// One step of a policy: an action, and when it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Layer {
    /// Name of the layer in `--set` and in reports; unique in its policy.
    pub id: String,
    /// When the layer runs.
    #[serde(default)]
    pub when: When,
    /// Size of the context, by `meter`: the layer runs only while the context is larger. Without it the size does not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "by meter"))]
    pub threshold: Option<Size>,
    /// After the layer edited the context, it waits until the context is at most this large before it runs above `threshold` again.
    /// Without it, it runs whenever the context is larger than `threshold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "by meter"))]
    pub rearm: Option<Size>,
    /// `true`: the layer runs above `threshold`. `false`: it also runs at exactly `threshold`.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub strict: bool,
    /// Token estimator for `threshold`, such as `o200k`. Without it the `meter` of the policy counts; if there is none either, a
    /// threshold is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meter: Option<Meter>,
    /// Which copy of the context the layer edits.
    #[serde(default, skip_serializing_if = "Scope::is_state")]
    pub scope: Scope,
    /// `true`: the layer runs. `false`: the layer stays in the policy but never runs.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
    #[serde(flatten)]
    pub spec: LayerSpec,
}

/// Names of the settings that every layer has, as in TOML.
pub const COMMON_SETTINGS: &[&str] = &["id", "do", "when", "threshold", "rearm", "strict", "meter", "scope", "enabled"];

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
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
        self.spec.traits().summarizer.is_some_and(|summarizer| summarizer.reuses_prefix_cache)
    }

    /// Returns whether the provider applies its edits inside the prompt cache, so that they cause no new cache writes.
    pub fn edits_on_server(&self) -> bool {
        self.scope == Scope::Server
    }

    /// Returns whether a context of this size is over the threshold, where that is `limit`.
    pub fn is_over(&self, size: u64, limit: u64) -> bool {
        size > limit || (!self.strict && size == limit)
    }

    /// Returns whether it is one of the layers that run, in the policy's order, before a request.
    pub fn runs_before_requests(&self) -> bool {
        self.when.can_be_joined() || matches!(self.when, When::Always | When::AfterResponse | When::Any(_) | When::All(_))
    }
}

/// A kind of layer, for the catalog and for the policy reader.
pub struct LayerKind {
    pub name: &'static str,
    /// Manual page: the `//!` lines that its file begins with, unchanged.
    pub doc: &'static str,
    pub default: fn() -> LayerSpec,
    /// Limits the JSON Schema of its settings to those that make sense together.
    pub restrict_schema: fn(&mut Value),
}

macro_rules! layers {
    ($($name:literal $module:ident::$kind:ident),* $(,)?) => {
        /// Every kind of layer.
        pub const LAYERS: &[LayerKind] = &[$(LayerKind {
            name: $name,
            doc: doc_head!(concat!("layer/", stringify!($module), ".rs")),
            default: || LayerSpec::$kind(Default::default()),
            restrict_schema: $module::$kind::restrict_schema,
        }),*];

        /// What a layer does, with its own settings; selected by `do` in TOML.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "do", rename_all = "kebab-case")]
        pub enum LayerSpec {
            $($kind($module::$kind)),*
        }

        impl LayerSpec {
            /// Returns its kind, as in TOML.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name),*
                }
            }

            /// Returns what others need to know about the layer.
            pub fn traits(&self) -> LayerTraits<'_> {
                match self {
                    $(Self::$kind(layer) => layer.traits()),*
                }
            }

            /// Checks that its own settings make sense together.
            ///
            /// # Errors
            ///
            /// Fails with one of the settings, and the reason.
            pub fn check(&self) -> Result<(), WrongSetting> {
                match self {
                    $(Self::$kind(layer) => layer.check()),*
                }
            }

            /// Returns the layer at the begin of a replay, when it remembers nothing.
            pub fn start(&self) -> RunningLayer<'_> {
                match self {
                    $(Self::$kind(layer) => RunningLayer::$kind(layer, Default::default())),*
                }
            }
        }

        /// A layer of a replay, with what it remembers.
        pub enum RunningLayer<'a> {
            $($kind(&'a $module::$kind, <$module::$kind as Action>::State)),*
        }

        impl RunningLayer<'_> {
            /// Returns what the layer would do now.
            pub fn propose(&mut self, input: &LayerInput) -> Proposal {
                match self {
                    $(Self::$kind(layer, state) => layer.propose(input, state)),*
                }
            }

            /// Returns whether the copy that it edited for the request before can be extended.
            pub fn still_holds(&self, context: &Context) -> bool {
                match self {
                    $(Self::$kind(layer, state) => layer.still_holds(context, state)),*
                }
            }

            /// Takes in that the thinking of earlier turns left the copy that it edited. Returns the edits after which that is what it
            /// would make of the history; `None` if it must be made anew.
            pub fn thinking_left(&mut self, left: &ThinkingLeft) -> Option<Vec<Edit>> {
                match self {
                    $(Self::$kind(layer, state) => layer.thinking_left(left, state)),*
                }
            }

            /// Takes in the context after the edits of its proposal were applied to it.
            pub fn settle(&mut self, context: &Context) {
                match self {
                    $(Self::$kind(layer, state) => layer.settle(context, state)),*
                }
            }
        }
    };
}

layers![
    "clear" clear::Clear,
    "persist" persist::Persist,
    "truncate" truncate::Truncate,
    "dedupe" dedupe::Dedupe,
    "collapse" collapse::Collapse,
    "drop" drop::Drop,
    "keep" keep::Keep,
    "summarize" summarize::Summarize,
    "restore" restore::Restore,
    "archive" archive::Archive,
    "recorded" recorded::Recorded,
    "program" program::Program,
];

impl LayerSpec {
    /// Returns a layer of this kind with its default settings.
    pub fn by_name(name: &str) -> Option<LayerSpec> {
        LAYERS.iter().find(|kind| kind.name == name).map(|kind| (kind.default)())
    }

    /// Returns a layer of the same kind with its default settings.
    pub fn with_defaults(&self) -> LayerSpec {
        Self::by_name(self.name()).expect("every kind has its name")
    }

    /// Returns the names of its own settings, without those that every layer has; of a part, such as `input.chars`.
    pub fn settings(&self) -> Vec<String> {
        // The keys of a table such as `tool_limits`, which is empty if nothing is given, are no settings.
        let json = serde_json::to_value(self.with_defaults()).expect("a test writes the settings of every kind");
        let mut settings = Vec::new();
        add_names("", &json, &mut settings);
        settings.retain(|name| name != "do");
        settings
    }

    /// Returns how often it may run for one request as an overflow layer.
    pub fn max_retries(&self) -> usize {
        self.traits().summarizer.map_or(1, |summarizer| summarizer.max_retries)
    }
}

/// Adds the names of the settings in a table: those of a table in it with its name in front.
fn add_names(part: &str, settings: &Value, names: &mut Vec<String>) {
    for (name, value) in settings.as_object().into_iter().flatten() {
        let name = format!("{part}{name}");
        match value.as_object() {
            Some(part) if !part.is_empty() => add_names(&format!("{name}."), value, names),
            _ => names.push(name),
        }
    }
}

/// The input of a layer that is due.
pub struct LayerInput<'a> {
    pub context: &'a Context<'a>,
    /// Which copy of the context this is. That of a request extends the one of the request before, as the layer left it, if no layer
    /// edited the history since.
    pub scope: Scope,
    /// The view of the request before can be extended: no record and no layer edited the history since.
    pub view_holds: bool,
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
    /// Tokens of system prompt and tools, part of every request.
    pub overhead: u64,
    /// Tokens of the request if nothing is changed, overhead included: by the meter of the policy, or else by the report's counter.
    pub estimate: u64,
    /// The token estimator of the policy, or else the report's counter.
    pub meter: Meter,
    /// Tokens of the previous request as it was sent, overhead included; `None` before the first.
    pub last_read: Option<u64>,
    /// The report's token counter.
    pub counter: Meter,
    pub summarizer: &'a dyn Summarizer,
    /// Starts programs that are policies.
    pub external: &'a dyn ExternalPolicies,
    pub shared: &'a ReplayCache,
}

impl LayerInput<'_> {
    /// Returns the tokens of a text by the report's counter.
    pub fn tokens(&self, text: &str) -> u64 {
        self.counter.apply(self.counter.unit.text(text))
    }
}
