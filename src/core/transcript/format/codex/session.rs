//! Headers of sessions: `session_meta`.

use serde_json::Value;

use super::super::Note;
use super::fields::Fields;
use super::record::milliseconds;
use crate::transcript::conversation::{FORK, Identity};

/// The header of a session. It is repeated when the session is resumed, and copied into its forks and children.
#[derive(Debug, Clone, Default)]
pub struct SessionMeta {
    /// Its parent is the session from which it was forked, or whose agent began it.
    pub identity: Identity,
    /// When the session began, in milliseconds since 1970.
    pub began: Option<i64>,
    pub cwd: Option<String>,
    /// The system prompt.
    pub instructions: Option<String>,
    /// The first ordinal that is not copied from the parent.
    pub first_own_ordinal: Option<u64>,
    /// The history of the parent stays in the parent's file.
    pub has_base: bool,
    /// Where it is there, if the header says it.
    pub base: Option<HistoryBase>,
}

/// The part of another session's file with which a session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryBase {
    /// The id of that session.
    pub parent: String,
    /// The number of the first record of that file that is not part of it.
    pub end: u64,
}

impl SessionMeta {
    pub fn new(fields: &Fields, notes: &mut Vec<Note>) -> Self {
        let base = fields.object("history_base", notes);
        let base_end = base.as_ref().and_then(|base| base.get("end_ordinal_exclusive", notes));
        Self {
            identity: identity(fields, notes),
            began: fields.get::<String>("timestamp", notes).and_then(|time| milliseconds(&time)),
            cwd: fields.get("cwd", notes),
            instructions: match fields.value("base_instructions") {
                Value::String(text) => Some(text),
                Value::Object(object) => object.get("text").and_then(Value::as_str).map(str::to_owned),
                _ => None,
            },
            first_own_ordinal: fields.get("subagent_history_start_ordinal", notes).or(base_end),
            has_base: base.is_some(),
            base: base.and_then(|base| Some(HistoryBase { parent: base.get("thread_id", notes)?, end: base_end? })),
        }
    }
}

/// A fork names its parent in `forked_from_id`, a child also or only in its `source`.
fn identity(fields: &Fields, notes: &mut Vec<Note>) -> Identity {
    let [session, version] = ["id", "cli_version"].map(|key| fields.get(key, notes));
    let identity = Identity { version, session, ..Identity::of(super::NAME) };
    let is_named = |id: &String| !id.is_empty();
    if let Some(forked) = fields.get("forked_from_id", notes).filter(is_named) {
        return Identity { parent: Some(forked), start: Some(FORK.to_owned()), ..identity };
    }
    let spawned = || fields.value("source").pointer("/subagent/thread_spawn/parent_thread_id")?.as_str().map(str::to_owned);
    identity.started_by(fields.get("parent_thread_id", notes).or_else(spawned).filter(is_named))
}
