//! What the record says about a conversation: the keys by which rows are grouped.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Families, Session};
use crate::tokens::calibration::main_model;
use crate::transcript::conversation::Conversation;

/// What the record says about a conversation. All rows of the conversation share one; in JSON and CSV, each row has these fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recording {
    /// Name of its session: a session, its sub-agents and its forks have the same. Empty in results of version 1, as is `format`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// Id of the transcript's format: `claude-code`.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub format: Cow<'static, str>,
    /// The model that answered most of its calls, if the record names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Working directory of the session, as recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Time of its first message in UTC, to the second: `2026-10-01T08:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
}

impl Recording {
    /// Returns what the record says about a conversation of a transcript.
    pub fn new(transcript: &str, conversation: &Conversation) -> Self {
        Self {
            session: Session::new(transcript, &conversation.name).to_string(),
            format: Cow::Borrowed(conversation.format),
            model: main_model(conversation).map(str::to_owned),
            project: conversation.project.clone(),
            started: conversation.times().and_then(|[first, _]| utc(first)),
        }
    }
}

/// Gives a recording the session with which it counts.
pub fn move_to(recording: &mut Arc<Recording>, families: &Families) {
    let head = families.head(&recording.session);
    if head != recording.session {
        let session = head.to_owned();
        Arc::make_mut(recording).session = session;
    }
}

/// Writes a time (milliseconds since 1970) to the second; `None` if no calendar holds it.
pub(super) fn utc(time: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(time).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
