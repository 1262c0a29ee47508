//! Findings: what is wrong with a compaction, and where. A finding is one file and one row of [`FINDINGS`].
//!
//! A finding looks at one replay. Of a policy it tells what the policy would have done to the recorded conversation; of the record,
//! replayed with its own compactions, what was done to it.

mod archive_growth;
mod blind_summary;
mod boundary_gap;
mod dangling_pointer;
mod fold_input_cut;
mod fold_input_overflow;
mod folds;
mod generation;
mod giant_item;
mod inflated;
mod irrecoverable;
mod last_request_survival;
mod message_text;
mod meter_error;
mod misshapen;
mod needs_later;
mod never_fired;
mod overwrite;
mod page;
mod pairs;
mod prefix;
mod prefix_break;
mod replay;
mod reread;
mod sent;
mod thrash;
mod too_late;
mod trigger;
mod unseen;
mod unseen_folded;
mod unseen_masked;
mod user_text;
mod user_text_survival;
mod visible;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use replay::{Found, Replay};
pub use sent::Sent;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// An API refuses it, or something is destroyed for good.
    Error,
    /// It costs money, time or information.
    Warning,
    /// Something to know.
    Note,
}

impl Level {
    pub const ALL: [Level; 3] = [Self::Error, Self::Warning, Self::Note];

    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// A kind of finding.
pub struct Kind {
    /// What reports and gates call it.
    pub id: &'static str,
    /// The level it is usually of.
    pub level: Level,
    /// Its source, which begins with its page: what it means, why it hurts, what to change, the evidence.
    pub source: &'static str,
    /// None for those that are found in files, not in replays.
    pub look: Option<fn(&Replay) -> Vec<Found>>,
}

/// What is found in files by [`crate::analysis::audit`].
macro_rules! in_files {
    ($id:literal, $level:ident, $source:literal) => {
        Kind { id: $id, level: Level::$level, source: include_str!($source), look: None }
    };
}

macro_rules! findings {
    ($($module:ident $level:ident),* $(,)?) => {
        /// Every kind of finding, in the order in which they are looked for.
        pub const FINDINGS: &[Kind] = &[
            $(Kind {
                id: stringify!($module),
                level: Level::$level,
                source: include_str!(concat!(stringify!($module), ".rs")),
                look: Some($module::look),
            },)*
            in_files!("spilled", Error, "../analysis/audit/persisted_outputs.rs"),
            in_files!("gap", Error, "../analysis/audit/archive_chain.rs"),
            in_files!("secret", Warning, "../analysis/audit/secrets.rs"),
        ];
    };
}

findings![
    pairs Error,
    prefix_break Warning,
    thrash Warning,
    inflated Warning,
    never_fired Note,
    too_late Warning,
    boundary_gap Warning,
    giant_item Warning,
    overwrite Error,
    unseen_masked Warning,
    unseen_folded Warning,
    reread Warning,
    dangling_pointer Warning,
    needs_later Warning,
    user_text_survival Warning,
    last_request_survival Warning,
    generation Note,
    fold_input_overflow Error,
    fold_input_cut Warning,
    blind_summary Warning,
    irrecoverable Warning,
    archive_growth Warning,
    meter_error Warning,
];

/// The kind with this id.
pub fn by_id(id: &str) -> Option<&'static Kind> {
    FINDINGS.iter().find(|kind| kind.id == id)
}

/// A finding as reports tell it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub id: String,
    pub level: Level,
    /// The transcript.
    pub path: String,
    #[serde(default)]
    pub line: Option<u32>,
    /// The call before which it happened, from 1.
    #[serde(default)]
    pub call: Option<usize>,
    pub message: String,
    #[serde(default)]
    pub data: Map<String, Value>,
    /// None where it is about files, not about a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The policy that was replayed; none in an audit, which is about the record alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// What continuous integration shows as one test: it passed where nothing was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What it belongs to: a transcript, a suite.
    pub group: String,
    /// What was looked for.
    pub name: String,
    pub findings: Vec<Finding>,
}

/// Everything that is found in one replay of a transcript, by kind, then call. Of a conversation of several files `path` is what is said
/// of all of it; the rest is at its file.
pub fn look(path: &str, replay: &Replay) -> Vec<Finding> {
    let of = |kind: &'static Kind| {
        let mut found = kind.look.map(|look| look(replay)).unwrap_or_default();
        found.sort_by_key(|found| found.call);
        found.into_iter().map(|Found { level, line, call, message, data }| {
            let place = line.map(|line| replay.conversation.place(line));
            Finding {
                id: kind.id.to_owned(),
                level,
                path: place.and_then(|(file, _)| file).unwrap_or(path).to_owned(),
                line: place.map(|(_, line)| line),
                call: call.map(|call| call + 1),
                message,
                data,
                conversation: Some(replay.conversation.name.clone()),
                policy: Some(replay.policy.name.clone()),
            }
        })
    };
    FINDINGS.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique() {
        let ids: std::collections::BTreeSet<_> = FINDINGS.iter().map(|kind| kind.id).collect();
        assert_eq!(ids.len(), FINDINGS.len());
    }
}
