//! What was said: one agent's conversation, normalised to messages an API would accept, never changed after it was read.
//!
//! Invariants, kept by [`Builder`] and relied on everywhere:
//! * a [`BlockId`] is an index into [`Conversation::blocks`]; no block stands in two messages;
//! * every recorded response is a message of its own, and `calls` names them in ascending order;
//! * a [`PairId`] joins the tool_use and the tool_result of one tool call.

mod builder;
mod pieces;

use std::borrow::Cow;

use serde_json::Value;

pub use builder::Builder;
pub use pieces::SourceFile;

/// Index of a block in its conversation. Replays number the blocks that layers write from where the conversation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

impl BlockId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a tool call: what its tool_use and its tool_result have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PairId(pub u32);

impl PairId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    User,
    Assistant,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// What a block is, by its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Text,
    Thinking,
    ToolUse(PairId),
    ToolResult(PairId),
    /// An image or a document.
    Media,
    /// A block no layer touches: server tools and their results, references, types to come.
    Other,
}

/// Who put a block into the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The model.
    Agent,
    /// A person: text that begins a turn.
    User,
    /// A tool that answered.
    Tool,
    /// The harness: reminders, attachments, environment, command output.
    Injected,
    /// A recorded compaction: its summary, and what was restored after it.
    Compaction,
    /// The reader: a stand-in for a result the record lacks, so that requests stay valid.
    Placeholder,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub kind: Kind,
    pub origin: Origin,
    /// Line of the transcript it was read from, from 1; 0 for blocks that layers write.
    pub line: u32,
    /// Tokens by the record, for content whose text the record lacks (encrypted reasoning).
    pub recorded_tokens: Option<u64>,
    /// The block as Anthropic's Messages API writes it, keys in the order of the record. Harnesses measure these characters.
    pub wire: Value,
}

impl Block {
    /// What the model reads of this block: text, thinking, a tool's input as compact JSON, a result's text parts joined by
    /// newlines. Empty for media.
    pub fn text(&self) -> Cow<'_, str> {
        match self.kind {
            Kind::Text => self.str_field("text"),
            Kind::Thinking => self.str_field("thinking"),
            Kind::ToolUse(_) => Cow::Owned(self.wire.get("input").map(Value::to_string).unwrap_or_default()),
            Kind::ToolResult(_) => result_text(self.field("content")),
            Kind::Media => Cow::Borrowed(""),
            Kind::Other => Cow::Owned(self.wire.to_string()),
        }
    }

    /// A tool_result that the harness marked as an error.
    pub fn is_error(&self) -> bool {
        self.field("is_error").and_then(Value::as_bool).unwrap_or(false)
    }

    fn str_field(&self, key: &str) -> Cow<'_, str> {
        Cow::Borrowed(self.field(key).and_then(Value::as_str).unwrap_or_default())
    }

    /// A field of the wire form. Blocks have a few fields: to walk them is quicker than to hash the key.
    pub fn field(&self, key: &str) -> Option<&Value> {
        self.wire.as_object()?.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }
}

/// The text of a tool_result's `content`: a string, or its text parts.
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

/// One message as it would be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub role: Role,
    /// The content was a bare string, not a list of blocks: one text block, measured without its braces.
    pub plain: bool,
    pub blocks: Vec<BlockId>,
    /// Milliseconds since 1970, where the record has a clock.
    pub time: Option<i64>,
    pub line: u32,
}

/// Tokens the provider billed for one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input that was neither read from nor written to the prompt cache.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// The part of `output` that was reasoning, where the record tells.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Whether it can be: no number is so large that sums of them run over.
    pub fn is_possible(&self) -> bool {
        let Self { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning: _ } = *self;
        [input, cache_read, cache_write_5m, cache_write_1h, output].iter().all(|tokens| *tokens <= MOST_TOKENS)
    }

    /// Tokens of the request: everything the model read.
    pub fn request(&self) -> u64 {
        self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h
    }
}

/// One recorded model response. Its request is every message before `response`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Call {
    /// Index of the response in [`Conversation::messages`].
    pub response: usize,
    pub usage: Option<Usage>,
    pub model: Option<String>,
    /// The provider's id of the message, and of the request, where recorded.
    pub message_id: Option<String>,
    pub request_id: Option<String>,
    /// Milliseconds since 1970 of the response, where recorded.
    pub time: Option<i64>,
}

impl Call {
    /// Its usage, where that tells what the model read: harnesses write down zeros for calls that failed.
    pub fn billed(&self) -> Option<Usage> {
        self.usage.filter(|usage| usage.request() > 0)
    }
}

/// What a tool_use and its tool_result have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPair {
    pub id: String,
    /// The tool's name; `unknown` where the tool_use is not in the record.
    pub name: String,
    pub used: Option<BlockId>,
    pub answered: Option<BlockId>,
}

