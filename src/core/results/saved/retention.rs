//! Retention of earlier facts, as rows of results.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One group of uses of earlier facts under one policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeptRow {
    pub policy: String,
    /// What the uses are grouped by: `gap`, `kind`, `provenance` or `generation`.
    #[serde(alias = "by")]
    pub grouped_by: Cow<'static, str>,
    /// The group: `2–3`, `path`, `tool`, `1`.
    #[serde(alias = "of")]
    pub group: Cow<'static, str>,
    /// Number of uses.
    pub uses: u64,
    /// Total weight of these uses; the bits that a model loses without the facts.
    pub weight: f64,
    /// Share of the weight whose fact was still in the request.
    pub hit: f64,
    /// Share of the weight whose fact was gone but recoverable: a file to read, a command to run.
    pub soft: f64,
    /// Share of the weight whose file was written since, so that reading it again may not help.
    #[serde(default)]
    pub stale: f64,
    /// Share of the weight whose fact was lost for good. `hit`, `soft`, `stale` and `hard` add up to 1.
    pub hard: f64,
    /// Share of the weight whose fact was only in a summary; a part of `hit`.
    pub hit_summary: f64,
}

/// A fact that the recorded agent used later and that this policy had lost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissRow {
    pub policy: String,
    pub transcript: String,
    pub conversation: String,
    /// The first call that missed it, from 1.
    pub call: usize,
    /// That call does not name the fact: the recorded agent fetched it again there, and used it later.
    #[serde(default)]
    pub fetched: bool,
    /// The line of the transcript where that call used it.
    pub line: u32,
    /// Text of the fact.
    pub fact: String,
    /// Kind of the fact: `path`, `url` and others.
    pub kind: Cow<'static, str>,
    /// Number of calls that missed it.
    pub uses: u64,
    /// Number of other facts of the same origin that this call missed.
    #[serde(default)]
    pub more: u64,
    /// Weight of all these misses.
    pub weight: f64,
    /// Where the fact came from: the name of a tool, `user`, `self` or `summary`.
    pub origin: String,
    /// The line of that origin in the transcript.
    pub origin_line: u32,
    /// Text around the fact at its origin: at most 240 characters of its line and the following lines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// The id of the layer that removed it.
    #[serde(default)]
    pub layer: Option<String>,
    /// The call before which it was removed, from 1.
    #[serde(default)]
    pub lost_at: Option<usize>,
}
