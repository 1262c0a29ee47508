//! Checks policies before they are used: their own settings, and, on sessions, whether they would do what they are meant to do.
//!
//! A file with an error is refused by [`Policy::parse`](crate::engine::policy::Policy::parse). What is found here is valid and probably
//! not what was meant: a tool that no session uses, a threshold that nothing reaches.

mod landing;
mod layers;
mod sessions;
mod tools;

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Serialize;

use super::spec::PolicySource;
use super::sweep::{SweepError, spaces};
use crate::engine::policy::{Policy, PolicyError};
use crate::findings::{Case, Finding, Level};
use crate::results::saved::{Coverage, LayerRow};
use crate::util::toml_span::TomlSpans;

pub use sessions::{Landing, LayerUse, SessionsUse, ThresholdUse};

/// A policy to check, with the file that it was read from.
pub struct CheckedPolicy<'a> {
    pub policy: &'a Policy,
    pub source: &'a PolicySource,
}

/// What was found in some policies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyChecks {
    pub policies: Vec<PolicyCheck>,
    /// The sessions on which they were replayed; `None` if only the files were checked.
    pub sessions: Option<CheckedSessions>,
}

/// What was found in one policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyCheck {
    pub policy: String,
    /// Path of the file, or the name of the preset.
    pub file: String,
    /// The worst first; of the same level in the order of the file.
    pub remarks: Vec<Remark>,
    /// What each layer did on the sessions; empty without sessions.
    pub layers: Vec<LayerRow>,
}

/// One thing that is probably not what was meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// A warning, or a note on what may well be right.
    pub level: Level,
    /// What kind of remark it is, such as [`UNKNOWN_TOOL`].
    pub kind: &'static str,
    /// Line in the file of the policy.
    pub line: Option<usize>,
    /// Id of the layer; `None` for a remark on the whole policy.
    pub layer: Option<String>,
    /// What is wrong, in a sentence. It may hold names of tools, which come from transcripts.
    pub message: String,
}

/// The sessions on which policies were replayed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedSessions {
    pub conversations: usize,
    pub calls: usize,
    /// Tokens of the largest request without any compaction.
    pub largest_request: u64,
    /// Tools that were called, and how often.
    pub tools: BTreeMap<String, usize>,
    pub coverage: Coverage,
}

/// A setting names a tool that no session uses.
pub const UNKNOWN_TOOL: &str = "unknown-tool";
/// A layer did nothing on the sessions.
pub const NEVER_ACTS: &str = "never-acts";
/// A layer tried to act and always failed.
pub const ALWAYS_FAILS: &str = "always-fails";
/// A layer edits what was sent at nearly every call.
pub const EAGER: &str = "eager";
/// A threshold is larger than the window.
pub const ABOVE_WINDOW: &str = "above-window";
/// A layer does exactly what one before it does.
pub const REPEATED: &str = "repeated";
/// A layer counts newest results that it may not edit.
pub const COUNTS_OTHERS: &str = "counts-others";
/// Where a layer brings the context down to.
pub const LANDS: &str = "lands";
/// A threshold is compared with the usage of a request that the layer has cut.
pub const COUNTS_CUT: &str = "counts-cut";
/// The values in `[sweep]` cannot be tried.
pub const WRONG_SWEEP: &str = "wrong-sweep";

