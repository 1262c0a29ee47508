//! What became of the uses of earlier facts, as rows of results.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Uses of earlier facts under one policy, by one of their sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptRow {
    pub policy: String,
    /// `gap`, `kind`, `provenance` or `generation`.
    pub by: Cow<'static, str>,
    /// Which of that side's values: `2–3`, `path`, `tool`, `1`.
    pub of: Cow<'static, str>,
    pub uses: u64,
    /// What these uses weigh: rare facts weigh more than common ones.
    pub weight: f64,
    /// The share of the weight that was still in the request.
    pub hit: f64,
    /// The share that was gone and could be had again: a file to read, a command to run.
    pub soft: f64,
    /// The share that was gone for good. The three are 1 together.
    pub hard: f64,
    /// The share that was hit through a summary only; a part of `hit`.
    pub hit_summary: f64,
}

/// A fact the recorded agent went on to use and this policy no longer had: what a user acts on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MissRow {
    pub policy: String,
    pub transcript: String,
    pub conversation: String,
    /// The first call that missed it, from 1.
    pub call: usize,
    /// The line of the transcript where that call used it.
    pub line: u32,
    pub fact: String,
    pub kind: Cow<'static, str>,
    /// Calls that missed it.
    pub uses: u64,
    /// Other facts that call missed, of the same origin.
    #[serde(default)]
    pub more: u64,
    /// Of all of them.
    pub weight: f64,
    /// Its file is in sight, but was written since.
    #[serde(default)]
    pub stale: bool,
    /// What it came from: a tool's name, `user`, `self`, `summary`.
    pub origin: String,
    pub origin_line: u32,
    /// What stands around it there: at most 240 characters of its line and the next ones.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// The layer that took it away.
    #[serde(default)]
    pub layer: Option<String>,
    /// The call before which that was, from 1.
    #[serde(default)]
    pub lost_at: Option<usize>,
}
