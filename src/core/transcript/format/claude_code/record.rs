//! Records of a session as Claude Code writes them, with the fields that a conversation needs.
//!
//! Serde skips all other fields (`toolUseResult`, most data of `progress`, file snapshots) without building them; they are often half of
//! the file.

use std::mem;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::attachment::Attachment;
use super::progress::Progress;
use super::text::Text;
use super::usage::WireUsage;
use crate::transcript::format::odd_field;

/// One record of a session.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// Line of the file, from 1.
    #[serde(skip)]
    pub line: u32,
    /// Bytes of the line: at least those of its text.
    #[serde(skip)]
    pub line_bytes: usize,
    /// The context was emptied before this record, as by `/clear`: a hook says so, and nothing is before it.
    #[serde(skip)]
    pub is_after_clear: bool,
    /// Another record reports this one ([`super::progress`]).
    #[serde(skip)]
    pub is_reported: bool,
    /// Ids of the tool calls in this record.
    #[serde(skip)]
    pub calls: Vec<String>,
    /// Ids of the tool calls whose results are in this record.
    #[serde(skip)]
    pub answers: Vec<String>,
    pub r#type: Type,
    pub subtype: Text,
    pub uuid: Text,
    pub parent_uuid: Text,
    /// In a compaction boundary: the last record before it.
    pub logical_parent_uuid: Text,
    pub session_id: Text,
    /// The same, in the output of `claude -p`.
    #[serde(rename = "session_id")]
    pub stream_session_id: Text,
    /// In the output of `claude -p`: the call that started the sub-agent.
    #[serde(rename = "parent_tool_use_id")]
    pub stream_parent: Text,
    pub agent_id: Text,
    pub version: Text,
    pub request_id: Text,
    pub timestamp: Text,
    pub cwd: Text,
    pub is_sidechain: Option<bool>,
    pub is_meta: Option<bool>,
    pub is_compact_summary: Option<bool>,
    pub is_visible_in_transcript_only: Option<bool>,
    /// In the output of `claude -p`: no person typed it.
    pub is_synthetic: Option<bool>,
    // Boxed, because most records have none of these, and a file has very many records.
    #[serde(deserialize_with = "odd_field::object")]
    pub message: Option<Box<Message>>,
    /// In `system` records: the text shown to the user; for `local_command`, it is also sent to the model.
    pub content: Text,
    pub attachment: Option<Box<Attachment>>,
    /// In `progress` records: what is reported.
    pub data: Option<Box<Progress>>,
    /// In `progress` records: the call that started what reports.
    #[serde(rename = "parentToolUseID")]
    pub parent_tool_use_id: Text,
    #[serde(alias = "compact_metadata", deserialize_with = "odd_field::object")]
    pub compact_metadata: Option<Box<CompactMetadata>>,
    #[serde(deserialize_with = "odd_field::object")]
    pub microcompact_metadata: Option<Box<MicrocompactMetadata>>,
}

/// The `type` of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Type {
    User,
    Assistant,
    System,
    Attachment,
    /// Never a part of the conversation.
    #[default]
    Other,
    /// A type that this reader does not know.
    Unknown(Box<str>),
}

