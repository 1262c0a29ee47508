//! What a sweep writes into the policy that it recommends: on how many sessions its numbers were chosen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the numbers of a policy were chosen. `--set` removes it, because other numbers were not chosen there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// Name of the policy whose settings were varied.
    pub of: String,
    /// Number of sessions on which the configurations were compared.
    pub sessions: usize,
    /// Number of other sessions on which the choice was confirmed; 0 if none were held out.
    pub held_out: usize,
    /// Number of configurations of all policies that were tried.
    pub configurations: usize,
}

impl Tuning {
    /// Name of the table in a policy file.
    pub const TABLE: &str = "tuned";
}
