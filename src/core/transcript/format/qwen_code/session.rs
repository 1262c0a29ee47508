//! What records say of a session beside its messages.

use serde_json::Value;

use super::super::notes::Notes;
use super::{NAME, Record};
use crate::transcript::conversation::{FORK, Identity};

/// Subtypes of `system` records that hold nothing that the model reads (source of 0.24). What a command such as `@file` put into a prompt
/// is in the record of the prompt.
const BOOKKEEPING: [&str; 25] = [
    "agent_launch_prompt",
    "agent_retry",
    "agent_session_ready",
    "at_command",
    "attribution_snapshot",
    "branch_checkpoint",
    "custom_title",
    "file_history_snapshot",
    "goal_runtime",
    "goal_state",
    "goal_turn_end",
    PARENT_SESSION,
    "rewind",
    "session_approval_mode",
    "session_artifact_event",
    "session_artifact_snapshot",
    "session_execution_engine",
    "session_model",
    "session_notes",
    "session_source",
    "session_sources_snapshot",
    "slash_command",
    "turn_result",
    "ui_telemetry",
    "user_text_elements",
];

/// The subtype of the record that names the session whose agent began this one.
const PARENT_SESSION: &str = "parent_session";

/// Notes each kind of record that is not known.
pub fn note_unknown(records: &[Record], notes: &mut Notes) {
    for record in records.iter().filter(|record| !record.is_message()) {
        let kind = record.subtype.as_deref().unwrap_or(&record.r#type);
        if record.r#type != "system" || !BOOKKEEPING.contains(&kind) {
            notes.unknown_type(record.line, "records", kind);
        }
    }
}

/// Returns who held a session. A fork is a copy of its parent; a sub-agent names its parent as its session.
pub fn identity(records: &[Record], branch: &[usize]) -> Identity {
    let Some(last) = branch.last().map(|last| &records[*last]) else { return Identity::of(NAME) };
    let identity = Identity { version: last.version.clone(), session: last.session_id.clone(), ..Identity::of(NAME) };
    if let Some(agent) = &last.agent_id {
        return Identity { session: Some(agent.clone()), ..identity }.started_by(last.session_id.clone());
    }
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut all = branch.iter().map(|record| &records[*record]);
    if let Some(parent) = all.clone().find_map(|record| text(record.forked_from.get("sessionId")?)) {
        return Identity { parent: Some(parent), start: Some(FORK.to_owned()), ..identity };
    }
    let parent = all.find(|record| record.is_system(PARENT_SESSION));
    identity.started_by(parent.and_then(|record| text(record.system_payload.get("parentSessionId")?)))
}