/// Types that are never a part of the conversation: bookkeeping of sessions, and what `claude -p --output-format stream-json` prints.
const OTHER_TYPES: [&str; 33] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "atis-latch",
    "attribution-snapshot",
    "auth_status",
    "bridge-session",
    "content-replacement",
    "control_request",
    "control_response",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "keep_alive",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "rate_limit_event",
    "result",
    "saved_hook_context",
    "speculation-accept",
    "stream_event",
    "summary",
    "tag",
    "task-summary",
    "tool_progress",
    "tool_use_summary",
    "worktree-state",
    "",
];

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Text::deserialize(deserializer)?;
        Ok(match name.get().unwrap_or_default() {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "system" => Self::System,
            "attachment" => Self::Attachment,
            other if OTHER_TYPES.contains(&other) => Self::Other,
            unknown => Self::Unknown(unknown.into()),
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Message {
    pub id: Option<String>,
    pub model: Option<String>,
    /// A string, or a list of blocks.
    pub content: Value,
    #[serde(deserialize_with = "odd_field::object")]
    pub usage: Option<WireUsage>,
    /// What the provider removed from the request before the model read it.
    #[serde(deserialize_with = "odd_field::object")]
    pub context_management: Option<ContextManagement>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ContextManagement {
    pub applied_edits: Vec<AppliedEdit>,
}

/// An edit of the provider, such as `clear_tool_uses_20250919`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct AppliedEdit {
    /// Number of calls whose results were cleared, from the oldest.
    pub cleared_tool_uses: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactMetadata {
    pub trigger: Option<String>,
    #[serde(alias = "pre_tokens")]
    pub pre_tokens: Option<u64>,
    #[serde(alias = "post_tokens")]
    pub post_tokens: Option<u64>,
    #[serde(deserialize_with = "odd_field::object")]
    pub preserved_segment: Option<PreservedSegment>,
    #[serde(deserialize_with = "odd_field::object")]
    pub preserved_messages: Option<PreservedMessages>,
}

/// The kept tail, given by its two ends. `anchor` is its new parent: the summary, or the boundary if the tail comes before the summary.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PreservedSegment {
    pub head_uuid: Text,
    pub anchor_uuid: Text,
    pub tail_uuid: Text,
}

/// The kept tail, given as a list of records.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PreservedMessages {
    pub anchor_uuid: Text,
    pub uuids: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MicrocompactMetadata {
    pub trigger: Option<String>,
    pub pre_tokens: Option<u64>,
    pub tokens_saved: Option<u64>,
    pub compacted_tool_ids: Vec<String>,
}

impl Record {
    /// Gives a record of `claude -p --output-format stream-json` the fields that sessions have.
    pub fn take_stream_fields(&mut self) {
        if self.session_id.get().is_none() {
            self.session_id = mem::take(&mut self.stream_session_id);
        }
        if self.stream_parent.get().is_some() {
            (self.agent_id, self.is_sidechain) = (mem::take(&mut self.stream_parent), Some(true));
        }
        self.is_meta = self.is_meta.or(self.is_synthetic);
    }

    /// Whether the context was emptied before this record. Reads what [`Self::data`] holds.
    pub fn shows_clear(&self) -> bool {
        self.parent_uuid == Text::Null && self.start() == Some("clear")
    }

    /// Returns why the session began, if a hook that ran then is in the record: `startup`, `resume`, `clear`.
    pub fn start(&self) -> Option<&str> {
        let hook = self.data.as_ref().and_then(|data| data.hook_name());
        let hook = hook.or(self.attachment.as_ref().and_then(|attachment| attachment.hook_name()));
        // The hook also runs after a compaction, where no session begins.
        hook?.strip_prefix("SessionStart:").filter(|start| *start != "compact")
    }

    /// Returns whether the record is a message of the conversation. Records of the model `<synthetic>` are not: the harness shows them
    /// after an API error or an interruption, and never sends them.
    pub fn is_conversation(&self) -> bool {
        match (&self.r#type, &self.message) {
            (Type::Assistant, Some(message)) => message.model.as_deref() != Some("<synthetic>"),
            (Type::User, Some(_)) => self.is_summary() || self.is_visible_in_transcript_only != Some(true),
            _ => false,
        }
    }

    /// Returns the id that all lines of one response share.
    pub fn response_id(&self) -> Option<&str> {
        let message = self.message.as_ref().filter(|_| self.is_assistant())?;
        message.id.as_deref().or(self.request_id.get())
    }

    pub fn is_assistant(&self) -> bool {
        self.r#type == Type::Assistant
    }

    /// Returns whether the record is the summary of a compaction. It is a user message.
    pub fn is_summary(&self) -> bool {
        self.r#type == Type::User && self.is_compact_summary == Some(true)
    }

    pub fn is_compact_boundary(&self) -> bool {
        self.r#type == Type::System && self.subtype.get() == Some("compact_boundary")
    }

    pub fn is_microcompact_boundary(&self) -> bool {
        self.r#type == Type::System && self.subtype.get() == Some("microcompact_boundary")
    }

    pub fn is_side(&self) -> bool {
        self.is_sidechain == Some(true)
    }

    /// Returns the time of the record in milliseconds since 1970.
    pub fn time(&self) -> Option<i64> {
        self.timestamp.get()?.parse::<jiff::Timestamp>().ok().map(|at| at.as_millisecond())
    }

    /// Moves the content out of the message, and fills [`Self::calls`] and [`Self::answers`].
    pub fn take_content(&mut self) -> Value {
        let content = self.message.as_mut().map(|message| message.content.take()).unwrap_or_default();
        for block in content.as_array().into_iter().flatten() {
            let field = |key| block.get(key).and_then(Value::as_str);
            match field("type") {
                Some("tool_use") => self.calls.extend(field("id").map(str::to_owned)),
                Some("tool_result") => self.answers.extend(field("tool_use_id").map(str::to_owned)),
                _ => {}
            }
        }
        content
    }
}
