//! A conversation of one agent: messages, blocks and calls, normalised so that an API would accept them.
//!
//! It does not change after it was read. [`ConversationBuilder`] ensures these invariants:
//! * A [`BlockId`] is an index into [`Conversation::blocks`]. No block is in two messages.
//! * Every recorded response is a message of its own. [`Conversation::calls`] lists the responses in ascending order.
//! * A [`PairId`] connects the tool_use and the tool_result of one tool call.

mod block;
mod builder;
mod identity;
mod source_files;
mod usage;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use block::{Block, BlockKind, Origin, text_wire};
pub use builder::ConversationBuilder;
pub use identity::{FORK, Identity, SUBAGENT};
pub use source_files::SourceFile;
pub use usage::{Iteration, Service, Usage};

/// Index of a block in its conversation. Blocks that layers create during a replay get the numbers after the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

impl BlockId {
    /// Returns the position in the conversation's list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index into [`Conversation::pairs`]: identifies a tool call, and so its tool_use and its tool_result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PairId(pub u32);

impl PairId {
    /// Returns the position in the conversation's list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Who speaks in a message. System text is not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
}

impl Role {
    /// Returns the name in the Messages API.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub role: Role,
    /// The content is a bare string, not a list of blocks. The message then has one text block, measured without its JSON braces.
    pub is_string_content: bool,
    pub blocks: Vec<BlockId>,
    /// Milliseconds since 1970, if the record has times.
    pub time: Option<i64>,
    /// Line of the transcript, from 1.
    pub line: u32,
}

/// One recorded call of the model. Its request is every message before `response`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Call {
    /// Index of the response in [`Conversation::messages`].
    pub response: usize,
    /// Of the last iteration: its request is the whole request.
    pub usage: Option<Usage>,
    /// What the provider also billed for this call, if it ran the model more than once or asked another model.
    pub other_iterations: Vec<Iteration>,
    pub model: Option<String>,
    pub service: Service,
    /// The provider's id of the response message, if recorded.
    pub message_id: Option<String>,
    /// The provider's id of the request, if recorded.
    pub request_id: Option<String>,
    /// Time of the response in milliseconds since 1970, if recorded.
    pub time: Option<i64>,
}

impl Call {
    /// Returns the usage, but `None` if the request has 0 tokens: harnesses record zeros for failed calls.
    pub fn billed(&self) -> Option<Usage> {
        self.usage.filter(|usage| usage.request() > 0)
    }

    /// Returns the output tokens of the model in all its iterations; 0 if no usage was recorded.
    pub fn recorded_output(&self) -> u64 {
        let own = self.other_iterations.iter().filter(|other| other.model.is_none()).map(|other| other.usage.output);
        self.usage.map_or(0, |usage| usage.output) + own.sum::<u64>()
    }
}

/// One tool call: a tool_use and its tool_result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPair {
    /// Id of the tool call in the record.
    pub id: String,
    /// Name of the tool; `unknown` if the tool_use is not in the record.
    pub name: String,
    /// The tool_use block.
    pub tool_use: Option<BlockId>,
    /// The tool_result block.
    pub tool_result: Option<BlockId>,
}

/// A compaction that the recorded agent's harness made.
#[derive(Debug, Clone, PartialEq)]
pub struct Compaction {
    /// Number of messages before the compaction.
    pub message_index: usize,
    pub edit: RecordedEdit,
    /// What triggered it, as recorded: `auto`, `manual` or another word.
    pub trigger: Option<String>,
    /// Tokens of the context before the compaction, if recorded.
    pub tokens_before: Option<u64>,
    /// Tokens of the context after the compaction, if recorded.
    pub tokens_after: Option<u64>,
    /// What the provider billed for the summary, if recorded.
    pub summary_usage: Option<Usage>,
    /// Line of the transcript, from 1.
    pub line: u32,
}

/// What a recorded compaction did to the context.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordedEdit {
    /// These messages replaced the whole context: the summary, the kept tail, restored attachments. Kept blocks are blocks of
    /// [`Conversation::messages`]; the others are in no other message.
    Fold { into: Vec<Message> },
    /// The results of these tool calls were cleared (micro-compaction).
    Clear { pairs: Vec<PairId> },
}

impl RecordedEdit {
    /// Returns whether the summary is encrypted, so that only the provider can read it.
    pub fn is_encrypted(&self, conversation: &Conversation) -> bool {
        let mut blocks = self.messages().iter().flat_map(|message| &message.blocks);
        blocks.any(|id| conversation.block(*id).text() == ENCRYPTED_SUMMARY)
    }

    /// Returns the messages that replaced the context; none for [`RecordedEdit::Clear`].
    pub fn messages(&self) -> &[Message] {
        if let RecordedEdit::Fold { into } = self { into } else { &[] }
    }
}

/// How long thinking blocks stay in requests after the call that produced them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// Until the next message that a user typed. Anthropic's models before Claude Opus 4.5 do this.
    Turn,
    /// Always. Later models do this, and Messages files are read this way.
    All,
    /// Never.
    None,
}

