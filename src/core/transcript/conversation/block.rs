//! Blocks: the parts of a message.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PairId;
use crate::text::surrogates::restore_escapes;

/// The kind of a block, from its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    Text,
    Thinking,
    ToolUse(PairId),
    ToolResult(PairId),
    /// An image or a document.
    Media,
    /// A block that no layer edits: server tools and their results, references, unknown types.
    Other,
}

/// Who put a block into the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The model.
    Agent,
    /// A person. This text begins a turn.
    User,
    /// A tool: its result.
    Tool,
    /// The harness: reminders, attachments, environment, command output.
    Injected,
    /// A recorded compaction: its summary, and content restored after it.
    Compaction,
    /// The reader: a placeholder for a result that is missing in the record, so that requests stay valid.
    Placeholder,
}

/// One content block of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub kind: BlockKind,
    pub origin: Origin,
    /// Line of the transcript from which it was read, from 1; 0 for blocks that layers create.
    pub line: u32,
    /// Tokens according to the record, for content without readable text (encrypted reasoning).
    pub recorded_tokens: Option<u64>,
    /// A tool_result whose text says that its tool failed, in a format without a field for that. No harness sent such a field, so it is
    /// not in `wire`.
    pub says_failed: bool,
    /// The block as JSON of Anthropic's Messages API, keys in the order of the record. Harnesses count these characters.
    pub wire: Value,
}

impl Block {
    /// Returns what the model reads of this block: text, thinking, the input of a tool as compact JSON, or the text parts of a result
    /// joined by newlines. Empty for media.
    pub fn text(&self) -> Cow<'_, str> {
        match self.kind {
            BlockKind::Text => self.str_field("text"),
            BlockKind::Thinking => self.str_field("thinking"),
            BlockKind::ToolUse(_) => Cow::Owned(self.wire.get("input").map(Value::to_string).unwrap_or_default()),
            BlockKind::ToolResult(_) => result_text(self.field("content")),
            BlockKind::Media => Cow::Borrowed(""),
            BlockKind::Other => Cow::Owned(self.wire.to_string()),
        }
    }

    /// Returns whether this is a tool_result that the harness marked as an error, or whose text says so.
    pub fn is_error(&self) -> bool {
        self.says_failed || self.field("is_error").and_then(Value::as_bool).unwrap_or(false)
    }

    fn str_field(&self, key: &str) -> Cow<'_, str> {
        Cow::Borrowed(self.field(key).and_then(Value::as_str).unwrap_or_default())
    }

    /// Returns the block as JSON, as a message of the API holds it.
    pub fn to_json(&self) -> String {
        restore_escapes(self.wire.to_string())
    }

    /// Returns the wire form. It is hidden because `serde_json` is no part of the public API.
    #[doc(hidden)]
    pub fn wire(&self) -> &Value {
        &self.wire
    }

    /// Returns a field of the wire form. Blocks have few fields, so a linear search is faster than hashing the key.
    pub fn field(&self, key: &str) -> Option<&Value> {
        self.wire.as_object()?.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }
}

/// Returns the text of a tool_result's `content`: a string, or its text parts joined by newlines.
fn result_text(content: Option<&Value>) -> Cow<'_, str> {
    match content {
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(Value::Array(parts)) => {
            let mut texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            match (texts.next(), texts.next()) {
                (None, _) => Cow::Borrowed(""),
                (Some(only), None) => Cow::Borrowed(only),
                (Some(first), Some(second)) => {
                    let mut all = vec![first, second];
                    all.extend(texts);
                    Cow::Owned(all.join("\n"))
                }
            }
        }
        _ => Cow::Borrowed(""),
    }
}

/// Returns the wire form of a text block: `{"type": "text", "text": …}`.
pub fn text_wire(text: impl Into<String>) -> Value {
    serde_json::json!({"type": "text", "text": text.into()})
}
