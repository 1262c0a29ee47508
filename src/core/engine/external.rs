//! Policies that are code outside of this library: a program, or a function of another language.
//!
//! The engine shows such a policy the messages of each request and gets a [`Decision`]. [`Seen`] remembers which messages the
//! policy was shown, and under which ids; [`plan()`] turns an answer into the edits that the context knows. So a policy from
//! outside is measured as every other policy, and it cannot do what no layer can.

mod align;
mod edits;
mod in_place;
mod plan;
mod seen;
mod target;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::transcript::conversation::Role;

pub use in_place::Place;
pub use plan::{Plan, PlannedUnits, plan};
pub use seen::{News, PlannedUnit, Seen, Unit};

/// Id of a message for a policy from outside. The first message of a session is 0; no id is used again.
pub type MessageId = u64;

/// The form in which a policy from outside gets messages and writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Messages of Anthropic's Messages API: the results of tools are blocks of a user message.
    Anthropic,
    /// Messages of OpenAI's Chat Completions API: each result of a tool is a message.
    OpenAi,
}

impl Shape {
    /// Returns its name in policies and in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }
}

/// Why a policy from outside cannot be used: it cannot be started, did not answer, or its answer is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExternalError(String);

impl From<String> for ExternalError {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<ExternalError> for String {
    fn from(error: ExternalError) -> Self {
        error.0
    }
}

/// Starts sessions with policies from outside.
pub trait ExternalPolicies: Send + Sync {
    /// Begins a session with the policy that a command names.
    ///
    /// # Errors
    ///
    /// Fails if the policy cannot be started, or does not speak the protocol.
    fn open(&self, command: &str, start: &SessionStart) -> Result<Box<dyn ExternalSession>, ExternalError>;
}

/// What a policy from outside learns when a session begins.
#[derive(Debug, Clone)]
pub struct SessionStart<'a> {
    /// Name of the conversation.
    pub session: &'a str,
    /// Id of the transcript's format.
    pub format: &'a str,
    /// Context window in tokens.
    pub window: u64,
    /// Tokens of system prompt and tools in every request.
    pub overhead: u64,
    /// Form of the messages; `None`: the policy chooses it in its first answer.
    pub shape: Option<Shape>,
    /// Time limit of each answer.
    pub timeout: Duration,
}

/// A session with a policy from outside. It ends when this is dropped.
pub trait ExternalSession {
    /// Returns the form of the messages in this session.
    fn shape(&self) -> Shape;

    /// Shows the policy a request before it is sent.
    ///
    /// # Errors
    ///
    /// Fails if there is no answer that can be used. The session is then over.
    fn request(&mut self, request: &ExternalRequest) -> Result<Decision, ExternalError>;

    /// Gives the policy the summary that it asked for at this call, or the reason why there is none.
    ///
    /// # Errors
    ///
    /// As [`Self::request`].
    fn summary(&mut self, call: usize, summary: Result<&str, &str>) -> Result<Decision, ExternalError>;

    /// Ends the policy with the session, because its last answer cannot be used.
    fn abandon(&mut self);
}

/// A request, as a policy from outside is shown it: what is new since the previous one.
#[derive(Debug)]
pub struct ExternalRequest<'a> {
    /// Number of the call in the session, from 0.
    pub call: usize,
    /// Tokens of the request if nothing is changed, overhead included.
    pub estimate: u64,
    /// Tokens of the previous request, as it was sent; `None` for the first.
    pub last_read: Option<u64>,
    /// The answer may go on from the changes of the previous one: [`Answer::again`].
    pub again: bool,
    /// Ids of the messages that the previous answer inserted in the history, in its order.
    pub inserted: Vec<MessageId>,
    /// Messages that the policy did not remove and that are gone all the same: they held only thinking of earlier turns.
    pub gone: Vec<MessageId>,
    /// Messages with other content than before, for the same reason.
    pub changed: Vec<ShownMessage<'a>>,
    /// The new messages, in order; they follow all others.
    pub messages: Vec<ShownMessage<'a>>,
}

/// A message of the context, or a part of one, that a policy is shown under one id.
#[derive(Debug, Clone)]
pub struct ShownMessage<'a> {
    pub id: MessageId,
    pub role: Role,
    pub is_string_content: bool,
    /// It is part of the same message of the context as the one before it.
    pub continues: bool,
    pub blocks: Vec<&'a Value>,
}

/// What a policy from outside wants before it answers, or its answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    Ask(SummaryWish),
    Answer(Answer),
}

/// A summary that a policy wants to be written by the summarizer of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryWish {
    /// The messages to summarise, in order.
    pub of: Vec<MessageId>,
    pub system: String,
    /// User message, with or without the placeholder `{conversation}`.
    pub prompt: String,
    pub max_tokens: u64,
}

/// The answer to a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    pub listing: Listing,
    /// The history stays as it is: the answer is for this request only.
    pub for_request_only: bool,
    /// What the last answer changed for its request holds for this one, too.
    pub again: bool,
    pub files: Vec<WrittenFile>,
    pub summaries: Vec<OwnSummary>,
}

/// Which messages a request has, in one of two ways.
#[derive(Debug, Clone, PartialEq)]
pub enum Listing {
    /// All of its messages.
    All(Vec<Item>),
    /// What changes; every other message stays. A message that replaces none follows the one before it in the list.
    Changes { drop: Vec<MessageId>, replace: Vec<WrittenMessage> },
}

impl Default for Listing {
    fn default() -> Self {
        Self::Changes { drop: Vec::new(), replace: Vec::new() }
    }
}

/// One message of a list.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    Kept(MessageId),
    Written(WrittenMessage),
}

/// A message that a policy wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenMessage {
    /// The messages that it replaces. It keeps the id of the first.
    pub replaces: Vec<MessageId>,
    pub role: Role,
    pub is_string_content: bool,
    /// Blocks in Anthropic's form; each is an object with a `type`.
    pub blocks: Vec<Value>,
}

/// A file that a policy would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    pub path: String,
    /// Its content; `None`: the result, or the messages as they are.
    pub text: Option<String>,
    /// Id of the tool call whose result it holds; `None`: an archive of the transcript.
    pub tool_use_id: Option<String>,
}

/// A summary that a policy got elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnSummary {
    /// The messages that were summarised.
    pub of: Vec<MessageId>,
    pub prompt: String,
    pub text: String,
}

/// Starts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoExternalPolicies;

impl ExternalPolicies for NoExternalPolicies {
    fn open(&self, command: &str, _: &SessionStart) -> Result<Box<dyn ExternalSession>, ExternalError> {
        Err(format!("`{command}` is a program, and no program may be started here").into())
    }
}
