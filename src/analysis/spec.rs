//! The description of a study: what is replayed, how, and what the results list. Plain data, so that a command line, a suite
//! file, a program and saved results can hold the same one.
//!
//! A spec names its files and models. [`StudySpec::load`] asks [`Resources`] for them, checks everything, and returns a
//! [`Study`](super::study::Study) that replays.
//!
//! ```
//! use recompact::analysis::spec::{Files, StudySpec};
//!
//! let spec = StudySpec::new("lcc-s08").set("micro.keep_recent_results=5").window(200_000);
//! let study = spec.load(&Files::default())?.study;
//! assert_eq!(study.policies[1].name, "lcc-s08");
//! # Ok::<(), recompact::analysis::spec::SpecError>(())
//! ```

mod builder;
mod command;
mod load;
mod policies;
mod prices;
mod record;
mod resources;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::corpus::ReadSpec;
use super::study::{MAX_RESIDUAL, TokenCounter};
use crate::engine::policy::{KEEP_ALL, Policy};
use crate::engine::size::{self, Tokens};
use crate::metrics::prompt_cache::CacheMode;
use crate::results::stats::SEED;
use crate::transcript::conversation::Thinking;

pub use load::{Loaded, SpecError};
pub use policies::{PolicySource, preset_text, typed_program};
pub use prices::{LoadedPrices, load_prices};
pub use record::difference;
pub(in crate::analysis) use record::record;
pub use resources::{Files, ModelRequest, ProgramRequest, ResourceError, Resources};

/// Number of lost facts and of cache invalidations that are listed for each policy.
const LISTED: usize = 3;

/// What is replayed, how, and what the results list. Each field is also a key of a suite in a suite file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[non_exhaustive]
pub struct StudySpec {
    /// Presets by name, policy files (TOML) by path, tables as in a policy file, or programs: `NAME=command:PROGRAM`.
    pub policies: Vec<PolicySpec>,
    /// Changes of single settings by the id of their layer: `micro.keep_recent_results=5`. A sweep takes several values too:
    /// `micro.keep_recent_results=1..5`.
    pub set: Vec<String>,
    /// The policy that `tokens.saved` and `cost.ratio` compare with: one of the policies, another preset, or a file; default:
    /// keep-all.
    pub baseline: String,
    /// Summarizer, or a list of them to compare: `extract`, `stub:TOKENS`, `fixed:TEXT`, `failing`, or a model; default: extract.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany")]
    pub summarizer: Vec<String>,
    /// Samples per summary of each model; default: 1.
    pub replicates: u32,
    /// Whether `extract` and a stub are added to the summarizers, as references; default: false.
    pub references: bool,
    /// Extra fields of every request to a model, such as `temperature = 0`.
    pub param: BTreeMap<String, Value>,
    /// Context window, in tokens; default: the transcript's, else the policy's, else 200000.
    #[serde(deserialize_with = "size::window")]
    #[schemars(with = "Tokens")]
    pub window: Option<u64>,
    /// Tokens of system prompt and tools in every request; default: taken from the first recorded usage.
    pub overhead: Option<u32>,
    /// Token counter: `own`, `recorded`, `o200k`, `cl100k`, `chars/4`; default: own.
    #[schemars(with = "String")]
    pub tokenizer: TokenCounter,
    /// How long thinking is sent again: `turn`, `all` or `none`; default: as the format's provider does.
    pub thinking: Option<Thinking>,
    /// Prompt cache of the replays: as the record shows it, or `ideal`, as the provider's rules describe it.
    pub cache: CacheMode,
    /// A conversation is not priced if its simulated cost differs from the bill by more than this share; default: 0.15.
    pub max_residual: f64,
    /// A model that all calls are priced as, or a price list (TOML or LiteLLM's JSON); default: each call by its model and date.
    pub prices: Option<String>,
    /// Random seed for bootstrap intervals, sweep samples and the hold-out split.
    pub seed: u64,
    /// Number of lost facts to list for each policy; default: 3.
    pub misses: usize,
    /// Number of cache invalidations to list for each policy; default: 3.
    pub breaks: usize,
    /// Whether findings are detected; default: false, in a suite true.
    pub findings: bool,
    /// Whether secrets in the transcripts are shown where results quote them; default: false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub show_secrets: bool,
    /// Whether the upper bound of retention is computed by linear programming; default: false.
    pub exact: bool,
    /// Whether the bounds keep-all and drop-all are replayed too; default: true, in a suite false.
    pub bounds: bool,
    /// How transcripts are read.
    #[serde(flatten)]
    pub read: ReadSpec,
    /// The search of a sweep; none for a replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweepSpec>,
}

/// The search of a sweep. The values that it tries are in [`StudySpec::set`], or else in `[sweep]` of each policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SweepSpec {
    /// Number of configurations to try, spread evenly; default: all.
    pub sample: Option<usize>,
    /// Conditions on totals: `kept.hard <= 2%`.
    #[serde(rename = "where")]
    pub conditions: Vec<String>,
    /// Columns to minimize.
    pub minimize: Vec<String>,
    /// Columns to maximize.
    pub maximize: Vec<String>,
    /// Share of the sessions to hold out; default: 0.3, or 0 with fewer than 10 sessions.
    pub holdout: Option<f64>,
}

/// One policy of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PolicySpec {
    /// A preset, the path of a TOML file, or `NAME=command:PROGRAM`.
    Named(String),
    /// The content of such a file.
    Inline(#[schemars(with = "Policy")] toml::Table),
}

impl Default for StudySpec {
    fn default() -> Self {
        Self {
            policies: Vec::new(),
            set: Vec::new(),
            baseline: KEEP_ALL.to_owned(),
            summarizer: Vec::new(),
            replicates: 1,
            references: false,
            param: BTreeMap::new(),
            window: None,
            overhead: None,
            tokenizer: TokenCounter::Own,
            thinking: None,
            cache: CacheMode::Recorded,
            max_residual: MAX_RESIDUAL,
            prices: None,
            seed: SEED,
            misses: LISTED,
            breaks: LISTED,
            findings: false,
            show_secrets: false,
            exact: false,
            bounds: true,
            read: ReadSpec::default(),
            sweep: None,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a text or a list of texts")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(text) => vec![text],
        OneOrMany::Many(texts) => texts,
    })
}
