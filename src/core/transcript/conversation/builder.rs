//! Builds conversations and ensures their invariants.

use std::collections::HashMap;

use serde_json::Value;

use super::usage::MAX_TOKENS;
use super::{
    Block, BlockId, BlockKind, Call, Compaction, Conversation, Identity, Message, Origin, PairId, SourceFile, Thinking, ToolPair,
    Usage, text_wire,
};

/// Builds a conversation message by message. Readers add blocks; the builder derives kinds and tool pairs from the wire form.
#[derive(Debug)]
pub struct ConversationBuilder {
    conversation: Conversation,
    pair_ids: HashMap<String, PairId>,
    ids_recur: bool,
}

impl ConversationBuilder {
    /// Begins a conversation without messages.
    pub fn new(name: impl Into<String>, format: &'static str, thinking: Thinking) -> Self {
        let conversation = Conversation {
            name: name.into(),
            format,
            identity: Identity::default(),
            blocks: Vec::new(),
            messages: Vec::new(),
            calls: Vec::new(),
            other_branches: Vec::new(),
            pairs: Vec::new(),
            compactions: Vec::new(),
            thinking,
            window: None,
            project: None,
            system: None,
            records: 0,
            source_files: Vec::new(),
        };
        Self { conversation, pair_ids: HashMap::new(), ids_recur: false }
    }

    /// Allows the id of an answered tool call to be used again for another call, as OpenAI's API does. Each use is a separate pair.
    pub fn ids_may_recur(mut self) -> Self {
        self.ids_recur = true;
        self
    }

    /// Returns what has been built so far.
    pub fn so_far(&self) -> &Conversation {
        &self.conversation
    }

    /// Sets the context window. If the record names several, the largest counts.
    pub fn set_window(&mut self, tokens: u64) {
        self.conversation.window = self.conversation.window.max(Some(tokens));
    }

    /// Sets who held the conversation.
    pub fn set_identity(&mut self, identity: Identity) {
        self.conversation.identity = identity;
    }

    /// Sets the working directory of the session. The first one that the record names counts.
    pub fn set_project(&mut self, path: impl Into<String>) {
        self.conversation.project.get_or_insert_with(|| path.into());
    }

    /// Sets how long thinking stays in requests.
    pub fn set_thinking(&mut self, thinking: Thinking) {
        self.conversation.thinking = thinking;
    }

    /// Sets the system prompt.
    pub fn set_system(&mut self, text: impl Into<String>) {
        self.conversation.system = Some(text.into());
    }

    /// Adds a file: lines after `piece.before` belong to it, until the next file is added.
    pub fn add_piece(&mut self, piece: SourceFile) {
        self.conversation.source_files.push(piece);
    }

    /// Counts one more record of the file as part of the conversation.
    pub fn add_record(&mut self) {
        self.conversation.records += 1;
    }

    /// Creates a block from its wire form. It is not part of a message yet.
    pub fn block(&mut self, wire: Value, origin: Origin, line: u32) -> BlockId {
        let id = BlockId(u32::try_from(self.conversation.blocks.len()).expect("fewer than 2^32 blocks in one conversation"));
        let kind = self.kind_of(&wire, id);
        self.conversation.blocks.push(Block { kind, origin, line, recorded_tokens: None, says_failed: false, wire });
        id
    }

    /// Creates a text block. It is not part of a message yet.
    pub fn text(&mut self, text: impl Into<String>, origin: Origin, line: u32) -> BlockId {
        self.block(text_wire(text), origin, line)
    }

    /// Sets the tokens of a block whose text is not in the record; at most 2³² − 1.
    pub fn set_recorded_tokens(&mut self, block: BlockId, tokens: u64) {
        self.conversation.blocks[block.index()].recorded_tokens = Some(tokens.min(MAX_TOKENS));
    }

    /// Marks a tool_result as an error, because its text says so.
    pub fn set_says_failed(&mut self, block: BlockId) {
        self.conversation.blocks[block.index()].says_failed = true;
    }

    /// Appends a message and returns its index. Does not append a message without blocks.
    pub fn message(&mut self, message: Message) -> Option<usize> {
        if message.blocks.is_empty() {
            return None;
        }
        self.conversation.messages.push(message);
        Some(self.conversation.messages.len() - 1)
    }

    /// Appends a response and its call, and sets `call.response`. Numbers of its usage are at most 2³² − 1 then.
    pub fn response(&mut self, message: Message, call: Call) -> Option<usize> {
        let response = self.message(message)?;
        self.conversation.calls.push(Call { response, ..capped(call) });
        Some(response)
    }

    /// Adds a call of a branch that is not read. Its place in the messages has no meaning.
    pub fn other_branch(&mut self, call: Call) {
        self.conversation.other_branches.push(capped(call));
    }

    /// Adds a compaction of the record.
    pub fn compaction(&mut self, compaction: Compaction) {
        self.conversation.compactions.push(compaction);
    }

    /// Returns the tool call with this id, if a block has it.
    pub fn pair(&self, id: &str) -> Option<PairId> {
        self.pair_ids.get(id).copied()
    }

    /// Returns the conversation, with calls paired to their results.
    pub fn finish(self) -> Conversation {
        self.conversation
    }

    fn kind_of(&mut self, wire: &Value, id: BlockId) -> BlockKind {
        let field = |key: &str| wire.get(key).and_then(Value::as_str).unwrap_or_default();
        match field("type") {
            "text" => BlockKind::Text,
            "thinking" | "redacted_thinking" => BlockKind::Thinking,
            "image" | "document" => BlockKind::Media,
            "tool_use" => {
                let existing = self.pair_ids.get(field("id")).map(|pair| &self.conversation.pairs[pair.index()]);
                if self.ids_recur && existing.is_some_and(|pair| pair.tool_result.is_some()) {
                    self.pair_ids.remove(field("id"));
                }
                let pair_id = self.intern(field("id"));
                let pair = &mut self.conversation.pairs[pair_id.index()];
                // If two calls have the same id, the first one counts: a later call must not change what layers saw before.
                if pair.tool_use.is_none() {
                    pair.name = field("name").to_owned();
                    pair.tool_use = Some(id);
                }
                BlockKind::ToolUse(pair_id)
            }
            "tool_result" => {
                let pair = self.intern(field("tool_use_id"));
                self.conversation.pairs[pair.index()].tool_result.get_or_insert(id);
                BlockKind::ToolResult(pair)
            }
            _ => BlockKind::Other,
        }
    }

    /// Returns the pair with this id; creates it if it is new.
    fn intern(&mut self, id: &str) -> PairId {
        if let Some(existing) = self.pair_ids.get(id) {
            return *existing;
        }
        let pair = PairId(u32::try_from(self.conversation.pairs.len()).expect("fewer pairs than blocks"));
        let name = "unknown".to_owned();
        self.conversation.pairs.push(ToolPair { id: id.to_owned(), name, tool_use: None, tool_result: None });
        self.pair_ids.insert(id.to_owned(), pair);
        pair
    }
}

/// Returns a call whose usages can be added up.
fn capped(mut call: Call) -> Call {
    call.usage = call.usage.map(Usage::capped);
    call.other_iterations.iter_mut().for_each(|other| other.usage = other.usage.capped());
    call
}
