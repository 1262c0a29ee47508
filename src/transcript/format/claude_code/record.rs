//! The lines of a session as Claude Code writes them: only what the conversation needs. `toolUseResult`, the data of
//! `progress`, file snapshots and the like are skipped by serde without being built; they are often half of the file.

use serde::Deserialize;
use serde_json::Value;

use super::attachment::Attachment;
use super::text::Text;
use crate::transcript::conversation::Usage;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// Line of the file, from 1.
    #[serde(skip)]
    pub line: u32,
    /// Ids of the tool calls made here, and of those answered here.
    #[serde(skip)]
    pub calls: Vec<String>,
    #[serde(skip)]
    pub answers: Vec<String>,
    pub r#type: Type,
    pub subtype: Text,
    pub uuid: Text,
    pub parent_uuid: Text,
    /// Of a compaction boundary: the last record before it.
    pub logical_parent_uuid: Text,
    pub session_id: Text,
    pub agent_id: Text,
    pub request_id: Text,
    pub timestamp: Text,
    pub is_sidechain: Option<bool>,
    pub is_meta: Option<bool>,
    pub is_compact_summary: Option<bool>,
    pub is_visible_in_transcript_only: Option<bool>,
    // Boxed: most records have none of these, and a file has very many records.
    pub message: Option<Box<Message>>,
    /// Of `system` records: what is shown, and for `local_command` also sent.
    pub content: Text,
    pub attachment: Option<Box<Attachment>>,
    pub compact_metadata: Option<Box<CompactMetadata>>,
    pub microcompact_metadata: Option<Box<MicrocompactMetadata>>,
}

/// `type` of a record; everything that is never conversation is `Other`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    User,
    Assistant,
    System,
    Attachment,
    #[default]
    #[serde(other)]
    Other,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Message {
    pub id: Option<String>,
    pub model: Option<String>,
    /// A string, or a list of blocks.
    pub content: Value,
    pub usage: Option<WireUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    ephemeral_5m_input_tokens: Option<u64>,
    ephemeral_1h_input_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    thinking_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactMetadata {
    pub trigger: Option<String>,
    pub pre_tokens: Option<u64>,
    pub post_tokens: Option<u64>,
    pub preserved_segment: Option<PreservedSegment>,
    pub preserved_messages: Option<PreservedMessages>,
}

/// The kept tail by its ends. `anchor` is what it now hangs on: the summary, or the boundary where it stands before the summary.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PreservedSegment {
    pub head_uuid: Text,
    pub anchor_uuid: Text,
    pub tail_uuid: Text,
}

/// The kept tail record by record.
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
    /// A line of the conversation itself. Lines of the model `<synthetic>` are not: the harness shows them where an API error
    /// or an interruption left no answer, and never sends them.
    pub fn is_said(&self) -> bool {
        match (self.r#type, &self.message) {
            (Type::Assistant, Some(message)) => message.model.as_deref() != Some("<synthetic>"),
            (Type::User, Some(_)) => self.is_summary() || self.is_visible_in_transcript_only != Some(true),
            _ => false,
        }
    }

    /// What the lines of one response have in common.
    pub fn response_id(&self) -> Option<&str> {
        let message = self.message.as_ref().filter(|_| self.is_assistant())?;
        message.id.as_deref().or(self.request_id.get())
    }

    pub fn is_assistant(&self) -> bool {
        self.r#type == Type::Assistant
    }

    /// The summary a compaction left, as a user message.
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

    /// Milliseconds since 1970.
    pub fn time(&self) -> Option<i64> {
        self.timestamp.get()?.parse::<jiff::Timestamp>().ok().map(|at| at.as_millisecond())
    }

    /// Moves the message's content out, and remembers which tool calls are made and answered in it.
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

impl WireUsage {
    pub fn usage(&self) -> Usage {
        let total = self.cache_creation_input_tokens.unwrap_or(0);
        let split = self.cache_creation.as_ref();
        let (short, long) = split
            .map(|c| (c.ephemeral_5m_input_tokens.unwrap_or(0), c.ephemeral_1h_input_tokens.unwrap_or(0)))
            .filter(|split| *split != (0, 0))
            .unwrap_or((total, 0));
        Usage {
            input: self.input_tokens.unwrap_or(0),
            cache_read: self.cache_read_input_tokens.unwrap_or(0),
            cache_write_5m: short,
            cache_write_1h: long,
            output: self.output_tokens.unwrap_or(0),
            reasoning: self.output_tokens_details.as_ref().and_then(|details| details.thinking_tokens),
        }
    }
}
