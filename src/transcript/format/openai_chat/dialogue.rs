//! Messages of the chat API, one after the other → a conversation.

use std::collections::{HashSet, VecDeque};

use serde_json::{Value, json};

use super::super::Note;
use super::super::batch::{Batch, Stamp};
use super::message::{self, ChatMessage};
use crate::transcript::conversation::{Builder, Call, Conversation, Message, Origin, Role, Thinking};

/// Stands for a result that the record lacks.
const NO_RESULT: &str = "[no result recorded]";

pub struct Dialogue {
    builder: Builder,
    batch: Batch,
    /// Ids of the calls of the last response, for results that name no call.
    unnamed: VecDeque<String>,
    ids: HashSet<String>,
    made_up: usize,
    reused: usize,
    first_reused: u32,
}

impl Dialogue {
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            builder: Builder::new(name, super::NAME, Thinking::All).ids_may_recur(),
            batch: Batch::new(NO_RESULT),
            unnamed: VecDeque::new(),
            ids: HashSet::new(),
            made_up: 0,
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
            "system" | "developer" => self.instructed(message.content, at, notes),
            "user" => self.heard(message.content, Origin::User, at, notes),
            "assistant" => self.said(message, at, notes),
            "tool" | "function" => self.answered(message, at, notes),
            other => {
                notes.push(Note::skipped(line, format!("a message of role `{other}` is none of the chat API; it was skipped")));
                return;
            }
        }
        self.builder.add_record();
    }

    fn instructed(&mut self, content: Value, at: Stamp, notes: &mut Vec<Note>) {
        if self.builder.so_far().records > 0 {
            return self.heard(content, Origin::Injected, at, notes);
        }
        let (blocks, _) = message::blocks(content);
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
        self.builder.set_system(texts.join("\n"));
    }

    fn heard(&mut self, content: Value, origin: Origin, at: Stamp, notes: &mut Vec<Note>) {
        let plain = content.is_string();
        for wire in readable(content, at, notes) {
            let block = self.builder.block(wire, origin, at.line);
            if plain {
                self.batch.push_plain(block, at);
            } else {
                self.batch.push(block, at);
            }
        }
    }

    fn said(&mut self, message: ChatMessage, at: Stamp, notes: &mut Vec<Note>) {
        self.batch.close(true, &mut self.builder, notes);
        self.unnamed.clear();
        let bare = message.content.is_string();
        let mut wires = Vec::new();
        let thought = message.reasoning_content.filter(|text| !text.is_empty());
        wires.extend(thought.map(|text| json!({"type": "thinking", "thinking": text})));
        wires.extend(readable(message.content, at, notes));
        let calls = message.tool_calls.into_iter().flatten().map(|call| (call.id, call.function));
        for (id, function) in calls.chain(message.function_call.map(|function| (None, function))) {
            let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| self.make_up_id());
            wires.push(function.tool_use(&id));
            self.called(id, at.line);
        }
        let plain = bare && matches!(wires.as_slice(), [only] if only["type"] == "text");
        let blocks: Vec<_> = wires.into_iter().map(|wire| self.builder.block(wire, Origin::Agent, at.line)).collect();
        if blocks.is_empty() {
            notes.push(Note::info(at.line, "an assistant message without text and calls was left out"));
            return;
        }
        let call = Call { usage: message::usage(message.usage), model: message.model, ..Call::default() };
        let message = Message { role: Role::Assistant, plain, blocks, time: at.time, line: at.line };
        self.builder.response(message, call);
    }

    fn called(&mut self, id: String, line: u32) {
        self.batch.expect(&id, line);
        if !self.ids.insert(id.clone()) {
            self.reused += 1;
            if self.reused == 1 {
                self.first_reused = line;
            }
        }
        self.unnamed.push_back(id);
    }

    fn make_up_id(&mut self) -> String {
        self.made_up += 1;
        format!("call_{}", self.made_up)
    }

    fn answered(&mut self, message: ChatMessage, at: Stamp, notes: &mut Vec<Note>) {
        let content = message::result_content(message.content);
        // A message that answers several calls has its content once: the first call gets it.
        let named = message.tool_call_id.or_else(|| message.tool_call_ids.and_then(|ids| ids.into_iter().next()));
        let id = named.or_else(|| self.unnamed.pop_front()).unwrap_or_default();
        self.batch.answer(&id, content, at, &mut self.builder, notes);
    }

    /// The conversation, if there is any.
    pub fn finish(mut self, notes: &mut Vec<Note>) -> Option<Conversation> {
        self.batch.close(false, &mut self.builder, notes);
        if self.reused > 0 {
            let what = format!(
                "{}: {} call(s), from here on, have the id of an earlier call; their results are paired by order",
                self.builder.so_far().name,
                self.reused
            );
            notes.push(Note::info(self.first_reused, what));
        }
        let conversation = self.builder.finish();
        (!conversation.messages.is_empty()).then_some(conversation)
    }
}

/// The blocks of a content, with a note about parts of it that are none.
fn readable(content: Value, at: Stamp, notes: &mut Vec<Note>) -> Vec<Value> {
    let (blocks, left_out) = message::blocks(content);
    if left_out > 0 {
        let what = format!("{left_out} part(s) of this message are neither text nor image; they were left out");
        notes.push(Note::info(at.line, what));
    }
    blocks
}
