//! The suite file as written. Editors show the comments of its fields.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::analysis::spec::StudySpec;
use crate::util::toml_table::{FieldError, from_table};

/// A suite file: `recompact.toml`.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
pub struct SuiteFile {
    /// Path of the baseline, relative to this file; `recompact check --update` writes it.
    #[schemars(default = "default_baseline")]
    pub baseline: String,
    /// The suites: policies, the transcripts they are replayed on, and their rules.
    pub suite: Vec<SuiteTable>,
    /// Defaults of options of all commands, `window = "200k"`, and of single ones, `[defaults.sweep]`.
    pub defaults: Option<BTreeMap<String, serde_json::Value>>,
}

pub(super) fn default_baseline() -> String {
    "recompact.baseline.json".to_owned()
}

/// Policies, the transcripts they are replayed on, and the rules for each policy.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct SuiteTable {
    /// Name of the suite in reports and in the baseline.
    pub name: String,
    /// Files, folders and patterns (`runs/**/*.jsonl`), relative to this file.
    pub transcripts: Vec<String>,
    /// What is replayed, and how; paths are relative to this file.
    #[serde(flatten)]
    pub study: StudySpec,
    /// Folder with a model's recorded answers, relative to this file. A missing answer is an error; the model is never
    /// called.
    pub cassette: Option<String>,
    /// Limits for each policy: a column, a comparison and a number, as `kept.hit >= 0.85` or `finding.thrash == 0`.
    #[serde(default)]
    pub limits: Vec<String>,
    /// How much worse than the baseline each policy may be, by column. Columns without an entry are not compared.
    #[serde(default)]
    pub tolerance: BTreeMap<String, Tolerance>,
}

impl SuiteTable {
    /// Reads a suite. What only reports need is off unless the suite asks for it, and findings are on, because rules may be about
    /// them.
    pub(super) fn from_toml(table: &Table) -> Result<Self, FieldError> {
        let mut whole: Table =
            [("findings", Value::from(true)), ("bounds", false.into()), ("misses", 0.into()), ("breaks", 0.into())]
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect();
        whole.extend(table.clone());
        let required = [("name", Value::from("")), ("transcripts", Value::Array(Vec::new()))];
        from_table(&whole, &required.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

/// How much worse than the baseline a value may be: a number in the column's unit (0.01 of a share is one point), or a
/// percentage of the baseline's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Tolerance {
    /// In the unit of the column: tokens, bytes, dollars; shares from 0 to 1.
    Amount(f64),
    /// Percentage of the baseline's value: `1%`.
    Part(String),
}

impl Tolerance {
    /// Returns the allowed amount for a baseline value; `None` if it is not a number of 0 or more.
    pub fn amount_for(&self, before: f64) -> Option<f64> {
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
