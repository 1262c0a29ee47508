//! Builds a conversation from messages of the chat API.

use std::collections::{HashSet, VecDeque};

use serde_json::{Value, json};

use super::super::Note;
use super::super::batch::{Batch, Stamp};
use super::message::{self, ChatMessage};
use crate::transcript::conversation::{Call, Conversation, ConversationBuilder, Message, Origin, Role, Thinking};

/// Placeholder for a result that is missing in the record.
const NO_RESULT: &str = "[no result recorded]";

/// A conversation under construction.
pub struct Dialogue {
    builder: ConversationBuilder,
    batch: Batch,
    /// Ids of the calls of the last response, for results without a call id.
    unnamed: VecDeque<String>,
    /// Ids of all calls.
    ids: HashSet<String>,
    /// Number of generated ids, for calls without one.
    generated_ids: usize,
    /// Number of calls with the id of an earlier call.
    reused: usize,
    /// Line of the first such call.
    first_reused: u32,
}

impl Dialogue {
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            builder: ConversationBuilder::new(name, super::NAME, Thinking::All).ids_may_recur(),
            batch: Batch::new(NO_RESULT),
            unnamed: VecDeque::new(),
            ids: HashSet::new(),
            generated_ids: 0,
            reused: 0,
            first_reused: 0,
        }
    }

    pub fn read(&mut self, value: Value, line: u32, notes: &mut Vec<Note>) {
        let message: ChatMessage = match serde_json::from_value(value) {
            Ok(message) => message,
            Err(error) => {
                notes.push(Note::skipped(line, format!("not a chat message ({error}); it was skipped")));
                return;
            }
        };
        let at = Stamp { line, time: None };
        match message.role.as_str() {
            "system" | "developer" => self.read_system(message.content, at, notes),
            "user" => self.read_user(message.content, Origin::User, at, notes),
            "assistant" => self.read_assistant(message, at, notes),
            "tool" | "function" => self.read_result(message, at, notes),
            other => {
                notes.push(Note::skipped(line, format!("the chat API has no role `{other}`; the message was skipped")));
                return;
            }
        }
        self.builder.add_record();
    }

    fn read_system(&mut self, content: Value, at: Stamp, notes: &mut Vec<Note>) {
        if self.builder.so_far().records > 0 {
            return self.read_user(content, Origin::Injected, at, notes);
        }
        let (blocks, _) = message::blocks(content);
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
        self.builder.set_system(texts.join("\n"));
    }

    fn read_user(&mut self, content: Value, origin: Origin, at: Stamp, notes: &mut Vec<Note>) {
        let is_string_content = content.is_string();
        for wire in readable_blocks(content, at, notes) {
            let block = self.builder.block(wire, origin, at.line);
            if is_string_content {
                self.batch.push_plain(block, at);
            } else {
                self.batch.push(block, at);
            }
        }
    }

    fn read_assistant(&mut self, message: ChatMessage, at: Stamp, notes: &mut Vec<Note>) {
        self.batch.close(true, &mut self.builder, notes);
        self.unnamed.clear();
        let is_string = message.content.is_string();
        let mut wires = Vec::new();
        let reasoning = message.reasoning_content.filter(|text| !text.is_empty());
        wires.extend(reasoning.map(|text| json!({"type": "thinking", "thinking": text})));
        wires.extend(readable_blocks(message.content, at, notes));
        let calls = message.tool_calls.into_iter().flatten().map(|call| (call.id, call.function));
        for (id, function) in calls.chain(message.function_call.map(|function| (None, function))) {
            let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| self.generate_id());
            wires.push(function.tool_use(&id));
            self.register_call(id, at.line);
        }
        let is_string_content = is_string && matches!(wires.as_slice(), [only] if only["type"] == "text");
        let blocks: Vec<_> = wires.into_iter().map(|wire| self.builder.block(wire, Origin::Agent, at.line)).collect();
        if blocks.is_empty() {
            notes.push(Note::info(at.line, "an assistant message without text or calls was left out"));
            return;
        }
        let call = Call { usage: message::usage(message.usage), model: message.model, ..Call::default() };
        let message = Message { role: Role::Assistant, is_string_content, blocks, time: at.time, line: at.line };
        self.builder.response(message, call);
    }

    fn register_call(&mut self, id: String, line: u32) {
        self.batch.expect(&id, line);
        if !self.ids.insert(id.clone()) {
            self.reused += 1;
            if self.reused == 1 {
                self.first_reused = line;
            }
        }
        self.unnamed.push_back(id);
    }

    fn generate_id(&mut self) -> String {
        self.generated_ids += 1;
        format!("call_{}", self.generated_ids)
    }

    fn read_result(&mut self, message: ChatMessage, at: Stamp, notes: &mut Vec<Note>) {
        let content = message::result_content(message.content);
        // If one message is the result of several calls, the first call gets its content.
        let named = message.tool_call_id.or_else(|| message.tool_call_ids.and_then(|ids| ids.into_iter().next()));
        let id = named.or_else(|| self.unnamed.pop_front()).unwrap_or_default();
        self.batch.answer(&id, content, at, &mut self.builder, notes);
    }

    /// Returns the conversation; `None` if it has no messages.
    pub fn finish(mut self, notes: &mut Vec<Note>) -> Option<Conversation> {
        self.batch.close(false, &mut self.builder, notes);
        if self.reused > 0 {
            let text = format!(
                "{}: from here on, {} call(s) have the id of an earlier call; their results are paired by order",
                self.builder.so_far().name,
                self.reused
            );
            notes.push(Note::info(self.first_reused, text));
        }
        let conversation = self.builder.finish();
        (!conversation.messages.is_empty()).then_some(conversation)
    }
}

/// Returns the blocks of a content, and adds a note about parts that were left out.
fn readable_blocks(content: Value, at: Stamp, notes: &mut Vec<Note>) -> Vec<Value> {
    let (blocks, left_out) = message::blocks(content);
    if left_out > 0 {
        let text = format!("{left_out} part(s) of this message are neither text nor image; they were left out");
        notes.push(Note::info(at.line, text));
    }
    blocks
}
