//! The study that gave the results.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What was replayed and how, for a reader of the results and for `--resume`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyRecord {
    /// XXH3 hash of the two other fields, in hexadecimal: the same study has the same hash.
    pub hash: String,
    /// XXH3 hash of the texts of the policies and of the price list.
    pub files: String,
    /// The fields of the study's description (`analysis::spec::StudySpec`), as it was given.
    pub spec: Map<String, Value>,
}