/// A compaction that the recorded agent's harness made.
#[derive(Debug, Clone, PartialEq)]
pub struct Compaction {
    /// How many messages had entered when it was made.
    pub at: usize,
    pub edit: RecordedEdit,
    /// `auto`, `manual`, or what the record says.
    pub trigger: Option<String>,
    /// Tokens before and after, as the record says.
    pub tokens_before: Option<u64>,
    pub tokens_after: Option<u64>,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RecordedEdit {
    /// Everything that was in the context became these messages: summary, kept tail, restored attachments. Their blocks are
    /// the conversation's own where they were kept, else blocks that stand in no other message.
    Fold { into: Vec<Message> },
    /// The results of these tool calls were cleared (micro-compaction).
    Clear { pairs: Vec<PairId> },
}

impl RecordedEdit {
    /// Whether the provider alone can read what it put into the context.
    pub fn is_encrypted(&self, conversation: &Conversation) -> bool {
        let mut blocks = self.messages().iter().flat_map(|message| &message.blocks);
        blocks.any(|id| conversation.block(*id).text() == ENCRYPTED_SUMMARY)
    }

    /// The messages it put into the context.
    pub fn messages(&self) -> &[Message] {
        if let RecordedEdit::Fold { into } = self { into } else { &[] }
    }
}

/// For how long a thinking block is sent again after the call that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// Until the next typed user message: what the provider does with Claude Code's sessions.
    Turn,
    /// Always: as a Messages file has it.
    All,
    /// Never.
    None,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// Stable and unique within its transcript: `main`, `agent-a881341`, `17`.
    pub name: String,
    /// Id of the format it was read from.
    pub format: &'static str,
    pub blocks: Vec<Block>,
    /// As if nothing had been compacted (*unrolled*).
    pub messages: Vec<Message>,
    pub calls: Vec<Call>,
    pub pairs: Vec<ToolPair>,
    pub compactions: Vec<Compaction>,
    pub thinking: Thinking,
    /// The largest context window the record names, in tokens.
    pub window: Option<u64>,
    /// System prompt, where the transcript holds it. Part of the overhead, never compacted.
    pub system: Option<String>,
    /// Records of the file that became part of this conversation.
    pub records: usize,
    /// The files it was read from, where they are several.
    pub pieces: Vec<SourceFile>,
}

impl Conversation {
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    pub fn pair(&self, id: PairId) -> &ToolPair {
        &self.pairs[id.index()]
    }

    /// Whether a message holds something a person typed, and so begins a turn.
    pub fn is_typed(&self, message: &Message) -> bool {
        message.blocks.iter().any(|b| self.block(*b).origin == Origin::User)
    }

    /// The messages that entered between the call before `call` and `call` itself (indices into `messages`).
    pub fn entered(&self, call: usize) -> std::ops::Range<usize> {
        let start = call.checked_sub(1).map_or(0, |before| self.calls[before].response + 1);
        start..self.calls[call].response
    }

    /// How many calls have a request: before some first responses nothing is recorded, so nothing can be sent again for them.
    pub fn requests(&self) -> usize {
        self.calls.iter().filter(|call| call.response > 0).count()
    }

    /// When the request of a call was sent, in milliseconds since 1970: when the newest of what entered for it did, else when
    /// it was answered. An answer that took more than ten minutes is that to a request sent again.
    pub fn asked(&self, call: usize) -> Option<i64> {
        let entered = self.messages[self.entered(call)].iter().filter_map(|message| message.time).max();
        let answered = self.calls[call].time;
        let again = answered.map(|answered| answered - LONGEST_ANSWER);
        entered.max(again.filter(|_| entered.is_some())).or(answered)
    }

    /// How many tool_use blocks were sent or answered, recorded compactions unrolled.
    pub fn tool_uses(&self) -> usize {
        self.count(|block| matches!(block.kind, Kind::ToolUse(_)))
    }

    /// How many tool_result blocks the record holds; stand-ins are not among them.
    pub fn tool_results(&self) -> usize {
        self.count(|block| matches!(block.kind, Kind::ToolResult(_)) && block.origin != Origin::Placeholder)
    }

    fn count(&self, wanted: impl Fn(&Block) -> bool) -> usize {
        self.messages.iter().flat_map(|m| &m.blocks).filter(|b| wanted(self.block(**b))).count()
    }
}

/// Milliseconds in a minute: times of records are in milliseconds.
pub const MINUTE: i64 = 60_000;

/// How long a client waits for an answer before it asks again: the default of Anthropic's and OpenAI's SDKs.
const LONGEST_ANSWER: i64 = 10 * MINUTE;

/// No request and no answer has as many tokens: a record that says more cannot make a sum run over.
const MOST_TOKENS: u64 = u32::MAX as u64;

/// What stands for a recorded summary that only the provider can read.
pub const ENCRYPTED_SUMMARY: &str = "[summary, encrypted by the provider]";

/// `{"type": "text", "text": …}`
pub fn text_wire(text: impl Into<String>) -> Value {
    serde_json::json!({"type": "text", "text": text.into()})
}
