//! Builds a conversation from messages of the chat API.

use std::collections::{HashSet, VecDeque};

use serde_json::{Value, json};

use super::super::batch::{Batch, Stamp};
use super::super::notes::Notes;
use super::super::{Note, exit_code, wire_usage};
use super::message::ChatMessage;
use super::{Recorded, text_calls};
use crate::transcript::conversation::{Call, Conversation, ConversationBuilder, Message, Origin, Role, Thinking, text_wire};
use crate::transcript::openai_form::{self, ORDER};

/// Placeholder for a result that is missing in the record.
const NO_RESULT: &str = "[no result recorded]";

/// Anthropic's field for errors.
const IS_ERROR: &str = "is_error";

/// Role of mini-swe-agent's last record: how the run ended. It was never sent.
const EXIT: &str = "exit";

/// A conversation under construction.
pub struct Dialogue {
    builder: ConversationBuilder,
    batch: Batch,
    /// Whether calls and results are texts ([`text_calls`]).
    are_calls_texts: bool,
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
    pub fn new(name: impl Into<String>, format: &'static str, are_calls_texts: bool) -> Self {
        Self {
            builder: ConversationBuilder::new(name, format, Thinking::All).ids_may_recur(),
            batch: Batch::new(NO_RESULT),
            are_calls_texts,
            unnamed: VecDeque::new(),
            ids: HashSet::new(),
            generated_ids: 0,
            reused: 0,
            first_reused: 0,
        }
    }

    pub fn read(&mut self, recorded: Recorded, notes: &mut Notes) {
        let Recorded { line, value } = recorded;
        let message = match ChatMessage::new(value, line) {
            Ok(message) => message,
            Err(why) => return notes.kind(Note::skipped(line, why)),
        };
        let at = Stamp { line, time: None };
        match message.role.as_str() {
            "system" | "developer" => self.read_system(message, at, notes),
            "user" if self.are_calls_texts && !self.builder.so_far().calls.is_empty() => {
                self.read_observation(message, at, notes)
            }
            "user" => self.read_user(message, Origin::User, at, notes),
            "assistant" => self.read_assistant(message, at, notes),
            "tool" | "function" => self.read_result(message, at, notes),
            EXIT if self.are_calls_texts => {}
            other => {
                let other = crate::util::text::head(other, 40);
                let what = format!("the chat API has no role `{other}`; the message was skipped");
                return notes.kind(Note::skipped(line, what));
            }
        }
        self.builder.add_record();
    }

    /// Ends the user message before a response, and returns the builder, for an edit of the context there.
    pub fn settle(&mut self, notes: &mut Notes) -> &mut ConversationBuilder {
        self.batch.close(true, &mut self.builder, &mut notes.lines);
        &mut self.builder
    }

    fn read_system(&mut self, mut message: ChatMessage, at: Stamp, notes: &mut Notes) {
        if self.builder.so_far().records > 0 {
            return self.read_user(message, Origin::Injected, at, notes);
        }
        let blocks = message.blocks(notes);
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
        self.builder.set_system(texts.join("\n"));
    }

    fn read_user(&mut self, mut message: ChatMessage, origin: Origin, at: Stamp, notes: &mut Notes) {
        let is_string_content = message.is_string();
        if message.is_null() {
            return notes.kind(Note::info(at.line, "a message of the user has no content; it was left out"));
        }
        for wire in message.blocks(notes) {
            let block = self.builder.block(wire, origin, at.line);
            if is_string_content {
                self.batch.push_plain(block, at);
            } else {
                self.batch.push(block, at);
            }
        }
    }

    /// Reads a user message after a response whose calls are text: the result of the call, or words of the harness.
    fn read_observation(&mut self, message: ChatMessage, at: Stamp, notes: &mut Notes) {
        let text = message.text();
        match (text, self.unnamed.pop_front()) {
            (Some(text), Some(id)) => self.batch.answer(&id, json!(text), at, &mut self.builder, &mut notes.lines),
            (Some(text), None) if text_calls::is_typed(&text) => self.read_user(message, Origin::User, at, notes),
            _ => self.read_user(message, Origin::Injected, at, notes),
        }
    }