/// Checks policies. `seen` is what their layers did on sessions, policy by policy; `window` is the context window in tokens, if it is
/// known.
pub fn check(policies: &[CheckedPolicy], window: Option<u64>, seen: Option<(SessionsUse, Coverage)>) -> PolicyChecks {
    let (seen, coverage) = seen.map_or((None, None), |(seen, coverage)| (Some(seen), Some(coverage)));
    let checked = policies.iter().enumerate().map(|(index, checked)| {
        let CheckedPolicy { policy, source } = *checked;
        let spans = TomlSpans::new(&source.text, "layer");
        let mut remarks = layers::repeated(policy);
        remarks.extend(layers::counts_others(policy));
        remarks.extend(layers::counts_cut(policy));
        remarks.extend(wrong_sweep(checked, &spans));
        match &seen {
            None => remarks.extend(layers::above_any_window(policy, window.or(policy.window))),
            Some(seen) => {
                remarks.extend(tools::unknown(policy, &spans, &seen.tools));
                remarks.extend(layers::idle(policy, &seen.layers[index], &seen.tools));
                remarks.extend(layers::eager(policy, &seen.layers[index], seen.calls));
                remarks.extend(landing::lands(policy, &seen.layers[index]));
            }
        }
        for remark in &mut remarks {
            let layer = policy.layers.iter().position(|layer| Some(&layer.id) == remark.layer.as_ref());
            let line = |key: &str| layer.and_then(|layer| spans.line(Some(layer), key));
            remark.line = remark.line.or_else(|| line(key_of(remark.kind))).or_else(|| line("id"));
        }
        remarks.sort_by_key(|remark| (remark.level, remark.line));
        PolicyCheck {
            policy: policy.name.clone(),
            file: source.origin.clone(),
            remarks,
            layers: seen.as_ref().map(|seen| seen.rows(index, policy)).unwrap_or_default(),
        }
    });
    let policies = checked.collect();
    let sessions = seen.zip(coverage).map(|(seen, coverage)| CheckedSessions {
        conversations: seen.conversations,
        calls: seen.calls,
        largest_request: seen.largest_request,
        tools: seen.tools,
        coverage,
    });
    PolicyChecks { policies, sessions }
}

/// Returns why a sweep of the policy would fail, if it has values of its own to try.
fn wrong_sweep(checked: &CheckedPolicy, spans: &TomlSpans) -> Option<Remark> {
    let CheckedPolicy { policy, source } = *checked;
    let error = spaces(std::slice::from_ref(source), &[]).err().filter(|_| !policy.sweep.is_empty())?;
    let (line, message) = match error {
        SweepError::Policy(PolicyError { origin, line, what }) if origin == source.origin => (line, what),
        other => (None, other.to_string()),
    };
    let line = line.or_else(|| spans.line(None, "sweep"));
    Some(Remark { level: Level::Warning, kind: WRONG_SWEEP, line, layer: None, message })
}

/// Returns the setting whose line a remark names.
fn key_of(kind: &str) -> &'static str {
    match kind {
        ABOVE_WINDOW | NEVER_ACTS | EAGER | COUNTS_CUT => "threshold",
        LANDS => "down_to",
        COUNTS_OTHERS => "keep_recent_results",
        _ => "id",
    }
}

/// Returns names in back quotes, with commas between them.
fn quoted(names: impl IntoIterator<Item: Display>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Remark {
    fn new(level: Level, kind: &'static str, layer: &str, message: String) -> Self {
        Self { level, kind, line: None, layer: Some(layer.to_owned()), message }
    }
}

impl PolicyChecks {
    /// Returns the number of remarks of a level.
    pub fn count(&self, level: Level) -> usize {
        self.policies.iter().flat_map(|policy| &policy.remarks).filter(|remark| remark.level == level).count()
    }

    /// Returns the remarks as the outcome of checks, one for each policy.
    pub fn cases(&self) -> Vec<Case> {
        let finding = |policy: &PolicyCheck, remark: &Remark| Finding {
            id: remark.kind.to_owned(),
            level: remark.level,
            path: policy.file.clone(),
            line: remark.line.and_then(|line| u32::try_from(line).ok()),
            call: None,
            message: remark.layer.iter().map(|layer| format!("layer `{layer}`: ")).chain([remark.message.clone()]).collect(),
            data: serde_json::Map::new(),
            conversation: None,
            policy: Some(policy.policy.clone()),
        };
        let case = |policy: &PolicyCheck| Case {
            group: policy.file.clone(),
            name: policy.policy.clone(),
            findings: policy.remarks.iter().map(|remark| finding(policy, remark)).collect(),
        };
        self.policies.iter().map(case).collect()
    }
}

#[cfg(test)]
mod tests;
