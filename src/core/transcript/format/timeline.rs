//! Builds a conversation from records in their order: what lies between two responses is one user message, and each block knows the
//! record that it is of, so that a compaction can name what it kept.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::Note;
use super::batch::{Batch, Stamp};
use super::exit_code;
use super::notes::Notes;
use crate::transcript::conversation::{
    BlockId, BlockKind, Call, Compaction, Conversation, ConversationBuilder, Message, Origin, PairId, RecordedEdit, Role,
    Thinking, text_wire,
};

/// The text in place of a response that is not in the file.
const UNKNOWN: &str = "[the response is not in the log]";

/// A conversation under construction.
pub struct Timeline<'n> {
    pub builder: ConversationBuilder,
    batch: Batch,
    pub notes: &'n mut Notes,
    /// The record that is read, and where it is.
    record: usize,
    at: Stamp,
    /// For each block, its record.
    records: Vec<usize>,
    originals: Originals,
}

/// What a record says about a compaction beside what it did.
#[derive(Debug, Default)]
pub struct Details {
    pub trigger: Option<String>,
    pub tokens_before: Option<u64>,
    pub tokens_after: Option<u64>,
    pub summary_usage: Option<crate::transcript::conversation::Usage>,
}

impl<'n> Timeline<'n> {
    /// Begins a conversation. `placeholder` is the text that the harness sends for a result that is missing.
    pub fn new(name: impl Into<String>, format: &'static str, placeholder: &'static str, notes: &'n mut Notes) -> Self {
        Self {
            builder: ConversationBuilder::new(name, format, Thinking::All).ids_may_recur(),
            batch: Batch::new(placeholder),
            notes,
            record: 0,
            at: Stamp::default(),
            records: Vec::new(),
            originals: Originals::default(),
        }
    }

    /// Begins a record: what is added from here on is of it.
    pub fn begin(&mut self, record: usize, at: Stamp) {
        (self.record, self.at) = (record, at);
        self.builder.add_record();
    }

    /// Adds a message for what is before the file ([`unseen`](super::unseen)).
    pub fn begin_before(&mut self, push: impl FnOnce(&mut ConversationBuilder, u32) -> BlockId) {
        let block = push(&mut self.builder, self.at.line);
        self.builder.set_recorded_tokens(block, 0);
        self.records.resize(block.index() + 1, self.record);
    }

    /// Adds a block to the next user message.
    pub fn user(&mut self, wire: Value, origin: Origin) {
        let block = self.block(wire, origin);
        self.batch.push(block, self.at);
    }

    /// Adds a text that is the whole content of its message to the next user message; nothing, if it is empty.
    pub fn user_text(&mut self, text: &str, origin: Origin) {
        if !text.is_empty() {
            let block = self.block(text_wire(text), origin);
            self.batch.push_plain(block, self.at);
        }
    }

    /// Adds the result of a call. Where the record does not say whether the tool failed, the text of the result does.
    pub fn result(&mut self, id: &str, content: Value, failed: Option<bool>) {
        let failed = failed.unwrap_or_else(|| exit_code::says_failed(&content));
        self.batch.answer_as(failed, id, content, self.at, &mut self.builder, &mut self.notes.lines);
        self.records.resize(self.builder.so_far().blocks.len(), self.record);
    }

    /// Ends the user message before a response, so that a compaction can be added between both.
    pub fn settle(&mut self) {
        let before = self.builder.so_far().blocks.len();
        self.batch.close(true, &mut self.builder, &mut self.notes.lines);
        let so_far = self.builder.so_far();
        // A placeholder is of the record of its call.
        for block in &so_far.blocks[before..] {
            let BlockKind::ToolResult(pair) = block.kind else { continue };
            let call = so_far.pair(pair).tool_use.and_then(|call| self.records.get(call.index()).copied());
            self.records.push(call.unwrap_or(self.record));
        }
    }

    /// Adds a response of these blocks, and its call. One without blocks was sent in no later request: only its bill is kept.
    pub fn response(&mut self, wires: Vec<Value>, call: Call) {
        if wires.is_empty() {
            return self.lost_response("a response without text or calls is in no later request", call);
        }
        self.said(wires, Origin::Agent, Some(call));
    }

    /// Adds a response that another record than the one at hand holds.
    pub fn response_at(&mut self, at: Stamp, wires: Vec<Value>, call: Call) {
        let now = std::mem::replace(&mut self.at, at);
        self.response(wires, call);
        self.at = now;
    }

    /// Adds a call whose response is not in the file: its request is known.
    pub fn unknown_response(&mut self, call: Call) {
        self.said(vec![text_wire(UNKNOWN)], Origin::Placeholder, Some(call));
    }

