//! Reads the items of the history into responses of the model and messages to it.

use serde_json::Value;

use super::super::super::Note;
use super::super::super::batch::Stamp;
use super::super::item::{FoundTools, Item, ItemMessage};
use super::super::response::Response;
use super::super::wire;
use super::Rollout;
use crate::transcript::conversation::{BlockId, Origin};

impl Rollout<'_> {
    pub(super) fn item(&mut self, item: Item, at: Stamp) {
        self.builder.add_record();
        match item {
            Item::Message(message) if message.role == "assistant" => {
                for wire in self.readable_parts(message, at) {
                    self.push_model_block(wire, at);
                }
            }
            Item::Message(message) => self.push_message(message, at),
            Item::AgentMessage(message) => self.push_message(ItemMessage { role: "agent".into(), ..message }, at),
            Item::Reasoning(reasoning) => {
                let encrypted = reasoning.content.is_empty();
                let block = self.push_model_block(wire::thinking(reasoning), at);
                if encrypted && let Some(response) = &mut self.response {
                    response.reasoning.push(block);
                }
            }
            Item::FunctionCall(call) => self.push_call(wire::function_call(call), at),
            Item::CustomCall(call) => self.push_call(wire::custom_call(call), at),
            Item::LocalShell(call) => match wire::local_shell(call) {
                Some(wire) => self.push_call(wire, at),
                None => self.notes.push(Note::skipped(at.line, "a local_shell_call without an id was skipped")),
            },
            Item::WebSearch(search) => {
                self.push_model_block(wire::web_search(search), at);
            }
            Item::Output(output) => {
                let failed = wire::says_failed(&output.output);
                self.answer(failed, &output.call_id, wire::result_content(output.output), at);
            }
            Item::ToolSearch(search) if search.call_id.is_some() => self.push_call(wire::tool_search(search), at),
            Item::ToolSearch(search) => _ = self.push_model_block(wire::tool_search(search), at),
            Item::FoundTools(FoundTools { call_id: Some(id), tools }) => self.answer(false, &id, Value::String(tools), at),
            Item::FoundTools(found) => _ = self.push_model_block(wire::found_tools(found.tools), at),
            Item::Compaction => self.count_unknown("response_item/compaction", at),
            Item::Unknown(kind) => self.count_unknown(&format!("response_item/{kind}"), at),
        }
    }

    /// Adds a block of the model. It belongs to the current response, unless that has ended.
    fn push_model_block(&mut self, wire: Value, at: Stamp) -> BlockId {
        if self.response.as_ref().is_none_or(|response| response.ended) {
            self.close_response();
            self.batch.close(true, &mut self.builder, self.notes);
        }
        let block = self.builder.block(wire, Origin::Agent, at.line);
        let (usage, model) = (&mut self.next_usage, &self.model);
        let response = self.response.get_or_insert_with(|| Response::new(at, usage.take(), model.clone()));
        response.blocks.push(block);
        block
    }

    fn answer(&mut self, failed: bool, id: &str, content: Value, at: Stamp) {
        self.batch.answer_as(failed, id, content, at, &mut self.builder, self.notes);
        // Without usage, only the order of items separates responses.
        if !self.usage.is_recorded {
            self.end_response();
        }
    }

    fn push_call(&mut self, wire: Value, at: Stamp) {
        let id = wire.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.push_model_block(wire, at);
        self.batch.expect(&id, at.line);
    }

    /// Adds a message to the model.
    fn push_message(&mut self, message: ItemMessage, at: Stamp) {
        let role = message.role.clone();
        for wire in self.readable_parts(message, at) {
            let key = wire.to_string();
            let origin = wire::origin(&role, &wire);
            let block = self.builder.block(wire, origin, at.line);
            self.history.add(key, block);
            self.batch.push(block, at);
        }
        self.end_response();
    }

    fn readable_parts(&mut self, message: ItemMessage, at: Stamp) -> Vec<Value> {
        let parts = message.content.len();
        let wires: Vec<Value> = message.content.into_iter().filter_map(wire::part).collect();
        if wires.len() < parts {
            let text = format!("{} part(s) of this message have no readable content; they were left out", parts - wires.len());
            self.notes.push(Note::info(at.line, text));
        }
        wires
    }
}
