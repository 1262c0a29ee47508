//! Building conversations, and the invariants they keep.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    Block, BlockId, Call, Compaction, Conversation, Kind, MOST_TOKENS, Message, Origin, PairId, SourceFile, Thinking, ToolPair,
    Usage, text_wire,
};

/// Builds a conversation message by message. Readers push blocks; kinds, tool pairs and ids follow from the wire form.
#[derive(Debug)]
pub struct Builder {
    conversation: Conversation,
    pair_ids: HashMap<String, PairId>,
    ids_recur: bool,
}

impl Builder {
    pub fn new(name: impl Into<String>, format: &'static str, thinking: Thinking) -> Self {
        let conversation = Conversation {
            name: name.into(),
            format,
            blocks: Vec::new(),
            messages: Vec::new(),
            calls: Vec::new(),
            pairs: Vec::new(),
            compactions: Vec::new(),
            thinking,
            window: None,
            system: None,
            records: 0,
            pieces: Vec::new(),
        };
        Self { conversation, pair_ids: HashMap::new(), ids_recur: false }
    }

    /// Says that an id which was answered may name another call later, as OpenAI's API allows: each use of it is a pair of
    /// its own.
    pub fn ids_may_recur(mut self) -> Self {
        self.ids_recur = true;
        self
    }

    /// What has been built so far.
    pub fn so_far(&self) -> &Conversation {
        &self.conversation
    }

    /// A context window the record names; of several, the largest counts.
    pub fn set_window(&mut self, tokens: u64) {
        self.conversation.window = self.conversation.window.max(Some(tokens));
    }

    pub fn set_system(&mut self, text: impl Into<String>) {
        self.conversation.system = Some(text.into());
    }

    /// Says that lines after `piece.before` are of this file, until the next is named.
    pub fn add_piece(&mut self, piece: SourceFile) {
        self.conversation.pieces.push(piece);
    }

    /// Says that one more record of the file became part of the conversation.
    pub fn add_record(&mut self) {
        self.conversation.records += 1;
    }

    /// Makes a block from its wire form. It belongs to no message until it is pushed into one.
    pub fn block(&mut self, wire: Value, origin: Origin, line: u32) -> BlockId {
        let id = BlockId(u32::try_from(self.conversation.blocks.len()).expect("fewer than 2^32 blocks in one conversation"));
        let kind = self.kind_of(&wire, id);
        self.conversation.blocks.push(Block { kind, origin, line, recorded_tokens: None, wire });
        id
    }

    /// A text block from a string.
    pub fn text(&mut self, text: impl Into<String>, origin: Origin, line: u32) -> BlockId {
        self.block(text_wire(text), origin, line)
    }

    /// Sets the tokens of a block whose text the record lacks, 2^32 at most.
    pub fn set_recorded_tokens(&mut self, block: BlockId, tokens: u64) {
        self.conversation.blocks[block.index()].recorded_tokens = Some(tokens.min(MOST_TOKENS));
    }

    /// Appends a message and gives its index. Messages without blocks are not appended.
    pub fn message(&mut self, message: Message) -> Option<usize> {
        if message.blocks.is_empty() {
            return None;
        }
        self.conversation.messages.push(message);
        Some(self.conversation.messages.len() - 1)
    }

    /// Appends a response and the call that made it; `call.response` is set here. A usage that cannot be is none.
    pub fn response(&mut self, message: Message, call: Call) -> Option<usize> {
        let response = self.message(message)?;
        let usage = call.usage.filter(Usage::is_possible);
        self.conversation.calls.push(Call { response, usage, ..call });
        Some(response)
    }

    pub fn compaction(&mut self, compaction: Compaction) {
        self.conversation.compactions.push(compaction);
    }

    /// The tool call with this id, if a block named it.
    pub fn pair(&self, id: &str) -> Option<PairId> {
        self.pair_ids.get(id).copied()
    }

    pub fn finish(self) -> Conversation {
        self.conversation
    }

    fn kind_of(&mut self, wire: &Value, id: BlockId) -> Kind {
        let field = |key: &str| wire.get(key).and_then(Value::as_str).unwrap_or_default();
        match field("type") {
            "text" => Kind::Text,
            "thinking" | "redacted_thinking" => Kind::Thinking,
            "image" | "document" => Kind::Media,
            "tool_use" => {
                let known = self.pair_ids.get(field("id")).map(|pair| &self.conversation.pairs[pair.index()]);
                if self.ids_recur && known.is_some_and(|pair| pair.answered.is_some()) {
                    self.pair_ids.remove(field("id"));
                }
                let pair = self.intern(field("id"));
                let entry = &mut self.conversation.pairs[pair.index()];
                // Of two calls with one id the first names the pair: a later one must not change what was known before.
                if entry.used.is_none() {
                    entry.name = field("name").to_owned();
                    entry.used = Some(id);
                }
                Kind::ToolUse(pair)
            }
            "tool_result" => {
                let pair = self.intern(field("tool_use_id"));
                self.conversation.pairs[pair.index()].answered.get_or_insert(id);
                Kind::ToolResult(pair)
            }
            _ => Kind::Other,
        }
    }

    fn intern(&mut self, id: &str) -> PairId {
        if let Some(known) = self.pair_ids.get(id) {
            return *known;
        }
        let pair = PairId(u32::try_from(self.conversation.pairs.len()).expect("fewer pairs than blocks"));
        let name = "unknown".to_owned();
        self.conversation.pairs.push(ToolPair { id: id.to_owned(), name, used: None, answered: None });
        self.pair_ids.insert(id.to_owned(), pair);
        pair
    }
}