    fn said(&mut self, wires: Vec<Value>, origin: Origin, call: Option<Call>) {
        self.settle();
        for wire in wires.iter().filter(|wire| wire["type"] == "tool_use") {
            self.batch.expect(wire["id"].as_str().unwrap_or_default(), self.at.line);
        }
        let is_string_content = false;
        let blocks = wires.into_iter().map(|wire| self.block(wire, origin)).collect();
        let message = Message { role: Role::Assistant, is_string_content, blocks, time: self.at.time, line: self.at.line };
        // Without anything before it, it has no request, so it is no call.
        match call.filter(|_| !self.builder.so_far().messages.is_empty()) {
            Some(call) => self.builder.response(message, Call { time: call.time.or(self.at.time), ..call }),
            None => self.builder.message(message),
        };
    }

    /// Adds a response that is no call of this conversation, because another one made it, or no model was asked.
    pub fn earlier_response(&mut self, wires: Vec<Value>) {
        if !wires.is_empty() {
            self.said(wires, Origin::Agent, None);
        }
    }

    /// Notes that a response was not sent again, and keeps what was billed for it.
    pub fn lost_response(&mut self, why: &str, call: Call) {
        self.notes.kind(Note::info(self.at.line, why));
        if call.usage.is_some_and(|usage| usage.request() + usage.output > 0) {
            self.builder.other_branch(Call { time: call.time.or(self.at.time), ..call });
        }
    }

    /// Returns a message of blocks that are only in a compaction. Its summary has [`Origin::Compaction`], fixed words around it have not.
    pub fn new_message(&mut self, role: Role, wires: Vec<Value>, origin: Origin) -> Message {
        let blocks = wires.into_iter().map(|wire| self.block(wire, origin)).collect();
        Message { role, is_string_content: false, blocks, time: self.at.time, line: self.at.line }
    }

    /// Returns the messages so far, with only the blocks of these records.
    pub fn kept(&self, is_kept: impl Fn(usize) -> bool) -> Vec<Message> {
        let of = |message: &Message| {
            let blocks = message.blocks.iter().copied().filter(|block| is_kept(self.records[block.index()])).collect();
            Message { blocks, ..message.clone() }
        };
        self.builder.so_far().messages.iter().map(of).filter(|message| !message.blocks.is_empty()).collect()
    }

    /// Returns the block that a compaction keeps: the newest one so far with this content that is not in `used` yet, or else a new one.
    pub fn original(&mut self, wire: Value, used: &mut HashSet<BlockId>) -> BlockId {
        self.originals.read_on(self.builder.so_far());
        let known = self.originals.blocks.get(&wire.to_string());
        let original = known.and_then(|blocks| blocks.iter().rev().find(|block| !used.contains(block)).copied());
        let block = original.unwrap_or_else(|| self.block(wire, Origin::Compaction));
        used.insert(block);
        block
    }

    /// Adds a compaction that replaced the whole context; [`Timeline::settle`] must come before what it keeps is looked up. Where nothing
    /// is before it, the file continues another session, and its messages are the first ones.
    pub fn fold(&mut self, into: Vec<Message>, details: Details) {
        let into: Vec<Message> = into.into_iter().filter(|message| !message.blocks.is_empty()).collect();
        if into.is_empty() {
            self.notes.kind(Note::info(self.at.line, "a compaction without content was ignored"));
        } else if self.builder.so_far().messages.is_empty() {
            into.into_iter().for_each(|message| _ = self.builder.message(message));
        } else {
            self.edit(RecordedEdit::Fold { into }, details);
        }
    }

    /// Adds a compaction that cleared the results of these calls.
    pub fn clear(&mut self, pairs: Vec<PairId>, details: Details) {
        if !pairs.is_empty() {
            self.edit(RecordedEdit::Clear { pairs }, details);
        }
    }

    fn edit(&mut self, edit: RecordedEdit, details: Details) {
        let Details { trigger, tokens_before, tokens_after, summary_usage } = details;
        let message_index = self.builder.so_far().messages.len();
        let line = self.at.line;
        self.builder.compaction(Compaction { message_index, edit, trigger, tokens_before, tokens_after, summary_usage, line });
    }

    /// Returns the conversation; `None` if nothing was said and nothing billed.
    pub fn finish(mut self) -> Option<Conversation> {
        self.batch.close(false, &mut self.builder, &mut self.notes.lines);
        let conversation = self.builder.finish();
        (!conversation.is_empty()).then_some(conversation)
    }

    fn block(&mut self, wire: Value, origin: Origin) -> BlockId {
        let block = self.builder.block(wire, origin, self.at.line);
        self.records.resize(block.index() + 1, self.record);
        block
    }
}

/// The blocks of the messages so far, by their content.
#[derive(Default)]
struct Originals {
    blocks: HashMap<String, Vec<BlockId>>,
    /// How many messages are in here.
    messages: usize,
}

impl Originals {
    fn read_on(&mut self, so_far: &Conversation) {
        for block in so_far.messages[self.messages..].iter().flat_map(|message| &message.blocks) {
            self.blocks.entry(so_far.block(*block).wire.to_string()).or_default().push(*block);
        }
        self.messages = so_far.messages.len();
    }
}
