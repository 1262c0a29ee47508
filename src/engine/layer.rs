//! Layers: what a policy is made of. A layer looks at the context when it is due and proposes edits; the context applies them.
//!
//! One file a layer: its settings with their defaults, its manual page (the file's doc comment), its code.

pub mod archive;
pub mod clear;
pub mod dedupe;
pub mod drop;
pub mod persist;
mod pick;
mod proposal;
pub mod recorded;
pub mod restore;
pub mod summarize;
pub mod truncate;

pub use dedupe::path_asked_for;
pub use pick::{BlockFilter, Cursor, ListContent, Place, ResultFilter};
pub use proposal::{Attempt, FileKind, NewFile, Proposal, RestoredSummary};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::context::Context;
use crate::engine::replay_cache::ReplayCache;
use crate::engine::size::{Limits, Size};
use crate::engine::summarizer::Summarizer;
use crate::tokens::meter::{Meter, SizeUnit};

/// One step of a policy: what it does, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Layer {
    /// What `--set` and the reports call it; unique in its policy.
    pub id: String,
    /// When it is due.
    #[serde(default)]
    pub when: When,
    /// Only while the context is over this, by `meter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Size>,
    /// `true`: over means more than the threshold. `false`: reaching it is enough.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub strict: bool,
    /// The estimate this layer goes by, where it is not the policy's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meter: Option<Meter>,
    #[serde(default, skip_serializing_if = "Scope::is_state")]
    pub scope: Scope,
    /// `false`: it is there, and rests.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
    #[serde(flatten)]
    pub spec: LayerSpec,
}

/// The settings every layer has, as TOML names them.
pub const COMMON_SETTINGS: &[&str] = &["id", "do", "when", "threshold", "strict", "meter", "scope", "enabled"];

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

/// When a layer is due. A `threshold` is asked for besides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Before every request.
    #[default]
    Always,
    /// Once for what enters, before anything else looks at it.
    Entry,
    /// Before the request that answers a typed user message.
    UserTurn,
    /// Where the request is over the window, up to `max_retries` times.
    Overflow,
    /// After the batch of results that answers a call of this tool.
    Tool(String),
    /// After every n calls.
    Calls(#[schemars(range(min = 1))] usize),
    /// After every n turns: before the request that answers the next typed user message.
    Turns(#[schemars(range(min = 1))] usize),
    /// Where at least so many minutes passed since the last response, by the recorded clock.
    IdleMinutes(f64),
    /// Just before one of these layers acts (archives).
    Before(Vec<String>),
    /// Just after one of these layers acted (restoring).
    After(Vec<String>),
}

/// What a layer's edits change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The stored history: what left stays away.
    #[default]
    State,
    /// A view made anew for each request; the history stays whole.
    Request,
    /// What the provider holds: what left stays away, as with `state`, and the prefix it has cached still serves.
    Server,
}

impl Scope {
    fn is_state(&self) -> bool {
        *self == Scope::State
    }
}

impl Layer {
    pub fn for_request_only(&self) -> bool {
        self.scope == Scope::Request
    }

    /// Whether its summarizer's call continues the conversation, and so reads the prefix that the provider has cached.
    pub fn reuses_prefix_cache(&self) -> bool {
        matches!(&self.spec, LayerSpec::Summarize(summarize) if summarize.rides_prefix)
    }

    /// Whether the provider makes its edits in what it has cached, so that nothing is written into the cache again for them.
    pub fn edits_on_server(&self) -> bool {
        self.scope == Scope::Server
    }

    /// Whether it belongs to the layers that run, in order, before a request.
    pub fn runs_before_requests(&self) -> bool {
        matches!(self.when, When::Always | When::UserTurn | When::Calls(_) | When::Turns(_) | When::IdleMinutes(_))
    }
}

/// What a layer does. `do` in TOML.
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

/// A kind of layer, for the catalog and for reading policies.
pub struct LayerKind {
    pub name: &'static str,
    /// Its source, which begins with its manual page.
    pub source: &'static str,
    pub default: fn() -> LayerSpec,
}

macro_rules! acts {
    ($($name:literal $variant:ident),* $(,)?) => {
        /// Every kind of layer.
        pub const LAYERS: &[LayerKind] = &[$(LayerKind {
            name: $name,
            source: include_str!(concat!("layer/", $name, ".rs")),
            default: || LayerSpec::$variant(Default::default()),
        }),*];
    };
}