    fn read_assistant(&mut self, mut message: ChatMessage, at: Stamp, notes: &mut Notes) {
        self.batch.close(true, &mut self.builder, &mut notes.lines);
        self.unnamed.clear();
        let is_string = message.is_string();
        let text = message.text().filter(|_| self.are_calls_texts).unwrap_or_default();
        let mut wires = message.response_blocks(notes);
        if let Some(action) = text_calls::action(&text) {
            wires.retain(|wire| wire["type"] != "text");
            wires.extend([action.before, action.after].into_iter().filter(|text| !text.is_empty()).map(text_wire));
            let id = self.generate_id();
            wires.push(json!({"type": "tool_use", "id": id, "name": text_calls::TOOL, "input": {"command": action.command}}));
            self.register_call(id, at.line);
        }
        for call in message.calls(notes) {
            let id = call.id.clone().unwrap_or_else(|| self.generate_id());
            wires.push(call.tool_use(&id));
            self.register_call(id, at.line);
        }
        let wires = in_recorded_order(wires, &message.field(ORDER));
        let is_string_content = is_string && matches!(wires.as_slice(), [only] if only["type"] == "text");
        let blocks: Vec<_> = wires.into_iter().map(|wire| self.builder.block(wire, Origin::Agent, at.line)).collect();
        if blocks.is_empty() {
            notes.kind(Note::info(at.line, "an assistant message without text or calls was left out"));
            return;
        }
        let call = recorded_call(&mut message, at.line, notes);
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

    fn read_result(&mut self, mut message: ChatMessage, at: Stamp, notes: &mut Notes) {
        let content = message.result_content(notes);
        let id = message.answered(notes).or_else(|| self.unnamed.pop_front()).unwrap_or_default();
        // The chat API has no field for errors, but gateways and `recompact convert` keep Anthropic's. One that is null says that the
        // text is no sign either.
        let failed = !message.has(IS_ERROR) && exit_code::says_failed(&content);
        let mut wire = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        if let Value::Bool(is_error) = message.field(IS_ERROR) {
            wire[IS_ERROR] = is_error.into();
        }
        self.batch.answer_block(failed, &id, wire, at, &mut self.builder, &mut notes.lines);
    }

    /// Returns the conversation; `None` if it has no messages.
    pub fn finish(mut self, notes: &mut Notes) -> Option<Conversation> {
        self.batch.close(false, &mut self.builder, &mut notes.lines);
        if self.reused > 0 {
            let text = format!(
                "{}: from here on, {} call(s) have the id of an earlier call; their results are paired by order",
                self.builder.so_far().name,
                self.reused
            );
            notes.lines.push(Note::info(self.first_reused, text));
        }
        let conversation = self.builder.finish();
        (!conversation.messages.is_empty()).then_some(conversation)
    }
}

/// Returns the blocks of a response in the order that its message states. Without one, or with one that is not of these blocks, it is the
/// usual order.
fn in_recorded_order(wires: Vec<Value>, order: &Value) -> Vec<Value> {
    let Some(order) = order.as_array() else { return wires };
    let mut fields = [Vec::new(), Vec::new(), Vec::new()];
    for wire in &wires {
        let field = match wire["type"].as_str() {
            Some("thinking" | "redacted_thinking") => 0,
            Some("tool_use") => 2,
            _ => 1,
        };
        fields[field].push(wire.clone());
    }
    openai_form::in_order(fields, order).unwrap_or(wires)
}

/// Returns what is recorded of a call: in the message itself, or in the response that mini-swe-agent keeps in it.
fn recorded_call(message: &mut ChatMessage, line: u32, notes: &mut Notes) -> Call {
    let kept = message.field("extra").get("response").cloned().unwrap_or_default();
    let text = |key: &str| kept.get(key).and_then(Value::as_str).map(str::to_owned);
    let own = message.field("usage");
    let usage = if own.is_null() { kept.get("usage").cloned().unwrap_or_default() } else { own };
    let model = message.text_field("model", notes).or(text("model"));
    Call { usage: wire_usage::usage(&usage, line, notes), model, message_id: text("id"), ..Call::default() }
}
