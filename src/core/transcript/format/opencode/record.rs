//! Messages as opencode records them, with the fields that a conversation needs.

use serde::Deserialize;
use serde_json::Value;

/// A session, as its export begins.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Session {
    /// The name of a fork of opencode.
    pub program: Option<String>,
    pub id: Option<String>,
    pub version: Option<String>,
    pub directory: Option<String>,
    #[serde(rename = "parentID")]
    pub parent: Option<String>,
    pub revert: Option<Revert>,
}

/// What the user took back: this message, and all after it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Revert {
    #[serde(rename = "messageID")]
    pub message: String,
}

/// A message with its parts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Message {
    #[serde(skip)]
    pub line: u32,
    pub info: Info,
    pub parts: Vec<Part>,
}

/// A part of a message. What no reader needs of it, such as what the screen shows of a tool, is not kept.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Part {
    pub r#type: String,
    pub text: String,
    /// Of a text that is not sent, and of one that no person typed.
    pub ignored: bool,
    pub synthetic: bool,
    /// Of a file.
    pub mime: String,
    pub url: String,
    /// Of a tool.
    pub tool: String,
    #[serde(rename = "callID")]
    pub call: String,
    pub state: State,
    /// Of a compaction: whether the user did not ask for it, and the first message that it kept.
    pub auto: Option<bool>,
    pub tail_start_id: Option<String>,
}

/// What became of a call of a tool.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct State {
    pub status: String,
    pub input: Value,
    pub output: String,
    pub error: String,
    pub attachments: Vec<Part>,
    pub time: ToolTime,
}

/// Times of a call of a tool, in milliseconds since 1970.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ToolTime {
    /// When its result was pruned.
    pub compacted: Option<i64>,
}

/// What is said about a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Info {
    pub id: String,
    pub role: String,
    pub time: Time,
    pub summary: Value,
    pub finish: Option<String>,
    pub error: Value,
    pub tokens: Value,
    #[serde(rename = "modelID")]
    pub model: Option<String>,
}

/// Times in milliseconds since 1970.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Time {
    pub created: Option<i64>,
    pub completed: Option<i64>,
}

impl Message {
    /// Whether it has a part of this type.
    pub fn has_part(&self, kind: &str) -> bool {
        self.parts.iter().any(|part| part.r#type == kind)
    }

    /// Whether it asks for a compaction.
    pub fn is_compaction(&self) -> bool {
        self.info.role == "user" && self.has_part("compaction")
    }

    /// A summary that was written to its end.
    pub fn is_summary(&self) -> bool {
        self.info.summary == true
            && self.info.error.is_null()
            && (self.info.finish.is_some() || self.info.time.completed.is_some())
    }

    /// A text of opencode's own, as it adds one behind a summary of its own accord: "Continue if you have next steps".
    pub fn is_synthetic(&self) -> bool {
        self.info.role == "user" && !self.parts.is_empty() && self.parts.iter().all(|part| part.synthetic)
    }

    /// opencode sends a failed message again only if the user aborted it, and something was done.
    pub fn is_sent(&self) -> bool {
        let is_done = |part: &Part| !matches!(part.r#type.as_str(), "step-start" | "reasoning");
        self.info.error.is_null() || (self.info.error["name"] == "MessageAbortedError" && self.parts.iter().any(is_done))
    }
}