acts![
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
    /// A layer of this kind with its default settings.
    pub fn by_name(name: &str) -> Option<LayerSpec> {
        LAYERS.iter().find(|kind| kind.name == name).map(|kind| (kind.default)())
    }

    /// The names of its own settings.
    pub fn settings(&self) -> Vec<String> {
        let json = serde_json::to_value(self).unwrap_or_default();
        json.as_object().into_iter().flatten().map(|(key, _)| key.clone()).filter(|key| key != "do").collect()
    }

    /// What its settings measure, besides the layer's own meter.
    pub fn measures(&self) -> Vec<SizeUnit> {
        match self {
            LayerSpec::Archive(_) => vec![archive::FORM],
            LayerSpec::Summarize(summarize) => vec![summarize.input_form],
            _ => Vec::new(),
        }
    }

    /// The rules for which results it may touch, where it has such rules.
    pub fn pick(&self) -> Option<&ResultFilter> {
        match self {
            LayerSpec::Clear(layer) => Some(&layer.pick),
            LayerSpec::Persist(layer) => Some(&layer.pick),
            LayerSpec::Truncate(layer) => Some(&layer.pick),
            LayerSpec::Dedupe(layer) => Some(&layer.pick),
            _ => None,
        }
    }

    /// How often an overflow layer may run for one request.
    pub fn max_retries(&self) -> usize {
        match self {
            LayerSpec::Summarize(summarize) => summarize.max_retries,
            _ => 1,
        }
    }

    /// Whether it would do the same again to what it was shown before, however much was appended since.
    pub fn is_stable(&self) -> bool {
        match self {
            LayerSpec::Clear(clear) => !clear.in_batches(),
            LayerSpec::Truncate(_) => true,
            LayerSpec::Drop(drop) => drop.marker.is_none(),
            _ => false,
        }
    }

    /// Whether it only changes blocks where they stand, and writes nothing elsewhere.
    pub fn rewrites_in_place(&self) -> bool {
        matches!(self, LayerSpec::Clear(_) | LayerSpec::Truncate(_) | LayerSpec::Dedupe(_))
    }

    /// Whether what it writes can hold parts of what it takes away, so that blocks are not kept whole or not at all.
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

    /// What the layer would do now.
    pub fn propose(&self, now: &LayerInput, memory: &mut LayerState) -> Proposal {
        match self {
            LayerSpec::Clear(layer) => layer.propose(now, memory),
            LayerSpec::Persist(layer) => layer.propose(now),
            LayerSpec::Truncate(layer) => layer.propose(now, memory),
            LayerSpec::Dedupe(layer) => layer.propose(now, memory),
            LayerSpec::Drop(layer) => layer.propose(now),
            LayerSpec::Summarize(layer) => layer.propose(now, memory),
            LayerSpec::Restore(layer) => layer.propose(now),
            LayerSpec::Recorded(_) => recorded::propose(now, memory),
            // Written by the replay, just before the layer it is for.
            LayerSpec::Archive(_) => Proposal::default(),
        }
    }
}

/// What a layer may look at when it is due.
pub struct LayerInput<'a> {
    pub context: &'a Context<'a>,
    /// Index of the call that is about to be answered.
    pub call: usize,
    /// How many messages of the conversation have entered.
    pub read: usize,
    /// Index, in the context, of the first message that entered since the last response.
    pub entered: usize,
    /// The newest typed user text that was in sight when this call began.
    pub request: &'a str,
    /// What the model asked the compact tool to preserve.
    pub focus: Option<&'a str>,
    /// Where the transcript is archived if this layer acts.
    pub archive: Option<&'a str>,
    /// The request is over the window, and this layer is asked to mend that.
    pub overflows: bool,
    pub limits: Limits,
    /// The report's own counter.
    pub counter: Meter,
    pub summarizer: &'a dyn Summarizer,
    pub shared: &'a ReplayCache,
}

impl LayerInput<'_> {
    /// Tokens of a text by the report's counter.
    pub fn tokens(&self, text: &str) -> u64 {
        self.counter.apply(self.counter.measure.text(text))
    }
}

/// What a layer remembers from one run to the next.
#[derive(Debug, Clone, Default)]
pub struct LayerState {
    /// What lies before was decided and stays so.
    pub cursor: Cursor,
    /// What `clear` leaves until enough can go at once.
    pub waiting: clear::Waiting,
    /// Failures in a row.
    pub failures: usize,
    /// How many recorded compactions have been made.
    pub done: usize,
    /// Where `dedupe` saw each file or text last.
    pub seen: std::collections::HashMap<String, crate::transcript::conversation::BlockId>,
}