/// One agent's conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// Name, stable and unique within its transcript: `main`, `agent-a881341`, `17`.
    pub name: String,
    /// Id of the format from which it was read.
    pub format: &'static str,
    /// Who held it.
    pub identity: Identity,
    /// All blocks; [`BlockId`] is an index into them.
    pub blocks: Vec<Block>,
    /// All messages, as if nothing had been compacted (*unrolled*).
    pub messages: Vec<Message>,
    /// The recorded calls of the model, in order.
    pub calls: Vec<Call>,
    /// Calls of branches of the session that are not read: the provider billed them, and they are in no request.
    pub other_branches: Vec<Call>,
    /// The tool calls; [`PairId`] is an index into them.
    pub pairs: Vec<ToolPair>,
    /// The recorded compactions, in order.
    pub compactions: Vec<Compaction>,
    pub thinking: Thinking,
    /// The largest context window that the record names, in tokens.
    pub window: Option<u64>,
    /// Working directory of the session, if the record names it.
    pub project: Option<String>,
    /// System prompt, if the transcript contains it. It is part of the overhead and never compacted.
    pub system: Option<String>,
    /// Number of records of the file that are part of this conversation.
    pub records: usize,
    /// The files from which it was read; empty if it was read from one file.
    pub source_files: Vec<SourceFile>,
}

impl Conversation {
    /// Whether nothing was said in it, and nothing billed on other branches. If a user took back all turns, only their bill is left.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.other_branches.is_empty()
    }

    /// Returns a block.
    ///
    /// # Panics
    ///
    /// Panics if the id is of another conversation.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// Returns a call with its result.
    ///
    /// # Panics
    ///
    /// Panics if the id is of another conversation.
    pub fn pair(&self, id: PairId) -> &ToolPair {
        &self.pairs[id.index()]
    }

    /// Returns the input of a call; `None` if its tool_use is not recorded.
    pub fn input_of(&self, pair: PairId) -> Option<&Value> {
        self.block(self.pair(pair).tool_use?).field("input")
    }

    /// Returns whether a message contains text that a person typed. Such a message begins a turn.
    pub fn is_typed(&self, message: &Message) -> bool {
        message.blocks.iter().any(|b| self.block(*b).origin == Origin::User)
    }

    /// Returns the response before that of a call; `None` before the first.
    pub fn response_before(&self, call: usize) -> Option<&Message> {
        Some(&self.messages[self.calls[call.checked_sub(1)?].response])
    }

    /// Returns the new messages of a call: indices of the messages after the previous response and before its own.
    pub fn new_messages(&self, call: usize) -> std::ops::Range<usize> {
        let start = call.checked_sub(1).map_or(0, |before| self.calls[before].response + 1);
        start..self.calls[call].response
    }

    /// Returns the times of the first and of the last message with a time, in milliseconds since 1970.
    pub fn times(&self) -> Option<[i64; 2]> {
        let times = || self.messages.iter().filter_map(|message| message.time);
        Some([times().min()?, times().max()?])
    }

    /// Returns the number of calls with a request. If nothing is recorded before the first response, its call has no request to replay.
    pub fn requests(&self) -> usize {
        self.calls.iter().filter(|call| call.response > 0).count()
    }

    /// Returns when the request of a call was sent, in milliseconds since 1970: the time of its newest new message, or else the time
    /// of the response. If that message is more than ten minutes older than the response, the request must have been sent again, so
    /// the result is ten minutes before the response.
    pub fn requested_at(&self, call: usize) -> Option<i64> {
        let newest_message = self.messages[self.new_messages(call)].iter().filter_map(|message| message.time).max();
        let response = self.calls[call].time;
        let earliest = response.map(|response| response - MAX_RESPONSE_TIME);
        newest_message.max(earliest.filter(|_| newest_message.is_some())).or(response)
    }

    /// Returns the number of tool_use blocks, recorded compactions unrolled.
    pub fn tool_uses(&self) -> usize {
        self.count(|block| matches!(block.kind, BlockKind::ToolUse(_)))
    }

    /// Returns the number of recorded tool_result blocks, without placeholders.
    pub fn tool_results(&self) -> usize {
        self.count(|block| matches!(block.kind, BlockKind::ToolResult(_)) && block.origin != Origin::Placeholder)
    }

    fn count(&self, matches: impl Fn(&Block) -> bool) -> usize {
        self.messages.iter().flat_map(|m| &m.blocks).filter(|b| matches(self.block(**b))).count()
    }
}

/// One minute in milliseconds, the unit of recorded times.
pub const MINUTE: i64 = 60_000;

/// How long a client waits for a response before it sends the request again: the default of the SDKs of Anthropic and OpenAI.
const MAX_RESPONSE_TIME: i64 = 10 * MINUTE;

/// Text in place of a recorded summary that only the provider can read.
pub const ENCRYPTED_SUMMARY: &str = "[summary, encrypted by the provider]";
