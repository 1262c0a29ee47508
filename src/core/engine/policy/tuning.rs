//! What a sweep writes into the policy that it recommends: on how many sessions its numbers were chosen.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Whether nothing was better than this policy as it is, so that the answer is to keep it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
    /// Context windows of all sessions, the smallest first; empty in files of older programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<SessionsWindow>,
}

/// A context window, and how many sessions had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionsWindow {
    /// Size of the window in tokens.
    pub tokens: u64,
    /// Number of sessions with a conversation in such a window.
    pub sessions: usize,
}

impl SessionsWindow {
    /// Counts the sessions of each window, the smallest first. Each pair is a window and the session of a conversation in it.
    pub fn count<S: Ord>(conversations: impl IntoIterator<Item = (u64, S)>) -> Vec<Self> {
        let mut seen: BTreeMap<u64, BTreeSet<S>> = BTreeMap::new();
        for (tokens, session) in conversations {
            seen.entry(tokens).or_default().insert(session);
        }
        seen.into_iter().map(|(tokens, sessions)| Self { tokens, sessions: sessions.len() }).collect()
    }
}

impl Tuning {
    /// Name of the table in a policy file.
    pub const TABLE: &str = "tuned";
}
