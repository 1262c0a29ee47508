//! The study that gave the results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What was replayed and how, for a reader of the results and for `--resume`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyRecord {
    /// XXH3 hash of the next two fields, in hexadecimal: the same study has the same hash.
    pub hash: String,
    /// XXH3 hash of the texts of the policies and of the price list.
    pub files: String,
    /// The fields of the study's description (`analysis::spec::StudySpec`), as it was given.
    pub spec: Map<String, Value>,
    /// A command of the same study, with `PATH` in place of the transcripts: only what changes the results, so it is the same for any
    /// number of threads and for a study that was stopped and resumed. `None` if no options can say the spec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}
