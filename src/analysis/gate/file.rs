//! The suite file as it is written. The comments of its fields are what editors show.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a gate checks: `recompact.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// The file that holds what was agreed, relative to this one; `recompact check --update` writes it.
    #[serde(default = "default_baseline")]
    pub baseline: String,
    /// The suites: policies, what they are replayed on, and what must hold.
    pub suite: Vec<SuiteTable>,
}

fn default_baseline() -> String {
    "recompact.baseline.json".to_owned()
}

/// Policies, what they are replayed on, and what must hold for each of them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteTable {
    /// What reports and the baseline call it.
    pub name: String,
    /// Files, folders and patterns (`runs/**/*.jsonl`), relative to this file.
    pub transcripts: Vec<String>,
    /// Presets by name, and policy files (TOML), relative to this file.
    pub policies: Vec<String>,
    /// Changes of single values by their layer's id: `micro.keep_recent=5`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Who writes the summaries: `extract`, `stub:TOKENS`, `fixed:TEXT`, `failing`; or a model, of which only the cassette is asked.
    pub summarizer: Option<String>,
    /// The folder with a model's recorded answers, relative to this file. What is not in it is an error, never a call.
    pub cassette: Option<String>,
    /// The context window, in tokens; else the transcript's, else the policy's, else 200000.
    pub window: Option<u64>,
    /// System prompt and tools in every request, in tokens; else as the first recorded usage tells.
    pub overhead: Option<u32>,
    /// What counts tokens: `own`, `recorded`, `o200k`, `cl100k`, `chars/4`; else own.
    pub tokenizer: Option<String>,
    /// A model that everything is priced as, or a list of prices (TOML), relative to this file; else each call by its model and date.
    pub prices: Option<String>,
    /// What must hold for each policy: a column, a comparison, a number, as `kept.hit >= 0.85` or `finding.thrash == 0`.
    #[serde(default)]
    pub limits: Vec<String>,
    /// How much worse than the baseline each policy may be, by column. Columns without an entry are not compared.
    #[serde(default)]
    pub tolerance: BTreeMap<String, Tolerance>,
}

/// How much worse than the baseline a value may be: a number in the column's unit (0.01 of a share is one point), or a percentage of
/// the baseline's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Tolerance {
    /// In the unit of the column: tokens, bytes, dollars; shares from 0 to 1.
    Amount(f64),
    /// Of the baseline's value: `1%`.
    Part(String),
}

impl Tolerance {
    /// The amount, for a value of the baseline; `None` where it is no amount of 0 or more.
    pub fn of(&self, before: f64) -> Option<f64> {
        let amount = match self {
            Self::Amount(amount) => *amount,
            Self::Part(written) => before.abs() * written.trim().strip_suffix('%')?.trim().parse::<f64>().ok()? / 100.0,
        };
        (amount.is_finite() && amount >= 0.0).then_some(amount)
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Amount(amount) => write!(f, "{amount}"),
            Self::Part(written) => f.write_str(written.trim()),
        }
    }
}
